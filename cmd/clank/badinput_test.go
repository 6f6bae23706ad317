package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"clank/internal/test/llmtest"
)

// The settings that these tests change.
const (
	keyServer  = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyModel   = "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model"
	keyPerHour = "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"
	keyBrain   = "interaction.brain.model"
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

// badInputCase is a task that cannot go well.
type badInputCase struct {
	name  string
	task  string // "find the ferry" if empty
	model string // the scripted one if empty
	set   map[string]any
	turn  llmtest.Turn // what the scripted model says, again and again
	code  int
	want  []string // what the person is told: the thing, and the way out
}

// rawToolTurn returns a turn that calls a tool with arguments as they are.
func rawToolTurn(tool, arguments string) llmtest.Turn { return llmtest.Use(tool, arguments) }

func badInputCases(site, model string) []badInputCase {
	const plain = "plain:steps"
	return []badInputCase{
		{
			name: "unknown host", model: plain, task: "open no-such-host.invalid, read", code: exitFailed,
			want: []string{"Step 1 of 2", "no such host no-such-host.invalid", "check the spelling", "Not done: read"},
		},
		{
			name: "not an address", model: plain, task: "open http://not a url, read", code: exitFailed,
			want: []string{`"http://not a url" is no address such as example.com`, "I did nothing", "the demo shop"},
		},
		{
			name: "page answers 500", model: plain, task: "open " + site + "/broken, read",
			want: []string{"the database is on fire", strings.TrimPrefix(site, "http://") + "/broken", "the server answered HTTP 500"},
		},
		{
			name: "wrong key", model: "openai:gpt-5.6", code: exitFailed,
			want: []string{"openai:gpt-5.6", "key was not accepted", "set OPENAI_API_KEY to a valid key"},
		},
		{
			name: "no server set", set: map[string]any{keyServer: nil}, code: exitFailed,
			want: []string{scriptedModel, "server is not set", "settings, for example http://127.0.0.1:11434/v1"},
		},
		{
			name: "server's address without its path", set: map[string]any{keyServer: strings.TrimSuffix(model, "/v1")}, code: exitFailed,
			want: []string{scriptedModel, "has no chat API", "most end in /v1"},
		},
		{
			name: "broken arguments", turn: rawToolTurn("browser_open", `{"url": "http://`), code: exitFailed,
			want: []string{scriptedModel, "3 replies in a row without an answer or a usable tool call", "try another model"},
		},
		{name: "empty task", task: "  \n ", code: exitUsage, want: []string{"say what to do, for example: clank browse"}},
	}
}

// cutOff is a turn whose connection is gone in the middle of the answer.
var cutOff = llmtest.SayWithFault("so far so good, and on it goes", llmtest.Fault{Cut: llmtest.CutReset, At: 3})

// badTasksAreToldClearly tests that the next task works after each that cannot go well.
func badTasksAreToldClearly(t *testing.T, c *sharedServer) {
	t.Helper()
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	model := llmtest.NewServer(t)
	set := func(values map[string]any) {
		t.Helper()
		for key, v := range values {
			args := []string{"config", "unset", key}
			if v != nil {
				args = []string{"config", "set", key, fmt.Sprint(v)}
			}
			if code, _, told := runInProcess(t, c.environ, args...); code != exitDone {
				t.Fatalf("%v: exit code %d: %s", args, code, told)
			}
		}
	}
	for _, m := range badInputCases(c.site.URL, model.BaseURL()) {
		t.Run(m.name, func(t *testing.T) {
			set(map[string]any{keyServer: model.BaseURL()})
			set(m.set)
			if m.turn != nil {
				model.SetFallback(m.turn)
			}
			args := []string{"browse", "--model", cmp.Or(m.model, scriptedModel), "--", cmp.Or(m.task, "find the ferry")}
			code, stdout, stderr := runInProcess(t, c.environ, args...)
			if code != m.code {
				t.Errorf("exit code = %d, want %d", code, m.code)
			}
			t.Log(stderr + stdout)
			checkPlainWords(t, stderr+stdout, m.want)
			if i := strings.Index(stderr, "clank browse: "); code != exitDone && (i < 0 || len(firstOutputLine(stderr[i:])) > 240) {
				t.Errorf("stderr ends with %q, want one short sentence", stderr[max(i, 0):])
			}
		})
		set(map[string]any{keyServer: model.BaseURL()})
		model.SetFallback(llmtest.Say("unused"))
		model.Add(openPage(c.site.URL), answering("The %s.", `ferry at 10:40`))
		args := []string{"browse", "--model", scriptedModel, "find the ferry"}
		if code, got, told := runInProcess(t, c.environ, args...); code != exitDone || got != "The ferry at 10:40.\n" {
			t.Errorf("the task after %q: exit code %d, answer %q\n%s", m.name, code, got, told)
		}
	}
	set(map[string]any{keyServer: nil})
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
