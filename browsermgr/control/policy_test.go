package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/control"
	"clank/internal/test/check"
)

// fakePolicy refuses addresses with a word in them, and reports the refusals set by a test.
type fakePolicy struct {
	mu      sync.Mutex
	word    string
	refused error // what a document was refused for, told once
	stuck   bool  // checks end with their context
	err     error // checks fail
	asked   []string
	watched []string // targets of the tabs in which requests act
}

// acting reports whether a request acts in the tab with that target.
func (p *fakePolicy) acting(target string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.watched, target)
}

// next reports whether the policy was called since, so that a request is in progress.
func (p *fakePolicy) next() func() bool {
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.asked)
	}
	before := count()
	return func() bool { return count() > before }
}

func (p *fakePolicy) set(word string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.word = word
}

func (p *fakePolicy) Allow(ctx context.Context, profile, address string) error {
	p.mu.Lock()
	p.asked = append(p.asked, profile+" "+address)
	word, stuck := p.word, p.stuck
	p.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	if word != "" && strings.Contains(address, word) {
		return errors.New("Navigation blocked: " + address + " is on the list")
	}
	return p.err
}

func (p *fakePolicy) Watch(_, target string) func(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched = append(p.watched, target)
	return func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.Index(p.watched, target)
		p.watched = slices.Delete(p.watched, i, i+1)
		refused := p.refused
		p.refused = nil
		return refused
	}
}

func refusedByPolicy(t *testing.T, what string, a answer) {
	t.Helper()
	if a.status != 400 || a.str("reason") != "navigation_blocked" ||
		!strings.Contains(a.str("error"), "avigation blocked") {
		t.Errorf("%s: got %d %s, want 400 navigation_blocked", what, a.status, a.text)
	}
}

func guarded(t *testing.T, p *fakePolicy) *client {
	t.Helper()
	return serve(t, func(s *control.Server) { s.Policy = p })
}

func TestRefusedAddressesAreNotGoneTo(t *testing.T) {
	p := &fakePolicy{word: "secret"}
	c := guarded(t, p)
	target := c.open("/")
	refusedByPolicy(t, "open", c.do("POST", "/tabs/open", map[string]any{"url": site + "/secret"}))
	refusedByPolicy(t, "navigate", c.do("POST", "/navigate", map[string]any{"url": site + "/secret"}))
	refusedByPolicy(t, "a file", c.do("POST", "/navigate", map[string]any{"url": "file:///x"}))
	if tabs := c.listed(); len(tabs) != 1 || tabs[0]["url"] != site+"/" {
		t.Errorf("tabs: %v", tabs)
	}
	// A refusal before the browser is asked starts none.
	refusedByPolicy(t, "a sleeping profile",
		c.do("POST", "/tabs/open?profile=asleep", map[string]any{"url": site + "/secret"}))
	if a := c.ok("GET", "/tabs?profile=asleep", nil); a.body["running"] != false {
		t.Errorf("the browser was started: %s", a.text)
	}
	check.Equal(t, "tab used last", c.ok("GET", "/text", nil).str("targetId"), target)
}

func TestALoadThatEndsWhereItMayNotClosesTheTab(t *testing.T) {
	p := &fakePolicy{word: "secret"}
	c := guarded(t, p)
	keep := c.open("/")
	refusedByPolicy(t, "open", c.do("POST", "/tabs/open", map[string]any{"url": site + "/redirect"}))
	check.Equal(t, "tabs", len(c.listed()), 1)
	target := c.open("/two")
	refusedByPolicy(t, "navigate",
		c.do("POST", "/navigate", map[string]any{"url": site + "/redirect", "targetId": target}))
	if tabs := c.listed(); len(tabs) != 1 || tabs[0]["targetId"] != keep {
		t.Errorf("tabs: %v", tabs)
	}
}

