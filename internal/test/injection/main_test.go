package injection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"testing"

	"clank/browseagent"
	"clank/browseagent/browsertool"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/profile"
	"clank/llm"
	"clank/sessions"
)

const token = "the-secret-of-the-tests"

// The whole test binary has one browser, a control API in front of it, and a
// site with a page for each attack.
var (
	manager *browsermgr.Manager
	api     *browsertool.APIClient
	tool    *browsertool.Session
	site    string
	attacks = corpus()
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need Chromium:", err)
		return 1
	}
	features := &control.Features{Dir: home}
	manager = &browsermgr.Manager{
		NewObservers: features.Observe,
		Home:         home, FirstPort: 18930, LastPort: 18939,
		Config: func() profile.Config { return profile.Config{Executable: exe.Path, Headless: new(true)} },
	}
	server := &control.Server{Manager: manager, Features: features, Addr: "127.0.0.1:0", Secrets: control.Secrets{Token: token}}
	if err := errors.Join(manager.Open(ctx), server.Open(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = errors.Join(server.Close(ctx), manager.Close(ctx)) }()
	api = &browsertool.APIClient{URL: server.URL(), Token: token}
	host := &browsertool.Target{API: api, Media: []string{home}}
	tool = &browsertool.Session{Tool: &browsertool.Tool{Targets: browsertool.Targets{Host: host, AllowHostControl: true}}}
	pages := httptest.NewServer(http.HandlerFunc(serve))
	defer pages.Close()
	site = pages.URL
	return m.Run()
}

func serve(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil || n >= len(attacks) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!doctype html>", attacks[n].body)
}

// windows lets the agent work the browser.
type windows struct{}

func (windows) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, bool, error) {
	w, restored, err := manager.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL})
	if err != nil {
		return nil, false, err
	}
	return w, restored, nil
}

func (windows) Close(ctx context.Context, key string) error {
	w, ok := manager.Lookup(key)
	if !ok {
		return nil
	}
	return w.Close(ctx)
}

// script is a model that makes these calls, one after the other, and keeps what
// it is told. "REF" in an input stands for the ref of the button Go.
type script struct {
	calls []llm.ToolCall
	told  []string
}

func (*script) Name() string   { return "test:script" }
func (*script) Caps() llm.Caps { return llm.Caps{Tools: true} }

func (s *script) Generate(_ context.Context, req llm.Request, _ func(llm.Delta)) (llm.Reply, error) {
	if last := req.Messages[len(req.Messages)-1]; last.Role == llm.RoleUser {
		for _, p := range last.Parts {
			if p.Result != nil {
				s.told = append(s.told, p.Result.Text)
			}
		}
	}
	n := len(s.told)
	if n == len(s.calls) {
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "done"}}}, Stop: llm.StopEnd}, nil
	}
	call := s.calls[n]
	call.ID = fmt.Sprintf("call%d", n)
	if n > 0 {
		call.Input = json.RawMessage(insertGoRef(string(call.Input), s.told[0]))
	}
	return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}, Stop: llm.StopTools}, nil
}

// runInAgent has the agent loop make calls and returns what its model is told.
func runInAgent(t *testing.T, key string, calls []llm.ToolCall) []string {
	t.Helper()
	m := &script{calls: slices.Clone(calls)}
	a := &browseagent.Agent{
		Browser: windows{}, Model: func(context.Context, string) (llm.Model, error) { return m, nil },
		Settings: func() browseagent.Settings {
			return browseagent.Settings{HistoryChars: 1 << 24, HistorySnapshots: 50, SnapshotChars: 60_000}
		},
	}
	for step, err := range a.Run(t.Context(), sessions.Session{ID: key}, sessions.Task{ID: "t", Prompt: "look"}) {
		if err != nil {
			t.Fatalf("step %d: %v", step.N, err)
		}
	}
	return m.told
}

// runInTool has the tool make a call and returns its result.
func runInTool(t *testing.T, in string) browsertool.Result {
	t.Helper()
	r, err := tool.Run(t.Context(), json.RawMessage(in))
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return r
}
