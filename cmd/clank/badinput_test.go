package main

import (
	"encoding/json"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/llm/llmtest"
)

// The settings that these tests change.
const (
	keyServer   = "agentStack.runtimeConfig.models.compatibleBaseUrl"
	keyModel    = "agentStack.runtimeConfig.browser.localBrowserAgent.execution.model"
	keyStepTime = "agentStack.runtimeConfig.browser.localBrowserAgent.stepTimeoutMs"
	keyBrain    = "interaction.brain.model"
)

const scriptedModel = "compatible:scripted"

// deadAddress is an address of this machine at which nothing listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// willing is a model that does the next task well, whatever it is: it opens the
// page and reads out what it finds.
func willing(url string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		last := req.Messages[len(req.Messages)-1].Parts
		if last[len(last)-1].Result != nil {
			return answering("The %s.", `ferry at 10:40`)(req)
		}
		return openPage(url)(req)
	}
}

// counter is a running clank to which people bring tasks from a terminal.
type counter struct {
	home    string
	environ []string
	site    *site
	dead    string // an address that refuses connections
	good    *llmtest.Server
	client  *dashboard.Client
}

func openCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{site: newSite(t), dead: deadAddress(t), good: llmtest.NewServer(t)}
	c.good.Otherwise(willing(c.site.URL))
	strict := llmtest.NewServer(t)
	strict.Otherwise(llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: "+testKey+". You can find your API key at https://platform.openai.com/account/api-keys."))
	c.home, c.environ = newPlace(t)
	c.environ = append(c.environ, "OPENAI_BASE_URL="+strict.BaseURL(), "OPENAI_API_KEY="+testKey)
	serving(t, c.home, c.environ)
	h := &home{dir: c.home}
	a, found, err := h.server()
	if err != nil || !found {
		t.Fatal("no server in the home: ", err)
	}
	token, err := dashboard.ReadToken(h.tokenFile())
	if err != nil {
		t.Fatal(err)
	}
	c.client = &dashboard.Client{Base: a.URL, Token: token}
	return c
}

