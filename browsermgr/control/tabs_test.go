package control_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/profile"

	"github.com/google/go-cmp/cmp"
)

// listed are the tabs as the server lists them.
func (c *client) listed() []map[string]any {
	c.tb.Helper()
	var out []map[string]any
	list, _ := c.ok("GET", "/tabs", nil).body["tabs"].([]any)
	for _, t := range list {
		out = append(out, t.(map[string]any))
	}
	return out
}

func TestTabsAreOpenedNamedFocusedAndClosed(t *testing.T) {
	c := serve(t, nil)
	first := c.ok("POST", "/tabs/open", map[string]any{"url": site + "/", "label": "shop"})
	if first.str("suggestedTargetId") != "shop" || first.str("resolvedProfile") != profile.DefaultName || first.str("title") != "Start" {
		t.Errorf("opened: %s", first.text)
	}
	second := c.ok("POST", "/tabs/open", map[string]any{"url": site + "/two"})
	if second.str("suggestedTargetId") != second.str("tabId") || second.str("type") != "page" {
		t.Errorf("opened: %s", second.text)
	}
	// What is named by nothing is what was used last: the second, until the first is in the front.
	if got := c.ok("GET", "/text", nil).str("text"); !strings.Contains(got, "Second page") {
		t.Errorf("text of the tab opened last: %q", got)
	}
	if got := c.ok("POST", "/tabs/focus", map[string]any{"targetId": "shop"}).str("targetId"); got != first.str("targetId") {
		t.Errorf("focus: got %q", got)
	}
	if got := c.ok("GET", "/text", nil).str("url"); got != site+"/" {
		t.Errorf("url of the focused tab: %q", got)
	}
	moved := c.ok("POST", "/tabs/action", map[string]any{"action": "label", "targetId": second.str("tabId"), "label": "shop"})
	if tab, _ := moved.body["tab"].(map[string]any); tab["targetId"] != second.str("targetId") || tab["label"] != "shop" {
		t.Errorf("label: %s", moved.text)
	}
	prefix := strings.ToLower(second.str("targetId")[:12])
	if got := c.ok("DELETE", "/tabs/"+prefix, nil).str("targetId"); got != second.str("targetId") {
		t.Errorf("close by the beginning of the id: got %q", got)
	}
	if got := c.listed(); len(got) != 1 || got[0]["label"] != nil || got[0]["tabId"] != first.str("tabId") {
		t.Errorf("left: %v", got)
	}
}

func TestTabNamesThatDoNotFit(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	other := c.ok("POST", "/tabs/open", map[string]any{"url": site + "/two"})
	tabID := c.listed()[0]["tabId"]
	c.ok("POST", "/tabs/action", map[string]any{"action": "label", "targetId": other.str("targetId"), "label": tabID})
	for name, step := range map[string]struct {
		method, path string
		body         any
		status       int
		want         string
	}{
		"unknown":               {"GET", "/snapshot?targetId=nope", nil, 404, "tab not found"},
		"a number":              {"GET", "/snapshot?targetId=0", nil, 404, "numbers are not tab targets"},
		"a number in a body":    {"POST", "/tabs/focus", map[string]any{"targetId": 1}, 404, "numbers are not tab targets"},
		"two fit":               {"POST", "/tabs/focus", map[string]any{"targetId": tabID}, 409, "ambiguous"},
		"raw mode knows no tN":  {"DELETE", "/tabs/" + other.str("tabId") + "?targetIdMode=raw", nil, 404, "tab not found"},
		"another mode":          {"DELETE", "/tabs/" + target + "?targetIdMode=label", nil, 400, "targetIdMode"},
		"focus without":         {"POST", "/tabs/focus", map[string]any{}, 400, "targetId is required"},
		"no action":             {"POST", "/tabs/action", map[string]any{}, 400, "action is required"},
		"unknown action":        {"POST", "/tabs/action", map[string]any{"action": "explode"}, 400, "unknown tab action"},
		"select without index":  {"POST", "/tabs/action", map[string]any{"action": "select"}, 400, "index is required"},
		"select beyond the end": {"POST", "/tabs/action", map[string]any{"action": "select", "index": 7}, 404, "tab not found"},
		"select below zero":     {"POST", "/tabs/action", map[string]any{"action": "select", "index": -1}, 400, "index must be a non-negative integer."},
		"label without label":   {"POST", "/tabs/action", map[string]any{"action": "label", "targetId": target}, 400, "label is required"},
		"a label with a space":  {"POST", "/tabs/action", map[string]any{"action": "new", "label": "a b"}, 400, "label"},
		"open without url":      {"POST", "/tabs/open", map[string]any{}, 400, "url is required"},
		"open what is no URL":   {"POST", "/tabs/open", map[string]any{"url": "not a url"}, 400, "Invalid URL:"},
		"open a bare word":      {"POST", "/navigate", map[string]any{"url": "example"}, 400, "Invalid URL:"},
		"open a file":           {"POST", "/tabs/open", map[string]any{"url": "file:///etc/passwd"}, 400, "unsupported protocol"},
		"open a script":         {"POST", "/navigate", map[string]any{"url": "javascript:alert(1)"}, 400, "unsupported protocol"},
		"open with a password":  {"POST", "/tabs/open", map[string]any{"url": "http://ada:pw@127.0.0.1/"}, 400, "Invalid URL:"},
		"open no host":          {"POST", "/navigate", map[string]any{"url": "http:///x"}, 400, "Invalid URL:"},
	} {
		if a := c.do(step.method, step.path, step.body); a.status != step.status || !strings.Contains(a.str("error"), step.want) {
			t.Errorf("%s: got %d %s, want %d %q", name, a.status, a.text, step.status, step.want)
		}
	}
	if got := len(c.listed()); got != 2 {
		t.Errorf("%d tabs are open, want the same 2", got)
	}
}

