package injection_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"clank/browseagent"
	"clank/browseagent/browsertool"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"golang.org/x/text/unicode/norm"
)

var (
	boundary = regexp.MustCompile(
		`(?s)<<<EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>\nSource: Browser\n---\n(.*?)\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{16})">>>`)
	ours      = regexp.MustCompile(`^(error|note|url|title|page|page changes|text|links|tabs):`)
	goButton  = regexp.MustCompile(`(?m)^ *- button "Go" \[ref=(\w+)\]`)
	smuggling = regexp.MustCompile(
		"[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2060-\u2064\ufeff\u3164\u180b-\u180f\U000e0000-\U000e0fff]")
	fetched = regexp.MustCompile("(?im)!\\[|<(?:img|svg)\\b|^[\\s`\"'*>-]*media[ \\t]*:|\\[\\[(?:media|audio)")
)

var otherHalf = flag.Bool("other", false, "show every page to the tool and to the agent loop, not only each twentieth")

// insertGoRef puts the ref of the button Go, as a result shows it, into an input.
func insertGoRef(input, result string) string {
	if m := goButton.FindStringSubmatch(result); m != nil {
		return strings.ReplaceAll(input, "REF", m[1])
	}
	return input
}

// foldLetters returns a second opinion on what a text reads as: Unicode's compatibility form, letters and digits only.
func foldLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(s))
}

// checkBoundaries checks that a result's boundaries hold byte for byte, and returns what stands between the markers.
func checkBoundaries(t *testing.T, what, text string) (inside []string) {
	t.Helper()
	if strings.Count(text, knownID) > 0 && !strings.Contains(text, "SANITIZED") {
		t.Errorf("%s: a forged id is left: %.300q", what, text)
	}
	found := boundary.FindAllStringSubmatch(text, -1)
	for _, m := range found {
		if m[1] != m[3] || m[1] == knownID {
			t.Errorf("%s: a boundary does not end with its own marker: %.200q", what, m[0])
		}
		inside = append(inside, m[2])
	}
	if n := strings.Count(foldLetters(text), "externaluntrustedcontent"); len(found) == 0 || n != 2*len(found) {
		t.Errorf("%s: %d boundaries and %d markers: %.2000q", what, len(found), n, text)
	}
	if rest := boundary.ReplaceAllString(text, ""); strings.Contains(rest, canary) {
		t.Errorf("%s: the page speaks outside of a boundary: %.500q", what, rest)
	}
	check.Equal(t, what+": came through", smuggling.FindString(text), "")
	check.Equal(t, what+": came through", fetched.FindString(text), "")
	return inside
}

func TestNoPageLeavesItsBoundaryInTheTool(t *testing.T) {
	if testing.Short() {
		t.Skip("many cases, one after the other")
	}
	t.Parallel()
	tab := ""
	for n, a := range attacks {
		if n%20 > 0 && !*otherHalf {
			continue
		}
		address := fmt.Sprintf("%s/%d", site, n)
		in := fmt.Sprintf(`{"action":"navigate","url":%q,"targetId":%q}`, address, tab)
		if tab == "" {
			in = fmt.Sprintf(`{"action":"open","url":%q}`, address)
		}
		r := runInTool(t, in)
		if r.IsError {
			t.Fatalf("%s: %s", a.name, r.Text)
		}
		tab, _ = r.Details["targetId"].(string)
		results := map[string]string{"navigate": r.Text}
		looks := []string{"snapshot", "text"}
		if n%4 == 0 {
			looks = append(looks, "tabs")
		}
		for _, action := range looks {
			results[action] = runInTool(t, fmt.Sprintf(`{"action":%q,"targetId":%q}`, action, tab)).Text
		}
		switch a.act {
		case "click":
			click := fmt.Sprintf(`{"action":"act","kind":"click","ref":"REF","targetId":%q}`, tab)
			results["click"] = runInTool(t, insertGoRef(click, results["snapshot"])).Text
			if strings.HasPrefix(a.name, "spoken") {
				results["dialog"] = runInTool(t, fmt.Sprintf(`{"action":"dialog","accept":true,"targetId":%q}`, tab)).Text
			}
		case "console":
			for _, action := range []string{"console", "errors", "requests"} {
				results[action] = runInTool(t, fmt.Sprintf(`{"action":%q,"targetId":%q}`, action, tab)).Text
			}
		}
		for action, text := range results {
			checkBoundaries(t, a.name+", "+action, text)
		}
		if strings.HasPrefix(a.name, "ref") {
			noForgedRef(t, a.name, tab)
		}
	}
}

