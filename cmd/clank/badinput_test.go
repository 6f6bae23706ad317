package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

// Keys of settings that these tests change.
const (
	keyServer  = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyModel   = "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model"
	keyPerHour = "agentStack.runtimeConfig.browser.localBrowserAgent.maxBrowseCallsPerHour"
	keyBrain   = "interaction.brain.model"
)

const scriptedModel = "compatible:scripted"

// deadAddress returns a local address at which nothing listens. The port stays reserved until the test ends.
func deadAddress(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	check.Must(t, err)
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	check.Must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	check.Must(t, err)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(at.(*syscall.SockaddrInet4).Port)).String()
}

// badInputCase is a task that must fail.
type badInputCase struct {
	name  string
	task  string // "find the ferry" if empty
	model string // the scripted one if empty
	set   map[string]any
	turn  llmtest.Turn // what the scripted model says, again and again
	code  int
	want  []string // what the person is told: the thing, and the way out
}

// rawToolTurn returns a turn that calls a tool with unmodified arguments.
func rawToolTurn(tool, arguments string) llmtest.Turn { return llmtest.Use(tool, arguments) }

func badInputCases(site, model string) []badInputCase {
	const plain = "plain:steps"
	return []badInputCase{
		{
			name: "unknown host", model: plain, task: "open http://no-such-host.invalid, read", code: exitFailed,
			want: []string{
				"Step 1 of 2", "no such host no-such-host.invalid", "check the spelling", "Not done: read.",
				`Instead of the page, the tab shows "This page cannot be reached", at http://no-such-host.invalid/`,
			},
		},
		{
			name: "not an address", model: plain, task: "open http://not a url, read", code: exitFailed,
			want: []string{`"http://not a url" is no address such as example.com`, "I did nothing", "the demo shop"},
		},
		{
			name: "page answers 500", model: plain, task: "open " + site + "/broken, read",
			want: []string{
				"the database is on fire", strings.TrimPrefix(site, "http://") + "/broken",
				"the server answered HTTP 500",
			},
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
			name: "server's address without its path", set: map[string]any{keyServer: strings.TrimSuffix(model, "/v1")},
			code: exitFailed,
			want: []string{scriptedModel, "has no chat API", "most end in /v1"},
		},
		{
			name: "broken arguments", turn: rawToolTurn("browser_open", `{"url": "http://`), code: exitFailed,
			want: []string{scriptedModel, "3 replies in a row without an answer or a usable tool call", "try another model"},
		},
		{name: "empty task", task: "  \n ", code: exitUsage, want: []string{"say what to do, for example: clank browse"}},
	}
}

// cutOff is a turn whose connection breaks in the middle of the answer.
var cutOff = llmtest.SayWithFault("so far so good, and on it goes", llmtest.Fault{Cut: llmtest.CutReset, At: 3})

