//go:build unix

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// chaosWhole runs the whole table of "make chaos"; a few of its rows are in "make other-half".
var chaosWhole = flag.Bool("chaos", false, "every fault at every stage of a task")

// chaosOnly leaves out the faults whose names it does not match.
var chaosOnly = flag.String("chaos.only", "", "only the faults whose names match this `pattern`")

// isChosen reports whether a fault is to be tried.
func isChosen(name string) bool {
	found, err := regexp.MatchString(*chaosOnly, name)
	return found || err != nil
}

// chaos breaks things under a running clank and counts what comes of it.
type chaos struct {
	t             *testing.T
	home          string
	environ       []string
	site, model   *httptest.Server
	reached, gate chan struct{} // of the row: a stage is reached; it may go on
	server        *runningProgram

	rows, told, lost int
	recovered        []time.Duration
}

const chaosAnswer = "ferry at 10:40"

// newChaos starts a clank, a site and a model server whose requests are held as each row says.
func newChaos(t *testing.T) *chaos {
	t.Helper()
	c := &chaos{t: t}
	c.home, c.environ = newTestHome(t)
	c.hold()
	c.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/held":
			c.await(r)
		case "/half":
			_, _ = io.WriteString(w, "<h1>"+chaosAnswer+"</h1>")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/press":
			_, _ = io.WriteString(w, `<button onclick="const r=new XMLHttpRequest();r.open('GET','/held',false);r.send()">Wait</button>`)
		case "/broken":
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "<h1>"+chaosAnswer+"</h1>")
	}))
	c.model = httptest.NewServer(http.HandlerFunc(c.modelAnswers))
	t.Cleanup(c.site.Close)
	t.Cleanup(c.model.Close)
	t.Cleanup(func() { c.release() })
	c.config(keyServer, c.model.URL+"/v1")
	c.server = startServer(t, c.home, c.environ)
	return c
}

// hold has the next row's requests wait.
func (c *chaos) hold() { c.reached, c.gate = make(chan struct{}, 10), make(chan struct{}) }

// release lets them go on.
func (c *chaos) release() {
	select {
	case <-c.gate:
	default:
		close(c.gate)
	}
}

// await holds a request until the row goes on or nobody waits for it.
func (c *chaos) await(r *http.Request) {
	reached, gate := c.reached, c.gate
	select {
	case reached <- struct{}{}:
	default:
	}
	select {
	case <-gate:
	case <-r.Context().Done():
	}
}