// noForgedRef checks that the control API knows no ref that a page has written.
func noForgedRef(t *testing.T, name, tab string) {
	t.Helper()
	status, raw, err := api.Call(t.Context(), http.MethodGet, "/snapshot", url.Values{"targetId": {tab}}, nil)
	var answer struct {
		Refs map[string]json.RawMessage `json:"refs"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(raw, &answer) != nil {
		t.Fatalf("%s: %d %v %.300s", name, status, err, raw)
	}
	if _, forged := answer.Refs["e666"]; forged {
		t.Errorf("%s: a ref was forged", name)
	}
}

func TestNoPageLeavesItsBoundaryInTheAgentLoop(t *testing.T) {
	t.Parallel()
	const lanes = 3 // windows that share the pages
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			for n := lane; n < len(attacks); n += lanes {
				if n%20 > 0 && !*otherHalf {
					continue
				}
				tryOnAgent(t, fmt.Sprintf("agent%d", lane), n)
			}
		})
	}
}

// tryOnAgent shows attack n to the agent loop.
func tryOnAgent(t *testing.T, key string, n int) {
	t.Helper()
	a, address := attacks[n], fmt.Sprintf("%s/%d", site, n)
	call := func(name, input string) llm.ToolCall {
		return llm.ToolCall{Name: "browser_" + name, Input: json.RawMessage(input)}
	}
	calls := []llm.ToolCall{call("open", fmt.Sprintf(`{"url":%q}`, address)), call("extract", `{}`)}
	if n%4 == 0 { // the same titles and names stand on many pages
		calls = append(calls, call("links", `{}`), call("tabs", `{"action":"list"}`))
	}
	if a.act == "click" {
		calls = append(calls, call("click", `{"ref":"REF"}`))
	}
	if strings.HasPrefix(a.name, "spoken") {
		calls = append(calls, call("dialog", `{"accept":true}`))
	}
	told := runInAgent(t, key, calls)
	if len(told) != len(calls) {
		t.Fatalf("%s: told %d times, want %d", a.name, len(told), len(calls))
	}
	for i, text := range told {
		what := a.name + ", " + calls[i].Name
		inside := checkBoundaries(t, what, text)
		if len(inside) != 1 {
			t.Errorf("%s: %d boundaries, want one", what, len(inside))
			continue
		}
		onlyOurHeadings(t, what, inside[0], address)
	}
}

// onlyOurHeadings checks that the lines at the margin that begin with our words are ours: no page is at another
// address, and nothing follows the one section.
func onlyOurHeadings(t *testing.T, what, inside, address string) {
	t.Helper()
	section := ""
	for line := range strings.SplitSeq(inside, "\n") {
		word := strings.TrimSuffix(ours.FindString(line), ":")
		switch {
		case word == "":
		case section != "":
			t.Errorf("%s: %.200q stands in the section %s", what, line, section)
		case word == "url" && line != "url: "+address:
			t.Errorf("%s: got %.200q, want %s", what, line, address)
		case word != "url" && word != "title" && word != "note" && word != "error":
			section = word
		}
	}
}

const token = "the-secret-of-the-tests"

// The whole test binary has one browser, a control API in front of it, and a site with a page for each attack.
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
		Config: func() profile.Config {
			return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true}
		},
	}
	server := &control.Server{
		Manager: manager, Features: features, Addr: "127.0.0.1:0",
		Secrets: control.Secrets{Token: token},
	}
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

func (windows) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	w, reopened, err := manager.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL})
	if err != nil {
		return nil, "", err
	}
	return w, reopened, nil
}

func (windows) Rest(string) {}

func (windows) Close(ctx context.Context, key string) error {
	w, ok := manager.Lookup(key)
	if !ok {
		return nil
	}
	return w.Close(ctx)
}

func (windows) Park(context.Context, string, bool) (bool, error) { return true, nil }

// script is a model that makes these calls, one after the other, and keeps what it is told. "REF" in an input stands
// for the ref of the button Go.
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
		return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "done"}}}, Stop: llm.StopEnd},
			nil
	}
	call := s.calls[n]
	call.ID = fmt.Sprintf("call%d", n)
	if n > 0 {
		call.Input = json.RawMessage(insertGoRef(string(call.Input), s.told[0]))
	}
	return llm.Reply{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &call}}}, Stop: llm.StopTools},
		nil
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
