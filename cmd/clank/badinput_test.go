package main

import (
	"encoding/json"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/test/llmtest"
)

// The settings that these tests change.
const (
	keyServer   = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyModel    = "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model"
	keyPerHour  = "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"
	keyStepTime = "agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs"
	keyBrain    = "interaction.brain.model"
)

const scriptedModel = "compatible:scripted"

// deadAddress returns an address of this machine at which nothing listens. It is taken until the test ends, so that nobody else
// comes to listen there.
func deadAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(at.(*syscall.SockaddrInet4).Port)).String()
}

// cooperativeTurn returns a model that does the next task well, whatever it is: it opens the
// page and reads out what it finds.
func cooperativeTurn(url string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		last := req.Messages[len(req.Messages)-1].Parts
		if last[len(last)-1].Result != nil {
			return answering("The %s.", `ferry at 10:40`)(req)
		}
		return openPage(url)(req)
	}
}

// badInputFixture is a running clank to which people bring tasks from a terminal.
type badInputFixture struct {
	home    string
	environ []string
	site    *testSite
	dead    string // an address that refuses connections
	good    *llmtest.Server
	client  *api.Client
	session string // in which the first task was done
}

func newBadInputFixture(t *testing.T) *badInputFixture {
	t.Helper()
	c := &badInputFixture{site: newTestSite(t), dead: deadAddress(t), good: llmtest.NewServer(t)}
	c.good.SetFallback(cooperativeTurn(c.site.URL))
	strict := llmtest.NewServer(t)
	strict.SetFallback(llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: "+testKey+". You can find your API key at https://platform.openai.com/account/api-keys."))
	c.home, c.environ = newTestHome(t)
	c.environ = append(c.environ, "OPENAI_BASE_URL="+strict.BaseURL(), "OPENAI_API_KEY="+testKey)
	startServer(t, c.home, c.environ)
	h := &server.Home{Dir: c.home}
	a, found, err := h.RunningServer()
	if err != nil || !found {
		t.Fatal("no server in the home: ", err)
	}
	c.client = &api.Client{Base: a.URL, Token: a.Secret}
	c.set(t, map[string]any{keyServer: c.good.BaseURL()})
	c.checkNextTaskWorks(t)
	c.session = c.latestTask(t)
	return c
}

// set changes settings of the running server; nil is the default.
func (c *badInputFixture) set(t *testing.T, values map[string]any) {
	t.Helper()
	now, err := c.client.Settings(testDeadline(t))
	if err != nil {
		t.Fatal(err)
	}
	change := api.SettingsChange{Changes: map[string]json.RawMessage{}, Version: &now.Version}
	for key, v := range values {
		if change.Changes[key], err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.client.ChangeSettings(testDeadline(t), change); err != nil {
		t.Fatal(err)
	}
}

// badInputCase is a task that cannot go well.
type badInputCase struct {
	name  string
	task  string   // "find the ferry" if empty
	flags []string // without a model: the scripted one
	later bool     // in the session in which the first task was done, not in a new one
	set   map[string]any
	turns []llmtest.Turn // what the scripted model says
	tail  llmtest.Turn   // what it says after those, again and again
	code  int
	want  []string // what the person is told: the thing, and the way out
}

// rawToolTurn returns a turn that calls a tool with arguments as they are.
func rawToolTurn(tool, arguments string) llmtest.Turn { return llmtest.Use(tool, arguments) }

func (c *badInputFixture) badInputCases() []badInputCase {
	plain := []string{"--model", "plain:steps"}
	refused := []string{c.dead, "refused the connection", "nothing listens there"}
	useless := []string{scriptedModel, "3 replies in a row without an answer or a usable tool call", "try another model"}
	shown := strings.TrimPrefix(c.site.URL, "http://")
	return []badInputCase{
		// What a page or its address does wrong is told to the mind, whose answer says so.
		{name: "unknown host", flags: plain, task: "open no-such-host.invalid, read", code: exitFailed, want: []string{"Step 1 of 2", "no such host no-such-host.invalid", "check the spelling", "Not done: read"}},
		{name: "not an address", flags: plain, task: "open http://not a url, read", code: exitFailed, want: []string{`"http://not a url" is no address such as example.com`, "I did nothing", "the demo shop"}},
		{name: "another scheme", flags: plain, task: "open file:///etc/passwd, read", code: exitFailed, want: []string{`"file:///etc/passwd" is no address such as example.com`, "I did nothing"}},
		{name: "site refuses connections", flags: plain, task: "open http://" + c.dead + "/, read", code: exitFailed, want: append(refused, "Not done: read")},
		{name: "page answers 500", flags: plain, task: "open " + c.site.URL + "/broken, read", want: []string{"the database is on fire", shown + "/broken", "the server answered HTTP 500"}},
		{name: "free words for plain", flags: plain, task: "find me a cheap flight", code: exitFailed, want: []string{`I did not understand "find me a cheap flight"`, "I follow written steps", "choose a language model in the settings"}},
		{name: "model meets an unknown host", turns: []llmtest.Turn{openPage("no-such-host.invalid"), repeatToolResult}, want: []string{"no such host no-such-host.invalid", "check the spelling"}},
		{name: "model meets a refusal", turns: []llmtest.Turn{openPage("http://" + c.dead), repeatToolResult}, want: refused},
		{name: "model has no address", turns: []llmtest.Turn{openPage("ferry times"), repeatToolResult}, want: []string{"not a web address", "such as https://example.com/page"}},
		{name: "model meets a 500", turns: []llmtest.Turn{openPage(c.site.URL + "/broken"), repeatToolResult}, want: []string{"the server answered HTTP 500", "the database is on fire"}},

		{name: "wrong key", flags: []string{"--model", "openai:gpt-5.6"}, code: exitFailed, want: []string{"openai:gpt-5.6", "key was not accepted", "set OPENAI_API_KEY to a valid key"}},
		{name: "own server wants a key", later: true, tail: llmtest.Fail(401, "", "Unauthorized"), code: exitFailed, want: []string{scriptedModel, "wants a key", "set COMPATIBLE_API_KEY"}},
		{name: "no such model", later: true, turns: []llmtest.Turn{llmtest.Fail(404, "model_not_found", "The model `scripted` does not exist")}, code: exitFailed, want: []string{`there is no model "scripted"`, "check the name"}},
		{name: "no such provider", flags: []string{"--model", "oracle:pro"}, code: exitFailed, want: []string{`no provider "oracle"`, "known: plain, openai, anthropic, gemini, compatible"}},
		{name: "no model in the name", flags: []string{"--model", "compatible:"}, code: exitFailed, want: []string{`"compatible:" names no model`, "write compatible:<model>"}},
		{name: "no server set", later: true, set: map[string]any{keyServer: nil}, code: exitFailed, want: []string{scriptedModel, "server is not set", "settings, for example http://127.0.0.1:11434/v1"}},
		{name: "nothing at the server's address", later: true, set: map[string]any{keyServer: "http://" + c.dead + "/v1"}, code: exitFailed, want: []string{scriptedModel, "nothing answers at " + c.dead, "is the server running?"}},
		{name: "server's address without its path", later: true, set: map[string]any{keyServer: strings.TrimSuffix(c.good.BaseURL(), "/v1")}, code: exitFailed, want: []string{scriptedModel, "has no chat API", "most end in /v1"}},
		{name: "model never answers", later: true, set: map[string]any{keyStepTime: 5000}, tail: llmtest.SayWithFault("", llmtest.Fault{Hang: llmtest.BeforeHeaders}), code: exitFailed, want: []string{scriptedModel, "no answer within 5s", "allow more time"}},
		{name: "model is cut off", tail: cutOff, code: exitFailed, want: []string{scriptedModel, "cut off in the middle", "ask again"}},
		{name: "model's server breaks off", later: true, tail: llmtest.SayWithFault("so far so good", llmtest.Fault{StreamError: "out of memory", At: 2}), code: exitFailed, want: []string{scriptedModel, "broke off its answer: out of memory", "ask again"}},
		{name: "model's server is ill", later: true, tail: llmtest.Fail(500, "", "internal error"), code: exitFailed, want: []string{scriptedModel, "answered 500: internal error", "try again later"}},
		{name: "model is overloaded", later: true, tail: llmtest.Fail(429, "", "slow down"), code: exitFailed, want: []string{scriptedModel, "too many requests", "wait a little"}},

		{name: "broken arguments", tail: rawToolTurn("browser_open", `{"url": "http://`), code: exitFailed, want: useless},
		{name: "unknown tool", later: true, tail: rawToolTurn("browser_fly", `{}`), code: exitFailed, want: useless},
		{name: "missing field", later: true, tail: rawToolTurn("browser_open", `{}`), code: exitFailed, want: useless},
		{name: "silent model", later: true, tail: llmtest.Say(""), code: exitFailed, want: useless},
		{name: "arguments broken once", later: true, turns: []llmtest.Turn{rawToolTurn("browser_open", `{"url": "`), openPage(c.site.URL)}, tail: answering("The %s.", `ferry at 10:40`), want: []string{"the input is not a JSON object", "The ferry at 10:40."}},

		{name: "task too long", task: strings.Repeat("Find the ferry. ", 625), code: exitFailed, want: []string{"the task has 9999 characters and may have 8000", "say it more briefly"}},
		{name: "empty task", task: "  \n ", code: exitUsage, want: []string{"say what to do, for example: clank browse"}},
		{name: "unknown session", flags: []string{"--session", "nosuch"}, code: exitFailed, want: []string{`no session "nosuch"`, "leave it out to start a new one"}},
		{name: "unknown runtime", flags: []string{"--runtime", "magic"}, code: exitFailed, want: []string{`no runtime "magic"`, "there are: local_browser_agent"}},
	}
}

// repeatToolResult returns a turn that answers with what the model was told.
func repeatToolResult(req llmtest.Request) llmtest.Reply {
	return llmtest.Say("I was told: " + toolResult(req))(req)
}

// cutOff is a turn whose connection is gone in the middle of the answer.
var cutOff = llmtest.SayWithFault("so far so good, and on it goes", llmtest.Fault{Cut: llmtest.CutReset, At: 3})

func TestBadInputIsToldClearlyAndTheNextTaskWorks(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	t.Parallel()
	c := newBadInputFixture(t)
	for _, m := range c.badInputCases() {
		t.Run(m.name, func(t *testing.T) {
			model := llmtest.NewServer(t, m.turns...)
			if m.tail != nil {
				model.SetFallback(m.tail)
			}
			change := map[string]any{keyServer: model.BaseURL()}
			maps.Copy(change, m.set)
			c.set(t, change)
			if m.later {
				m.flags = append(m.flags, "--session", c.session)
			}
			p := c.browse(t, m.task, m.flags)
			c.checkOutcome(t, m, p)
			c.set(t, map[string]any{keyServer: c.good.BaseURL(), keyStepTime: nil})
			c.checkNextTaskWorks(t)
		})
	}
}

func (c *badInputFixture) browse(t *testing.T, task string, flags []string) *runningProgram {
	t.Helper()
	if task == "" {
		task = "find the ferry"
	}
	if !slices.Contains(flags, "--model") {
		flags = append(flags, "--model", scriptedModel)
	}
	p := startProgram(t, c.home, c.environ, append(append([]string{"browse"}, flags...), "--", task)...)
	p.exitCode(t)
	return p
}

// checkOutcome holds how a task ended, and what the person was told, against the case.
func (c *badInputFixture) checkOutcome(t *testing.T, m badInputCase, p *runningProgram) {
	t.Helper()
	if got := p.exitCode(t); got != m.code {
		t.Errorf("exit code = %d, want %d", got, m.code)
	}
	said := p.stderr.text() + p.stdout.text()
	t.Log(said)
	checkPlainWords(t, said, m.want)
	last := p.stderr.text()
	if i := strings.Index(last, "clank browse: "); m.code != exitDone && (i < 0 || len(firstOutputLine(last[i:])) > 240) {
		t.Errorf("stderr ends with %q, want one short sentence", last[max(i, 0):])
	}
}

// internalTerms are words that belong into a log, and secrets that belong nowhere.
var internalTerms = []string{
	"context deadline", "context canceled", "goroutine", "panic", "%!", "dial tcp", "EOF", "unmarshal", "invalid character",
	"<nil>", "ECONN", "syscall", "github.com", testKey, "You have done this",
}

// checkPlainWords fails the test unless people were told what they must be, in words
// for people.
func checkPlainWords(t *testing.T, said string, want []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(said, w) {
			t.Errorf("the person was not told %q", w)
		}
	}
	for _, w := range internalTerms {
		if strings.Contains(said, w) {
			t.Errorf("the person was told %q", w)
		}
	}
}

// latestTask returns the session that was used last; empty if there is none.
func (c *badInputFixture) latestTask(t *testing.T) string {
	t.Helper()
	list, err := c.client.Sessions(testDeadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0].ID
}

// checkNextTaskWorks fails the test unless the next task is done well, in the session
// that was used last: that of the mishap, if it was accepted.
func (c *badInputFixture) checkNextTaskWorks(t *testing.T) {
	t.Helper()
	args := []string{"browse", "--model", scriptedModel, "find the ferry"}
	if id := c.latestTask(t); id != "" {
		args = slices.Insert(args, 1, "--session", id)
	}
	code, got, told := runInProcess(t, c.environ, args...)
	if want := "The ferry at 10:40.\n"; code != exitDone || got != want {
		t.Errorf("the next task: exit code %d, answer %q, want %q\n%s", code, got, want, told)
	}
}

func TestRefusalsWithoutAServerCostNoBrowserAndTheFirstTryLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"unknown session", []string{"--session", "nosuch", "go on"}, []string{`no session "nosuch"`, "leave it out to start a new one"}},
		{"task too long", []string{strings.Repeat("Find the ferry. ", 625)}, []string{"9999 characters and may have 8000"}},
		{"no key", []string{"--model", "openai:gpt-5.6", "find the ferry"}, []string{"openai:gpt-5.6 needs a key", "set OPENAI_API_KEY", "plain:steps needs none"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startProgram(t, home, environ, append([]string{"browse"}, tc.args...)...)
			if got := p.exitCode(t); got != exitFailed {
				t.Errorf("exit code = %d, want %d", got, exitFailed)
			}
			t.Log(p.stderr.text())
			checkPlainWords(t, p.stderr.text(), tc.want)
			if used := profileDirs(t, home); len(used) > 0 {
				t.Error("a browser was started for nothing")
			}
		})
	}
	next := startProgram(t, home, environ, "browse", firstTry)
	if got := next.exitCode(t); got != exitDone || !strings.Contains(strings.ToLower(next.stdout.text()), "lamp") {
		t.Errorf("the next task: exit code %d, answer %q, want lamps", got, next.stdout.text())
	}
	checkNothingLeft(t, home)
	checkNoTempFiles(t, environ)
	if used := profileDirs(t, home); len(used) != 1 {
		t.Errorf("the browser of the next task left %v, want its profile", used)
	}
}

// profileDirs lists the profiles of a home that a browser has written to.
func profileDirs(t *testing.T, home string) []string {
	t.Helper()
	used, err := filepath.Glob(filepath.Join(home, "browser", "*", "user-data", "Default"))
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func firstOutputLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