// badTasksAreToldClearly tests that the next task works after each failing one.
func badTasksAreToldClearly(t *testing.T, c *sharedServer) {
	t.Helper()
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
			check.Equal(t, "exit code", code, m.code)
			t.Log(stderr + stdout)
			checkPlainWords(t, stderr+stdout, m.want)
			if i := strings.Index(stderr, "clank browse: "); code != exitDone &&
				(i < 0 || len(firstOutputLine(stderr[i:])) > 240) {
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

// internalTerms are words that belong in logs, and secrets that must not appear anywhere.
var internalTerms = []string{
	"context deadline", "context canceled", "goroutine", "panic", "%!", "dial tcp", "EOF", "unmarshal",
	"invalid character",
	"<nil>", "ECONN", "syscall", "github.com", testKey, "You have done this",
}

// checkPlainWords fails the test unless people read the expected text, without internal terms.
func checkPlainWords(t *testing.T, said string, want []string) {
	t.Helper()
	check.Contains(t, said, want...)
	for _, w := range internalTerms {
		check.Lacks(t, said, w)
	}
}

func TestRefusalsWithoutAServerStartNoBrowserAndLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{
			"unknown session",
			[]string{"--session", "nosuch", "go on"},
			[]string{`no session "nosuch"`, "leave it out to start a new one"},
		},
		{"task too long", []string{strings.Repeat("Find the ferry. ", 625)}, []string{"9999 characters and may have 8000"}},
		{
			"no key",
			[]string{"--model", "openai:gpt-5.6", "find the ferry"},
			[]string{"openai:gpt-5.6 needs a key", "set OPENAI_API_KEY", "plain:steps needs none"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startProgram(t, home, environ, append([]string{"browse"}, tc.args...)...)
			check.Equal(t, "exit code", p.exitCode(t), exitFailed)
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
	check.Must(t, err)
	return used
}

func firstOutputLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// badInput is an action in Discord that must fail.
type badInput struct {
	name string
	set  map[string]any
	say  []llmtest.Turn // what the model says
	do   func(t *testing.T, r *serverFixture) discordtest.Message
	want []string // what they must be told
}

func badInputs(dead string) []badInput {
	browse := func(args discordtest.Args) func(*testing.T, *serverFixture) discordtest.Message {
		return func(t *testing.T, r *serverFixture) discordtest.Message {
			t.Helper()
			return r.command(t, r.ada, args)
		}
	}
	mention := func(text string) func(*testing.T, *serverFixture) discordtest.Message {
		return func(t *testing.T, r *serverFixture) discordtest.Message {
			t.Helper()
			return r.mention(t, r.ada, text)
		}
	}
	task := browse(discordtest.Args{"task": "find the ferry"})
	brain := map[string]any{keyBrain: "compatible:talker"}
	told := func(req llmtest.Request) llmtest.Reply { return llmtest.Say("I was told: " + req.LastText())(req) }
	noModel := llmtest.Fail(404, "model_not_found", "no such model")
	wrongKey := llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: "+testKey)
	return []badInput{
		{
			name: "unknown session", do: browse(discordtest.Args{"task": "find the ferry", "session": "nosuch"}),
			want: []string{`no session "nosuch"`, "leave it out to start a new one"},
		},
		{
			name: "session of somebody else", do: continueForeignSession,
			want: []string{"belongs to ada", "start one of your own"},
		},
		{
			name: "empty task", do: browse(discordtest.Args{"task": "  "}),
			want: []string{"The task is empty", "say what to do"},
		},
		{
			name: "browsing switched off", set: map[string]any{"agentStack.runtimeConfig.browser.enabled": false}, do: task,
			want: []string{"switched off in the settings"},
		},
		{
			name: "no browses left", set: map[string]any{keyPerHour: 0}, do: task,
			want: []string{"the settings allow no tasks per hour"},
		},
		{
			name: "words without steps", set: map[string]any{keyModel: "plain:steps"},
			do: browse(discordtest.Args{"task": "find the ferry"}), want: []string{
				`I did not understand "find the ferry"`,
				"choose a language model in the settings",
			},
		},
		{
			name: "page refuses connections", say: []llmtest.Turn{openPage("http://" + dead), told}, do: task,
			want: []string{"refused the connection", "nothing listens there"},
		},
		{
			name: "wrong key", say: []llmtest.Turn{wrongKey}, do: task,
			want: []string{"That did not work", scriptedModel, "wants a key", "set COMPATIBLE_API_KEY"},
		},
		{
			name: "no server", set: map[string]any{keyServer: "http://" + dead + "/v1"}, do: task,
			want: []string{"nothing answers at " + dead, "is the server running?"},
		},
		{
			name: "model is cut off", say: []llmtest.Turn{cutOff}, do: task,
			want: []string{"cut off in the middle", "ask again"},
		},
		{name: "mention without words", do: mention(""), want: []string{"Tell me what to do in the browser, for example"}},
		{
			name: "mention, and the browser's model fails", say: []llmtest.Turn{noModel}, do: mention("find the ferry"),
			want: []string{`there is no model "scripted"`, "check the name"},
		},
		{
			name: "brain has a wrong key", set: brain, say: []llmtest.Turn{wrongKey}, do: mention("hello"),
			want: []string{"I could not think of an answer", "compatible:talker", "wants a key"},
		},
		{
			name: "brain is cut off", set: brain, say: []llmtest.Turn{cutOff}, do: mention("hello"),
			want: []string{"cut off in the middle", "ask again"},
		},
		{
			name: "brain makes broken calls", set: brain, say: slices.Repeat([]llmtest.Turn{
				rawToolTurn("browser_browse", `{"query`), rawToolTurn("browser_fly", `{}`), rawToolTurn("browser_browse", `{}`),
			}, 3), do: mention("find the ferry"),
			want: []string{"The model gave no answer", "try again, or choose another model"},
		},
		{name: "brain hears that the browser's model fails", set: brain, say: []llmtest.Turn{
			rawToolTurn("browser_browse", `{"query":"find the ferry"}`), noModel, told,
		}, do: mention("find the ferry"), want: []string{"It failed", `there is no model "scripted"`}},
	}
}

// continueForeignSession lets bob go on in ada's session.
func continueForeignSession(t *testing.T, r *serverFixture) discordtest.Message {
	t.Helper()
	r.script.Set([]llmtest.Turn{openPage(r.site.URL), llmtest.Say("open")})
	r.command(t, r.ada, discordtest.Args{"task": "open the page"})
	bob := r.discord.CreateUser("bob")
	r.discord.AddMember(r.guild, bob)
	return r.command(t, bob, discordtest.Args{"task": "read it", "session": r.tasks(t)[0].SessionID})
}

func badInputIsToldClearly(t *testing.T, r *serverFixture) {
	t.Helper()
	dead := deadAddress(t)
	usual := map[string]any{}
	for _, b := range badInputs(dead) {
		for key := range b.set {
			usual[key] = nil
		}
	}
	usual[keyServer] = r.model.BaseURL()
	usual[keyPerHour], usual["interaction.tasks.maxPerHourPerGuild"], usual[keyModel] = 600, 600, scriptedModel
	r.findsFerry(t, discordtest.Args{})
	session := r.tasks(t)[0].SessionID // each of these blunders begins another one, if it gets so far
	for _, b := range badInputs(dead) {
		t.Run(b.name, func(t *testing.T) {
			r.script.Set(b.say)
			r.updateSettings(b.set)
			m := b.do(t, r)
			said := strings.ReplaceAll(m.Content, `\`, "") // as people see it
			t.Log(said)
			checkPlainWords(t, said, b.want)
			if n := strings.Count(said, "did not work"); n > 1 {
				t.Errorf("it was said %d times that it did not work", n)
			}
			if m.HasButton("Stop") {
				t.Error("there is still a button to stop")
			}
			r.updateSettings(usual)
			r.findsFerry(t, discordtest.Args{"session": session})
		})
	}
}

// findsFerry fails the test unless a task succeeds.
func (r *serverFixture) findsFerry(t *testing.T, args discordtest.Args) {
	t.Helper()
	args["task"] = "find the ferry"
	r.script.Set([]llmtest.Turn{openPage(r.site.URL), answering("The %s.", `ferry at 10:40`)})
	if got := r.command(t, r.ada, args).Content; firstOutputLine(got) != "The ferry at 10:40." {
		t.Errorf("the next task is answered with %q", got)
	}
}