func TestATabThatWentWhereItMayNotIsInQuarantine(t *testing.T) {
	p := &fakePolicy{word: "secret"}
	c := guarded(t, p)
	target := c.open("/leaves")
	ref := c.ref(target, "Leave")
	refusedByPolicy(t, "click", c.do("POST", "/act", map[string]any{"kind": "click", "ref": ref}))
	for what, a := range map[string]answer{
		"snapshot": c.do("GET", "/snapshot?targetId="+target, nil),
		"text":     c.do("GET", "/text?targetId="+target, nil),
		"act": c.do("POST", "/act", map[string]any{
			"kind": "evaluate", "fn": "document.body.innerText",
			"targetId": target,
		}),
		"focus": c.do("POST", "/tabs/focus", map[string]any{"targetId": target}),
	} {
		if a.status != 409 || a.str("reason") != "navigation_blocked" || !strings.Contains(a.str("error"), "quarantine") {
			t.Errorf("%s: got %d %s, want 409 navigation_blocked", what, a.status, a.text)
		}
	}
	if tabs := c.listed(); len(tabs) != 1 || tabs[0]["url"] != "" ||
		tabs[0]["urlUnavailableReason"] != "navigation_blocked" {
		t.Errorf("listed: %v", tabs)
	}
	c.ok("POST", "/navigate", map[string]any{"url": site + "/two", "targetId": target})
	check.Contains(t, c.ok("GET", "/text?targetId="+target, nil).str("text"), "Second page")
}

func TestARefusedDocumentIsToldThoughTheTabStayed(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/")
	p.mu.Lock()
	p.refused = errors.New("a frame of metadata.internal was refused")
	p.mu.Unlock()
	a := c.do("POST", "/act", map[string]any{"kind": "press", "key": "a"})
	refusedByPolicy(t, "press", a)
	if !strings.HasPrefix(a.str("error"), "browser navigation blocked by policy") {
		t.Errorf("got %q", a.str("error"))
	}
	check.Equal(t, "tab used last", c.ok("GET", "/text", nil).str("targetId"), target)
}

// The proxy responds with 403 to a document request that it refuses, at the requested address.
func TestAPageThatIsRefusedItselfIsClosed(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	keep := c.open("/")
	forbidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "refused by the rules", http.StatusForbidden) // without a body Chromium shows a page of its own
	}))
	t.Cleanup(forbidden.Close)
	for _, route := range []string{"/tabs/open", "/navigate"} {
		p.mu.Lock()
		p.refused = errors.New("it leads to a private address")
		p.mu.Unlock()
		refusedByPolicy(t, route, c.do("POST", route, map[string]any{"url": forbidden.URL}))
		tabs := c.listed()
		if route == "/tabs/open" && (len(tabs) != 1 || tabs[0]["targetId"] != keep) || route == "/navigate" &&
			len(tabs) != 0 {
			t.Errorf("%s: tabs %v", route, tabs)
		}
	}
}

func TestACheckThatDoesNotEndIsNoRefusal(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	c.open("/")
	p.mu.Lock()
	p.stuck = true
	p.mu.Unlock()
	if tabs := c.listed(); len(tabs) != 1 || tabs[0]["urlUnavailableReason"] != "navigation_check_failed" ||
		tabs[0]["url"] != "" {
		t.Errorf("listed: %v", tabs)
	}
}

func TestRoutesThatReadOrWorkAPageAreGuarded(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/two")
	c.ok("POST", "/storage/local/set", map[string]any{"key": "k", "value": "v"})
	c.ok("POST", "/cookies/set", map[string]any{"cookie": map[string]any{"name": "crumb", "value": "1", "url": site}})
	c.ok("POST", "/trace/start", nil)
	index := slices.IndexFunc(c.listed(), func(tab map[string]any) bool { return tab["targetId"] == target })
	p.set("two")
	for _, step := range []struct{ route, body string }{
		{"GET /console?clear=1", ""},
		{"GET /errors?clear=1", ""},
		{"GET /requests?clear=1", ""},
		{"GET /har", ""},
		{"GET /cookies", ""},
		{"GET /storage/local", ""},
		{"GET /snapshot", ""},
		{"GET /snapshot?format=aria", ""},
		{"GET /text", ""},
		{"GET /screencast", ""},
		{"POST /cookies/clear", ""},
		{"POST /storage/local/clear", ""},
		{"POST /storage/local/set", `{"key":"k","value":"changed"}`},
		{"POST /pdf", ""},
		{"POST /screenshot", ""},
		{"POST /response/body", `{"url":"**"}`},
		{"POST /wait/download", ""},
		{"POST /download", `{"ref":"e1","path":"refused.txt"}`},
		{"POST /download", `{"currentDocument":true,"expectedUrl":"` + site + `/two","path":"refused.txt"}`},
		{"POST /act", `{"kind":"evaluate","fn":"document.title = 'ran'"}`},
		{"POST /act", `{"kind":"batch","actions":[{"kind":"evaluate","fn":"document.title = 'ran'"}]}`},
		{"POST /act", `{"kind":"click","selector":"a"}`},
		{"POST /highlight", `{"ref":"e1"}`},
		{"POST /trace/start", ""},
		{"POST /trace/stop", ""},
		{"POST /tabs/focus", `{"targetId":"` + target + `"}`},
		{"POST /tabs/action", fmt.Sprintf(`{"action":"select","index":%d}`, index)},
	} {
		method, path, _ := strings.Cut(step.route, " ")
		refusedByPolicy(t, step.route, c.do(method, path, step.body))
	}
	c.ok("POST", "/act", `{"kind":"resize","width":640,"height":480}`)
	p.set("")
	a := c.ok("POST", "/act",
		map[string]any{"kind": "evaluate", "targetId": target, "fn": "[document.title, localStorage.getItem('k'), " +
			"document.cookie, innerWidth].join()"})
	if a.body["result"] != "Two,v,crumb=1,640" {
		t.Errorf("what was refused has been done: %s", a.text)
	}
	c.ok("POST", "/trace/stop", nil)
	c.ok("POST", "/cookies/clear", nil)
	c.ok("POST", "/storage/local/clear", nil)
	p.set("two")
	c.ok("POST", "/act", map[string]any{"kind": "close", "targetId": target})
}