func TestTabsByPosition(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	second := c.open("/two")
	if got := c.ok("POST", "/tabs/action", map[string]any{"action": "select", "index": "1"}).str("targetId"); got != second {
		t.Errorf("select: got %q, want %q", got, second)
	}
	list := c.ok("POST", "/tabs/action", map[string]any{"action": "list"})
	if tabs, _ := list.body["tabs"].([]any); len(tabs) != 2 {
		t.Errorf("list: %s", list.text)
	}
	created := c.ok("POST", "/tabs/action", map[string]any{"action": "new", "label": "empty"})
	if tab, _ := created.body["tab"].(map[string]any); tab["url"] != "about:blank" || tab["suggestedTargetId"] != "empty" {
		t.Errorf("new: %s", created.text)
	}
	first := c.listed()[0]["targetId"]
	if got := c.ok("POST", "/tabs/action", map[string]any{"action": "close"}).str("targetId"); got != first {
		t.Errorf("close without index: got %q, want the first, %q", got, first)
	}
}

func TestABrowserThatDoesNotRunIsNotStartedByListing(t *testing.T) {
	c := serve(t, nil)
	list := c.ok("GET", "/tabs?profile=asleep", nil)
	if list.body["running"] != false || len(list.body["tabs"].([]any)) != 0 {
		t.Errorf("tabs: %s", list.text)
	}
	for _, step := range [][2]string{{"POST", "/tabs/focus"}, {"DELETE", "/tabs/t1"}} {
		a := c.do(step[0], step[1]+"?profile=asleep", map[string]any{"targetId": "t1"})
		if a.status != http.StatusConflict || !strings.Contains(a.str("error"), "browser not running") {
			t.Errorf("%v: got %d %s, want 409", step, a.status, a.text)
		}
	}
	if slices.ContainsFunc(shared.Status(), func(s browsermgr.BrowserStatus) bool { return s.Profile == "asleep" && s.Running }) {
		t.Error("the browser runs")
	}
}

func TestATabIsOpenedWhereThereIsNone(t *testing.T) {
	c := serve(t, nil)
	closeTabs(t.Context(), t)
	a := c.ok("POST", "/navigate", map[string]any{"url": site + "/two"})
	if a.str("url") != site+"/two" || len(c.listed()) != 1 {
		t.Errorf("navigate: %s; tabs: %v", a.text, c.listed())
	}
	if got := c.ok("GET", "/snapshot", nil).str("targetId"); got != a.str("targetId") {
		t.Errorf("the snapshot is of %q, want %q", got, a.str("targetId"))
	}
}

func TestNavigationTellsWhatFailed(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	a := c.do("POST", "/navigate", map[string]any{"url": site + "/silent", "timeoutMs": 1000})
	if a.status != http.StatusInternalServerError || !strings.Contains(a.str("error"), "did not answer within 1s") {
		t.Errorf("a silent server: got %d %s", a.status, a.text)
	}
	a = c.do("POST", "/navigate", map[string]any{"url": "http://127.0.0.1:1/", "targetId": target})
	if a.status != http.StatusInternalServerError || a.str("error") == "" {
		t.Errorf("a closed port: got %d %s", a.status, a.text)
	}
	a = c.do("POST", "/navigate", map[string]any{"url": site, "timeoutMs": "1s"})
	if a.status != http.StatusBadRequest || !strings.Contains(a.str("error"), "timeoutMs must be a positive integer.") {
		t.Errorf("a malformed limit: got %d %s", a.status, a.text)
	}
	// What failed to open leaves no tab behind.
	before := len(c.listed())
	if a := c.do("POST", "/tabs/open", map[string]any{"url": "http://127.0.0.1:1/"}); a.status == http.StatusOK {
		t.Errorf("open a closed port: got %s", a.text)
	}
	if got := len(c.listed()); got != before {
		t.Errorf("%d tabs, want %d", got, before)
	}
}

func TestNumbersOfTabsAreNotUsedAgain(t *testing.T) {
	c := serve(t, nil)
	seen := map[any]bool{}
	for range 3 {
		target := c.open("/")
		id := c.listed()[0]["tabId"]
		if seen[id] {
			t.Errorf("%v names a second tab", id)
		}
		seen[id] = true
		c.ok("DELETE", "/tabs/"+target, nil)
	}
	if diff := cmp.Diff(3, len(seen)); diff != "" {
		t.Error(diff)
	}
}