// modelAnswers speaks the Chat Completions API, well or not, as the model's name says.
func (c *chaos) modelAnswers(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	name := regexp.MustCompile(`"model":"([^"]*)"`).FindSubmatch(body)
	if name == nil { // what models there are
		http.NotFound(w, r)
		return
	}
	say := func(text string) {
		fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", text)
		w.(http.Flusher).Flush()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	switch kind := string(name[1]); kind {
	case "held":
		c.await(r)
	case "streaming":
		say("The ")
		c.await(r)
	case "cut":
		say("The ")
		panic(http.ErrAbortHandler)
	case "garbage":
		say("The ")
		_, _ = io.WriteString(w, "data: {\x00]\n\n")
		return
	case "page":
		w.Header().Set("Content-Type", "text/html")
	case "endless":
		for r.Context().Err() == nil {
			say(strings.Repeat("and so on ", 10000))
		}
		return
	case "silent":
		<-r.Context().Done()
		return
	default:
		if status, err := strconv.Atoi(kind); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"message":"no more today"}}`)
			return
		}
	}
	say(chaosAnswer)
	_, _ = io.WriteString(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func (c *chaos) config(key, value string) {
	c.t.Helper()
	if code, _, told := runInProcess(c.t, c.environ, "config", "set", key, value); code != exitDone {
		c.t.Fatalf("config set %s: %s", key, told)
	}
}

// chaosStage is where a task is when something breaks.
type chaosStage struct {
	name, model, prompt string
	prepare             func()
}

func (c *chaos) stages() []chaosStage {
	open := "open " + c.site.URL
	return []chaosStage{
		{name: "starting", prompt: open + "/held, read", prepare: func() { runInProcess(c.t, c.environ, "browser", "stop") }},
		{name: "model call", model: "compatible:held", prompt: "when does it go?"},
		{name: "action", prompt: open + "/press, click \"Wait\", open " + c.site.URL + "/, read"},
		{name: "navigation", prompt: open + "/held, read"},
		{name: "answer", model: "compatible:streaming", prompt: "when does it go?"},
	}
}

// chaosFault is what breaks: do breaks it, lift, where it is set, mends it after a second. names is what tells it to people.
type chaosFault struct {
	name     string
	do, lift func()
	names    string
}

// victims are processes of the home's browser by what their arguments say; "" is the browser itself.
func (c *chaos) victims(kind string) (found []process) {
	for _, p := range processesOf(c.t, c.home) {
		if kind != "" && strings.Contains(p.args, kind) || kind == "" && !strings.Contains(p.args, "--type=") && strings.Contains(p.args, "--user-data-dir=") {
			found = append(found, p)
		}
	}
	return found
}

// signal sends a signal to those that there are, once there are some.
func (c *chaos) signal(kind string, sig syscall.Signal) {
	browsertest.Eventually(c.t, "a process "+kind, func() bool { return len(c.victims(kind)) > 0 })
	for _, p := range c.victims(kind) {
		_ = syscall.Kill(p.pid, sig)
	}
}

func (c *chaos) processFaults() []chaosFault {
	const gone = "ended|crashed|reopened|started again|is gone|answer|connection|not ready|ERR_"
	var all []chaosFault
	for name, kind := range map[string]string{"browser": "", "renderers": "--type=renderer", "GPU process": "--type=gpu-process", "network process": "network.mojom"} {
		all = append(all, chaosFault{name: "kill -9 " + name, do: func() { c.signal(kind, syscall.SIGKILL) }, names: gone})
		stop := chaosFault{name: "hang " + name, do: func() { c.signal(kind, syscall.SIGSTOP) }, names: gone}
		if kind != "" {
			stop.lift = func() { c.signal(kind, syscall.SIGCONT) }
		}
		if kind != "--type=gpu-process" {
			all = append(all, stop)
		}
	}
	all = append(all, chaosFault{name: "kill -9 clank", names: gone, do: func() {
		check.Must(c.t, c.server.cmd.Process.Kill())
		<-c.server.done
		c.server = startServer(c.t, c.home, c.environ)
	}}, chaosFault{
		name: "hang clank", names: gone, do: func() { _ = c.server.cmd.Process.Signal(syscall.SIGSTOP) },
		lift: func() { _ = c.server.cmd.Process.Signal(syscall.SIGCONT) },
	})
	slices.SortFunc(all, func(a, b chaosFault) int { return strings.Compare(a.name, b.name) })
	return all
}

// run does one row: a task comes to a stage, something breaks, and then all must be well again.
func (c *chaos) run(f chaosFault, s chaosStage) {
	c.t.Helper()
	c.hold()
	if s.prepare != nil {
		s.prepare()
	}
	args := []string{"browse", s.prompt}
	if s.model != "" {
		args = append(args, "--model", s.model)
	}
	busy := startProgram(c.t, c.home, c.environ, args...)
	if s.name == "starting" {
		browsertest.Eventually(c.t, "a browser", func() bool { return len(c.victims("")) > 0 })
	} else {
		select {
		case <-c.reached:
		case <-busy.done:
			c.t.Errorf("%s, %s: the task ended before: %s", f.name, s.name, busy.stderr.text())
		case <-time.After(patience):
			c.t.Fatalf("%s, %s: the stage is not reached", f.name, s.name)
		}
	}
	f.do()
	since := time.Now()
	if f.lift != nil {
		<-time.After(time.Second) // as long as the fault lasts
		f.lift()
		since = time.Now()
	}
	c.release()
	c.recover(f.name+", "+s.name, since)
	code := busy.exitCode(c.t)
	c.judge(f, s.name, code, busy.stdout.text()+busy.stderr.text())
}

var chaosSession = regexp.MustCompile(`session ([a-z0-9]{6})\b`)

// recover asks for tasks until one is done, and notes how long after the fault that is.
func (c *chaos) recover(row string, since time.Time) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		code, out, said := runInProcess(c.t, c.environ, "browse", "open "+c.site.URL+"/, read")
		if code == exitDone && strings.Contains(out, chaosAnswer) {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: no task is done any more: %s", row, said)
		}
	}
	took := time.Since(since)
	c.recovered = append(c.recovered, took)
	c.t.Logf("%-45s recovered after %5d ms", row, took.Milliseconds())
}

// judge counts what came of a row: what the person was told, and whether the session is kept.
func (c *chaos) judge(f chaosFault, stage string, code int, said string) {
	c.t.Helper()
	c.rows++
	told := code == exitDone && strings.Contains(said, chaosAnswer) || code != exitDone && regexp.MustCompile(f.names).MatchString(said)
	if told {
		c.told++
	} else {
		c.t.Errorf("%s, %s: exit code %d, and the person reads %q", f.name, stage, code, said)
	}
	if m := chaosSession.FindStringSubmatch(said); m != nil {
		if code, _, told := runInProcess(c.t, c.environ, "sessions", "show", m[1]); code != exitDone {
			c.lost++
			c.t.Errorf("%s, %s: session %s is lost: %s", f.name, stage, m[1], told)
		}
	}
}

// try does a row in which a task meets a fault that is there from the start; lift mends it.
func (c *chaos) try(name, names string, lift func(), args ...string) {
	c.t.Helper()
	if !isChosen(name) {
		if lift != nil {
			lift()
		}
		return
	}
	code, out, said := runInProcess(c.t, c.environ, append([]string{"browse"}, args...)...)
	if lift != nil {
		lift()
	}
	c.recover(name, time.Now())
	c.judge(chaosFault{name: name, names: names}, "whole task", code, out+said)
}

// surroundings breaks what clank works with: models, sites, names, proxies, limits and files.
func (c *chaos) surroundings() {
	for model, names := range map[string]string{
		"500": "answered 500|no more today", "429": "too many requests", "401": "key", "404": "no", "cut": "cut off", "garbage": "understood|cut off",
		"page": "web page", "endless": "longer than",
	} {
		c.try("model answers "+model, names, nil, "--model", "compatible:"+model, "when does it go?")
	}
	c.config("agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs", "5s")
	c.try("model is silent", "gave no answer within 5 seconds", nil, "--model", "compatible:silent", "when does it go?")
	c.config(keyServer, "http://127.0.0.1:1/v1")
	c.try("model is down", "127.0.0.1:1|connection refused", func() { c.config(keyServer, c.model.URL+"/v1") }, "--model", "compatible:held", "when does it go?")
	c.try("name does not resolve", "nowhere.invalid", nil, "open http://nowhere.invalid/, read")
	c.try("site refuses connections", "refused|not reached|127.0.0.1:1", nil, "open http://127.0.0.1:1/, read")
	c.try("site breaks off", "without an answer|closed", nil, "open "+c.site.URL+"/broken, read")
	c.try("site sends half a page", "-", nil, "open "+c.site.URL+"/half, read")
	const upstream = "agentStack.runtimeConfig.browser.ssrfPolicy.upstreamProxies"
	c.config(upstream, "* socks5://127.0.0.1:1")
	runInProcess(c.t, c.environ, "browser", "stop")
	c.try("upstream proxy is down", "proxy", func() {
		c.config(upstream, "")
		runInProcess(c.t, c.environ, "browser", "stop")
	}, "open "+c.site.URL+"/, read")
	for _, limit := range []string{"nofile", "fsize"} {
		value := map[string]string{"nofile": "20", "fsize": "4096"}[limit]
		set := func(value string) {
			out, err := exec.Command("prlimit", "--pid", strconv.Itoa(c.server.cmd.Process.Pid), "--"+limit+"="+value).CombinedOutput()
			if err != nil {
				c.t.Logf("prlimit %s: %v %s", limit, err, out)
			}
		}
		runInProcess(c.t, c.environ, "browser", "stop")
		set(value + ":")
		c.try("limit of "+limit, "too many|limit|open files|database|disk|room|clank", func() { set(map[string]string{"nofile": "1024:", "fsize": "unlimited:"}[limit]) }, "open "+c.site.URL+"/, read")
	}
	c.files()
}

// files breaks files of the home while no server runs, and one while it runs.
func (c *chaos) files() {
	database := filepath.Join(c.home, "clank.db")
	check.Must(c.t, os.Rename(database, database+".away"))
	c.try("database is removed", "removed or replaced", func() {
		check.Must(c.t, os.Rename(database+".away", database))
		c.endServer()
		c.server = startServer(c.t, c.home, c.environ)
	}, "open "+c.site.URL+"/, read")
	for file, starts := range map[string]bool{
		"clank.db": false, "vault.json": true, "browser/profiles.json": true, "server.json": true, "control.json": true, "tokens.json": false,
		"browser/clank/user-data/Default/Preferences": true, "browser/clank/user-data/Local State": true,
	} {
		c.endServer()
		path := filepath.Join(c.home, file)
		was, err := os.ReadFile(path)
		check.Must(c.t, os.WriteFile(path, []byte("garbage\x00"), 0o600))
		mend := func() {
			if err == nil {
				check.Must(c.t, os.WriteFile(path, was, 0o600))
			} else {
				check.Must(c.t, os.Remove(path))
			}
		}
		if !starts {
			p := startProgram(c.t, c.home, c.environ, "serve", "--addr", "127.0.0.1:0", "--shop-addr", "127.0.0.1:0", "--control-addr", "127.0.0.1:0")
			code := p.exitCode(c.t)
			mend()
			c.server = startServer(c.t, c.home, c.environ)
			c.recover("damaged "+file, time.Now())
			c.judge(chaosFault{name: "damaged " + file, names: regexp.QuoteMeta(filepath.Base(file))}, "start", code, p.stderr.text())
			continue
		}
		c.server = startServer(c.t, c.home, c.environ)
		c.try("damaged "+file, filepath.Base(file)+"|profile", mend, "open "+c.site.URL+"/, read")
	}
}

func (c *chaos) endServer() {
	c.server.interrupt(c.t)
	c.server.exitCode(c.t)
}

// leftOver counts the processes and temporary files that are there after the end.
func (c *chaos) leftOver() int {
	c.endServer()
	ctx, done := context.WithTimeout(c.t.Context(), patience)
	defer done()
	for tick := time.NewTicker(20 * time.Millisecond); len(processesOf(c.t, c.home)) > 0 && ctx.Err() == nil; <-tick.C {
	}
	var files []string
	for _, pattern := range []string{filepath.Join(filepath.Dir(c.home), "tmp", "*"), filepath.Join(c.home, "downloads", "*", ".staging-*")} {
		found, err := filepath.Glob(pattern)
		check.Must(c.t, err)
		files = append(files, found...)
	}
	left := processesOf(c.t, c.home)
	if len(left)+len(files) > 0 {
		c.t.Errorf("left over: %v %v", left, files)
	}
	return len(left) + len(files)
}

// TestChaos is make chaos: faults at each stage of a task, what people read, and what is left.
func TestChaos(t *testing.T) {
	if !*chaosWhole {
		inHalf(t, true)
	}
	if _, err := os.Stat("/proc/self/limits"); err != nil {
		t.Skip("there is no /proc to find processes in")
	}
	c := newChaos(t)
	for _, f := range c.processFaults() {
		for _, s := range c.stages() {
			if *chaosWhole && isChosen(f.name) || !*chaosWhole && f.name == "kill -9 browser" {
				c.run(f, s)
			}
		}
	}
	if *chaosWhole {
		c.surroundings()
	}
	left := c.leftOver()
	slices.Sort(c.recovered)
	t.Logf("chaos: faults=%d told=%d lost=%d left_over=%d recover_p95_ms=%d",
		c.rows, c.told, c.lost, left, c.recovered[(len(c.recovered)*95+99)/100-1].Milliseconds())
}
