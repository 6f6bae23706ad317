//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	t       *testing.T
	home    string
	environ []string
	site    *httptest.Server
	vendors []*chaosVendor
	flags   []string // of every task
	server  *runningProgram
	device  string // that the home is on; "" if it has none of its own

	mu            sync.Mutex
	reached, gate chan struct{} // of the row: a stage is reached; it may go on

	rows, told, lost, omitted int
	recovered                 []time.Duration
}

const chaosAnswer = "ferry at 10:40"

// newChaos starts a clank, a site and model servers whose requests are held as each row says.
func newChaos(t *testing.T) *chaos {
	t.Helper()
	c := &chaos{t: t}
	c.home, c.environ = newTestHome(t)
	if *chaosWhole {
		c.mountHome()
	}
	c.hold()
	c.site = httptest.NewServer(http.HandlerFunc(c.page))
	t.Cleanup(c.site.Close)
	c.openVendors()
	t.Cleanup(c.release)
	return c
}

// page is what the site answers.
func (c *chaos) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/held":
		select {
		case <-c.reach():
		case <-r.Context().Done():
		}
	case "/half":
		_, _ = io.WriteString(w, "<h1>"+chaosAnswer+"</h1>")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/press":
		_, _ = io.WriteString(w, `<button onclick="const r=new XMLHttpRequest();r.open('GET','/held',false);r.send()">Wait</button>`)
	case "/hog":
		_, _ = io.WriteString(w, `<button onclick="const all=[];for(;;)all.push(new Uint8Array(1<<26).fill(1))">Fill</button>`)
	case "/broken":
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, "<h1>"+chaosAnswer+"</h1>")
}

// hold has the next row's requests wait.
func (c *chaos) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reached, c.gate = make(chan struct{}, 10), make(chan struct{})
}

// release lets them go on.
func (c *chaos) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gate:
	default:
		close(c.gate)
	}
}

// reach tells that a row's stage is reached, and returns what is closed once it may go on.
func (c *chaos) reach() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.reached <- struct{}{}:
	default:
	}
	return c.gate
}

// awaitStage waits until a program's task has reached the stage of a row.
func (c *chaos) awaitStage(row string, busy *runningProgram) {
	c.t.Helper()
	select {
	case <-c.reached:
	case <-busy.done:
		c.t.Errorf("%s: the task ended before: %s", row, busy.stderr.text())
	case <-time.After(patience):
		c.t.Fatalf("%s: the stage is not reached", row)
	}
}

// command runs a command that must succeed, and returns what it prints.
func (c *chaos) command(args ...string) string {
	c.t.Helper()
	code, out, told := runInProcess(c.t, c.environ, args...)
	if code != exitDone {
		c.t.Fatalf("clank %v: %s", args, told)
	}
	return out
}

// browseArgs are the words of a task.
func (c *chaos) browseArgs(words ...string) []string {
	return slices.Concat([]string{"browse"}, c.flags, words)
}

// chaosStage is where a task is when something breaks.
type chaosStage struct {
	name, model, prompt string
	starts              bool // no browser runs before it
	queued              bool // another task of its session is ahead of it
}

func (c *chaos) stages() []chaosStage {
	open := "open " + c.site.URL
	return []chaosStage{
		{name: "queued", prompt: open + "/, read", queued: true},
		{name: "starting", prompt: open + "/held, read", starts: true},
		{name: "model call", model: "compatible:held", prompt: "when does it go?"},
		{name: "action", prompt: open + "/press, click \"Wait\", open " + c.site.URL + "/, read"},
		{name: "navigation", prompt: open + "/held, read"},
		{name: "answer", model: "compatible:streaming", prompt: "when does it go?"},
	}
}

// chaosFault is what breaks: do breaks it, lift, where it is set, mends it after a while, a second unless lasts says
// otherwise, and after does when all is well again. names matches what tells a person of it; where it is empty the task
// must be done all the same.
type chaosFault struct {
	name            string
	do, lift, after func()
	names           string
	lasts           time.Duration
	quick           bool // "make other-half" tries it, too
}

// begin brings a task to a stage. ahead is the one before it, where that is the stage.
func (c *chaos) begin(row string, s chaosStage) (busy, ahead *runningProgram) {
	c.t.Helper()
	c.hold()
	args := c.browseArgs(s.prompt)
	if s.model != "" {
		args = append(args, "--model", s.model)
	}
	var old []int // browsers that may end later
	if s.starts {
		c.command("browser", "stop")
		old = c.victims("")
	}
	if s.queued {
		var first browseOutcome
		check.Must(c.t, json.Unmarshal([]byte(c.command(c.browseArgs("--json", "open "+c.site.URL+"/")...)), &first))
		session := []string{"--session", first.SessionID}
		args = append(args, session...)
		ahead = startProgram(c.t, c.home, c.environ, append(c.browseArgs("open "+c.site.URL+"/held, read"), session...)...)
		c.awaitStage(row, ahead)
	}
	busy = startProgram(c.t, c.home, c.environ, args...)
	switch {
	case s.queued:
		awaitOutput(c.t, busy.stderr, "number 1 in line")
	case s.starts:
		browsertest.Eventually(c.t, "a browser", func() bool {
			return slices.ContainsFunc(c.victims(""), func(pid int) bool { return !slices.Contains(old, pid) })
		})
	default:
		c.awaitStage(row, busy)
	}
	return busy, ahead
}