// set changes settings of the running server; nil is the default.
func (c *counter) set(t *testing.T, values map[string]any) {
	t.Helper()
	now, err := c.client.Settings(waiting(t))
	if err != nil {
		t.Fatal(err)
	}
	change := dashboard.SettingsChange{Changes: map[string]json.RawMessage{}, Version: &now.Version}
	for key, v := range values {
		if change.Changes[key], err = json.Marshal(v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.client.ChangeSettings(waiting(t), change); err != nil {
		t.Fatal(err)
	}
}

// mishap is a task that cannot go well.
type mishap struct {
	name  string
	task  string   // "find the ferry" if empty
	flags []string // without a model: the scripted one
	set   map[string]any
	turns []llmtest.Turn // what the scripted model says
	tail  llmtest.Turn   // what it says after those, again and again
	code  int
	out   string   // in the answer
	want  []string // what the person must be told
}

// call is a turn that calls a tool with arguments as they are.
func call(tool, arguments string) llmtest.Turn { return llmtest.Use(tool, arguments) }

func (c *counter) mishaps() []mishap {
	plain := []string{"--model", "plain:steps"}
	long := strings.Repeat("Find the ferry. ", 625)
	return []mishap{
		{name: "unknown host", flags: plain, task: "open no-such-host.invalid, read"},
		{name: "not a URL", flags: plain, task: "open http://not a url, read"},
		{name: "not a URL, plain word", flags: plain, task: "open ferry"},
		{name: "other scheme", flags: plain, task: "open file:///etc/passwd, read"},
		{name: "site refuses connections", flags: plain, task: "open http://" + c.dead + "/, read"},
		{name: "page answers 500", flags: plain, task: "open " + c.site.URL + "/broken, read"},
		{name: "words plain does not understand", flags: plain, task: "find me a cheap flight"},
		{name: "unknown host, told to a model", turns: []llmtest.Turn{openPage("no-such-host.invalid"), llmtest.Say("There is no such host.")}},
		{name: "site refuses connections, told to a model", turns: []llmtest.Turn{openPage("http://" + c.dead), llmtest.Say("It refuses.")}},
		{name: "not a URL, told to a model", turns: []llmtest.Turn{openPage("ferry times"), llmtest.Say("That is no address.")}},
		{name: "page answers 500, told to a model", turns: []llmtest.Turn{openPage(c.site.URL + "/broken"), llmtest.Say("The page is broken.")}},
		{name: "wrong key", flags: []string{"--model", "openai:gpt-5.6"}},
		{name: "wrong key of an own server", tail: llmtest.Fail(401, "", "Unauthorized")},
		{name: "no such model", turns: []llmtest.Turn{llmtest.Fail(404, "model_not_found", "The model `scripted` does not exist")}},
		{name: "no such provider", flags: []string{"--model", "gemini:pro"}},
		{name: "no model in the name", flags: []string{"--model", "compatible:"}},
		{name: "no server set", set: map[string]any{keyServer: nil}},
		{name: "nothing at the server's address", set: map[string]any{keyServer: "http://" + c.dead + "/v1"}},
		{name: "server's address without /v1", set: map[string]any{keyServer: strings.TrimSuffix(c.good.BaseURL(), "/v1")}},
		{name: "model never answers", set: map[string]any{keyStepTime: 5000}, turns: []llmtest.Turn{llmtest.Misbehave("", llmtest.Fault{Hang: llmtest.BeforeHeaders})}},
		{name: "model is cut off", tail: llmtest.Misbehave("so far so good, and on it goes", llmtest.Fault{Cut: llmtest.CutReset, At: 3})},
		{name: "model reports an error in its stream", tail: llmtest.Misbehave("so far so good", llmtest.Fault{StreamError: "the GPU caught fire", At: 2})},
		{name: "model's server is ill", tail: llmtest.Fail(500, "", "internal error")},
		{name: "model is overloaded", tail: llmtest.Fail(429, "", "slow down")},
		{name: "broken arguments", tail: call("browser_open", `{"url": "http://`)},
		{name: "unknown tool", tail: call("browser_fly", `{}`)},
		{name: "missing field", tail: call("browser_open", `{}`)},
		{name: "broken arguments, once", turns: []llmtest.Turn{call("browser_open", `{"url": "`), openPage(c.site.URL)}, tail: llmtest.Say("found")},
		{name: "silent model", tail: llmtest.Say("")},
		{name: "task too long", task: long},
		{name: "empty task", task: "  \n "},
		{name: "unknown session", flags: []string{"--session", "nosuch"}},
		{name: "unknown runtime", flags: []string{"--runtime", "magic"}},
	}
}

// goOn is how a session to go on with is told.
var goOn = regexp.MustCompile(`--session ([a-z0-9]+)`)

func TestBadInputIsToldClearlyAndTheNextTaskWorks(t *testing.T) {
	c := openCounter(t)
	for _, m := range c.mishaps() {
		t.Run(m.name, func(t *testing.T) {
			model := llmtest.NewServer(t, m.turns...)
			if m.tail != nil {
				model.Otherwise(m.tail)
			}
			change := map[string]any{keyServer: model.BaseURL()}
			for key, v := range m.set {
				change[key] = v
			}
			c.set(t, change)
			p := c.browse(t, m.task, m.flags)
			c.judge(t, m, p)
			c.set(t, map[string]any{keyServer: c.good.BaseURL(), keyStepTime: nil})
			c.nextWorks(t, p)
		})
	}
}

func (c *counter) browse(t *testing.T, task string, flags []string) *program {
	t.Helper()
	if task == "" {
		task = "find the ferry"
	}
	if !slices.Contains(flags, "--model") {
		flags = append(flags, "--model", scriptedModel)
	}
	p := start(t, c.home, c.environ, append(append([]string{"browse"}, flags...), "--", task)...)
	p.code(t)
	return p
}

// judge holds what a person was told against what they must be told.
func (c *counter) judge(t *testing.T, m mishap, p *program) {
	t.Helper()
	t.Logf("exit %d\nstderr: %s\nstdout: %s", p.code(t), p.stderr.text(), p.stdout.text())
}

// nextWorks fails the test unless the next task is done well, in the session
// of the one before if there is one.
func (c *counter) nextWorks(t *testing.T, before *program) {
	t.Helper()
	var flags []string
	if id := goOn.FindStringSubmatch(before.stderr.text()); id != nil {
		flags = []string{"--session", id[1]}
	}
	next := c.browse(t, "", flags)
	if got, want := next.stdout.text(), "The ferry at 10:40.\n"; next.code(t) != exitDone || got != want {
		t.Errorf("the next task: exit code %d, answer %q, want %q", next.code(t), got, want)
	}
}