func TestAPageThatShowsADialogIsGuardedToo(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/ask")
	c.ok("POST", "/act", map[string]any{"kind": "click", "ref": c.ref(target, "Ask")})
	p.set("ask")
	refusedByPolicy(t, "snapshot", c.do("GET", "/snapshot", nil))
	p.set("")
	if a := c.ok("GET", "/snapshot", nil); a.body["blockedByDialog"] != true {
		t.Errorf("snapshot: %s", a.text)
	}
	if a := c.ok("POST", "/act", map[string]any{"kind": "press", "key": "a"}); a.body["notDone"] != true {
		t.Errorf("press while the dialog is open: %s", a.text)
	}
	c.ok("POST", "/hooks/dialog", map[string]any{"accept": true})
}

func TestAddressesAreJudgedBeforeAnybodyGoesThere(t *testing.T) {
	for name, c := range map[string]struct {
		policy        control.Policy
		address, want string
		status        int // 0: it may be gone to
		blocked       bool
	}{
		"a whole one":    {nil, "HTTPS://Example.com", "https://Example.com", 0, false},
		"the blank page": {&fakePolicy{word: "blank"}, "About:Blank", "about:blank", 0, false},
		"an allowed one": {
			&fakePolicy{word: "evil"}, "http://example.com/x", "http://example.com/x",
			0, false,
		},
		"one without a scheme":         {nil, "example.com", "Invalid URL", 400, false},
		"one without a host":           {nil, "http:///x", "Invalid URL", 400, false},
		"one that is read in two ways": {nil, "http://good.example\\@evil.example/", "Invalid URL", 400, false},
		"one with a key": {
			nil, "https://example.com/?Api_Key=0f2c", "looks like a secret", 400,
			false,
		},
		"one with a word that looks like a key's": {
			nil, "https://example.com/?q=token", "https://example.com/?q=token", 0,
			false,
		},
		"a port that nothing has": {nil, "http://example.com:0/", "browser navigation blocked by " +
			"policy: port 0", 400, true},
		"this machine without a policy": {nil, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/", 0, false},
		"one with a password":           {nil, "http://a:b@example.com/", "/set/credentials", 400, false},
		"a file": {
			nil, "file:///etc/passwd", "Navigation blocked: unsupported protocol",
			400, true,
		},
		"a refused one": {
			&fakePolicy{word: "evil"}, "http://evil.example/",
			"avigation blocked: http://evil.example/ is on the list", 400, true,
		},
		"a check that ends": {
			&fakePolicy{err: context.DeadlineExceeded}, "http://example.com/",
			"check http://example.com/ against", 500, false,
		},
	} {
		tabs := &control.TabRegistry{Policy: c.policy}
		got, err := tabs.CheckAddress(t.Context(), "p", c.address)
		if err == nil {
			if c.status != 0 || got != c.want {
				t.Errorf("%s: got %q, want %q with status %d", name, got, c.want, c.status)
			}
			continue
		}
		if f := control.ClassifyError(err); f.Status != c.status || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %d %v, want %d %q", name, f.Status, err, c.status, c.want)
		}
		check.Equal(t, name+": blocked", control.IsNavigationBlocked(err), c.blocked)
	}
	if control.IsNavigationBlocked(&control.StatusError{Status: http.StatusBadRequest, Err: errors.New("x")}) {
		t.Error("any failure counts as the policy's")
	}
}