// run does one row: a task comes to a stage, something breaks, and then all must be well again.
func (c *chaos) run(f chaosFault, s chaosStage) {
	c.t.Helper()
	row := f.name + ", " + s.name
	busy, ahead := c.begin(row, s)
	f.do()
	c.release()
	since := time.Now()
	if f.lift != nil {
		<-time.After(cmp.Or(f.lasts, time.Second)) // as long as the fault lasts
		f.lift()
		since = time.Now()
	}
	c.recover(row, since)
	if f.after != nil {
		f.after()
	}
	c.judge(row, f.names, busy)
	if ahead != nil {
		c.rows-- // it is part of this row
		c.told--
		c.judge(row+", the task ahead", f.names, ahead)
	}
}

// recover asks for tasks until one is done, and notes how long after the fault that is.
func (c *chaos) recover(row string, since time.Time) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		code, out, said := runInProcess(c.t, c.environ, c.browseArgs("open "+c.site.URL+"/, read")...)
		if code == exitDone && strings.Contains(out, chaosAnswer) {
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: no task is done any more: %s", row, said)
		}
	}
	took := time.Since(since)
	c.recovered = append(c.recovered, took)
	c.t.Logf("%-55s recovered after %5d ms", row, took.Milliseconds())
}

var chaosSession = regexp.MustCompile(`session ([a-z0-9]{6})\b`)

// judge counts what came of a row: what the person was told, and whether the session is kept.
func (c *chaos) judge(row, names string, p *runningProgram) {
	c.t.Helper()
	code := p.exitCode(c.t)
	c.judgeText(row, names, code, p.stdout.text()+p.stderr.text())
}

func (c *chaos) judgeText(row, names string, code int, said string) {
	c.t.Helper()
	c.rows++
	told := code == exitDone && strings.Contains(said, chaosAnswer) ||
		code != exitDone && names != "" && regexp.MustCompile(names).MatchString(said)
	if told {
		c.told++
	} else {
		c.t.Errorf("%s: exit code %d, and the person reads %q", row, code, said)
	}
	if m := chaosSession.FindStringSubmatch(said); m != nil {
		if code, _, told := runInProcess(c.t, c.environ, "sessions", "show", m[1]); code != exitDone {
			c.lost++
			c.t.Errorf("%s: session %s is lost: %s", row, m[1], told)
		}
	}
	if code != exitDone {
		c.t.Logf("%-55s told: %s", row, clipLine(strings.ReplaceAll(said, "\n", " "), 200))
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
	code, out, said := runInProcess(c.t, c.environ, c.browseArgs(args...)...)
	if lift != nil {
		lift()
	}
	c.recover(name, time.Now())
	c.judgeText(name, names, code, out+said)
}

// omits says and counts that faults are left out.
func (c *chaos) omits(what string, why error) {
	c.t.Helper()
	c.omitted++
	c.t.Logf("left out: %s: %v", what, why)
}

func (c *chaos) startServer() { c.server = startServer(c.t, c.home, c.environ) }

func (c *chaos) endServer() {
	c.t.Helper()
	c.server.interrupt(c.t)
	c.server.exitCode(c.t)
}

// unended counts the tasks that are still told to run or wait although nobody works at them.
func (c *chaos) unended() int {
	server, err := requireServer(envFromList(c.t, c.environ), "its tasks are looked at")
	check.Must(c.t, err)
	list, err := server.Tasks(c.t.Context(), url.Values{"state": {"working"}})
	check.Must(c.t, err)
	for _, task := range list {
		c.t.Errorf("task %s is %s for ever: %q", task.Task.ID, task.Task.State, task.Task.Prompt)
	}
	return len(list)
}

// leftOver counts the processes and temporary files that are there after the end.
func (c *chaos) leftOver() int {
	c.endServer()
	ctx, done := context.WithTimeout(c.t.Context(), patience)
	defer done()
	for tick := time.NewTicker(20 * time.Millisecond); len(processesOf(c.t, c.home)) > 0 && ctx.Err() == nil; <-tick.C {
	}
	var files []string
	for _, pattern := range []string{
		filepath.Join(filepath.Dir(c.home), "tmp", "*"),
		filepath.Join(c.home, "downloads", "*", ".staging-*"),
	} {
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
	faults := slices.Concat(c.processFaults(), c.clockFaults())
	if *chaosWhole {
		faults = slices.Concat(faults, c.memoryFaults(), c.limitFaults(), c.databaseFault(), c.diskFaults())
	}
	c.startServer()
	for _, f := range faults {
		for _, s := range c.stages() {
			if *chaosWhole && isChosen(f.name) || !*chaosWhole && f.quick {
				c.run(f, s)
			}
		}
	}
	if *chaosWhole {
		c.vendorRows()
		c.surroundings()
		c.devToolsRows()
		c.diskRows()
		c.files()
	}
	c.lost += c.unended()
	left := c.leftOver()
	if len(c.recovered) == 0 {
		t.Fatalf("no fault has a name that matches %q", *chaosOnly)
	}
	slices.Sort(c.recovered)
	t.Logf("chaos: faults=%d left_out=%d told=%d lost=%d left_over=%d recover_p95_ms=%d",
		c.rows, c.omitted, c.told, c.lost, left, c.recovered[(len(c.recovered)*95+99)/100-1].Milliseconds())
}
