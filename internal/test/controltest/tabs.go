package controltest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tabCases returns the cases in which tabs are opened, named, found, listed and closed.
func tabCases() []testCase {
	return append(requestCases([]requestCase{
		{
			Name: "an unknown action", Path: "/tabs/action", Body: m{"action": "shake"}, Status: 400,
			Contains: []string{"unknown tab action"},
		},
		{
			Name: "select without an index", Path: "/tabs/action", Body: m{"action": "select"}, Status: 400,
			Contains: []string{"index is required"},
		},
		{
			Name: "select beyond the end", Path: "/tabs/action", Page: "/plain", Body: m{"action": "select", "index": 99},
			Status: 404, Contains: []string{"tab not found"},
		},
		{
			Name: "a label of the wrong kind", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": "no spaces"},
			Status: 400,
		},
		{
			Name: "a label too long", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": strings.Repeat("x", 65)},
			Status: 400,
		},
		{
			Name: "a page that does not answer", Path: "/navigate", Body: m{"url": "SITE/stuck", "timeoutMs": 1000}, Status: 500,
			Reason: "timeout", Contains: []string{"did not answer within 1s"},
		},
		{Name: "close by a raw id only", Page: "/plain", Method: "DELETE", Path: "/tabs/t1?targetIdMode=raw", Status: 404},
		{Name: "an unknown way to name a tab", Method: "DELETE", Path: "/tabs/t1?targetIdMode=loose", Status: 400},
	}),
		testCase{Name: "a tab's life", Run: tabLife},
		testCase{Name: "all names of a tab", Run: tabNames},
		testCase{Name: "by position", Run: tabsByPosition},
		testCase{Name: "what does not open leaves no tab", Run: failedTab},
		testCase{Name: "a tab opened by a page is listed", Run: popupTabs},
		testCase{Name: "two clients work two tabs at once", Run: atOnce},
		testCase{Name: "sixteen opened at once stay open", Run: openedAtOnce},
		testCase{Name: "focus and list do not start a browser", Run: notStarted},
	)
}

func tabLife(s *suite) {
	t := s.newTab("/plain", "work")
	if t.Label != "work" || t.SuggestedTargetID != "work" || !strings.HasPrefix(t.TabID, "t") || t.Type != "page" ||
		t.URL != s.Site.URL+"/plain" {
		s.Fatalf("opened %+v", t)
	}
	if got := s.tab(t.TargetID); got == nil || got.Title != "Plain" || got.TabID != t.TabID {
		s.Fatalf("listed as %+v", got)
	}
	s.call("POST", "/tabs/focus", m{"targetId": t.TabID}, nil)
	s.call("POST", "/tabs/action", m{"action": "label", "targetId": t.TabID, "label": "other"}, nil)
	s.closeTab("other")
	if s.tab(t.TargetID) != nil {
		s.Fatalf("%s is still listed", t.TargetID)
	}
	s.send(requestCase{
		Method: "DELETE", Path: "/tabs/" + t.TargetID, Status: http.StatusNotFound,
		Contains: []string{"tab not found"},
	})
}

func tabNames(s *suite) {
	t := s.newTab("/other", "a:label.1")
	for _, name := range []string{
		t.TargetID, t.SuggestedTargetID, t.TabID, t.Label, t.TargetID[:12],
		strings.ToLower(t.TargetID[:12]),
	} {
		snap := s.snapshot("targetId=" + url.QueryEscape(name))
		s.wantEqual("target of "+name, snap.TargetID, t.TargetID)
	}
	s.closeOtherTabs()
}

func tabsByPosition(s *suite) {
	s.closeOtherTabs()
	s.newTab("/other", "")
	var got struct {
		TargetID string
		Tab      tabAnswer
	}
	s.call("POST", "/tabs/action", m{"action": "select", "index": "1"}, &got)
	s.wantEqual("the selected tab", got.TargetID, s.tabs()[1].TargetID)
	s.call("POST", "/tabs/action", m{"action": "new", "label": "empty"}, &got)
	if got.Tab.URL != "about:blank" || got.Tab.SuggestedTargetID != "empty" {
		s.Fatalf("new tab %+v", got.Tab)
	}
	first := s.tabs()[0].TargetID
	s.call("POST", "/tabs/action", m{"action": "close"}, &got)
	s.wantEqual("the closed tab", got.TargetID, first)
	s.closeOtherTabs()
}

func failedTab(s *suite) {
	before := len(s.tabs())
	s.send(requestCase{Path: "/tabs/open", Body: m{"url": "http://127.0.0.1:1/"}, Status: 500})
	s.wantEqual("tabs", len(s.tabs()), before)
}

func popupTabs(s *suite) {
	s.closeOtherTabs()
	s.openPage("/popup")
	s.click("a")
	s.waitUntil("the new tab in the list", func() bool {
		all := s.tabs()
		for _, t := range all {
			if t.URL == s.Site.URL+"/other" {
				return true
			}
		}
		return false
	})
	s.closeOtherTabs()
}

func notStarted(s *suite) {
	s.call("POST", "/stop", nil, nil)
	s.send(requestCase{
		Path: "/tabs/focus", Body: m{"targetId": "t1"}, Status: http.StatusConflict,
		Contains: []string{"browser not running"},
	})
	s.send(requestCase{
		Method: "DELETE", Path: "/tabs/t1", Status: http.StatusConflict,
		Contains: []string{"browser not running"},
	})
	var status struct{ Running bool }
	s.call("GET", "/", nil, &status)
	s.wantEqual("running", status.Running, false)
}

// atOnce lets two clients type and read concurrently, each in its own tab.
func atOnce(s *suite) {
	for _, who := range []string{"ada", "bea"} {
		s.Run(who, func(t *testing.T) {
			s := *s
			s.T = t
			t.Parallel()
			id := s.newTab("/form", who).TargetID
			for i := range 5 {
				text := fmt.Sprint(who, i)
				s.act(m{"kind": "type", "selector": "#name", "text": text, "targetId": who})
				s.act(m{"kind": "click", "selector": "#save", "targetId": who})
				look := m{"kind": "evaluate", "fn": "document.getElementById('name').value", "targetId": who}
				s.send(requestCase{Path: "/act", Body: look, Contains: []string{`"` + text + `"`, id}})
			}
			s.closeTab(who)
		})
	}
}

// openedAtOnce opens more tabs at once than a session may have: they belong to no session, so none is closed.
func openedAtOnce(s *suite) {
	s.closeOtherTabs()
	s.Run("all", func(t *testing.T) {
		for i := range 16 {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				s := *s
				s.T = t
				t.Parallel()
				s.newTab("/plain", "")
			})
		}
	})
	s.wantEqual("tabs", len(s.tabs()), 17)
	s.closeOtherTabs()
}

// stateCases returns the cases about the emulated environment of a page, and its storage.
func stateCases() []testCase {
	bad := func(name, path, says string, body m) requestCase {
		return requestCase{Name: name, Path: path, Body: body, Status: 400, Contains: []string{says}}
	}
	seen := func(name, path string, body m, look string, want any) testCase {
		return testCase{Name: name, Run: func(s *suite) {
			t := s.newTab("/form", "")
			s.call("POST", path, s.insertSiteURL(body), nil)
			s.openPage("/plain")
			s.wantPage(look, want)
			s.closeTab(t.TargetID)
		}}
	}
	return append(requestCases([]requestCase{
		bad("a cookie without a name", "/cookies/set", "name", m{"cookie": m{"value": "x", "url": "SITE"}}),
		bad("a cookie without a place", "/cookies/set", "url", m{"cookie": m{"name": "a", "value": "x"}}),
		bad("a store that is not there", "/storage/cloud/set", "local", m{"key": "a", "value": "b"}),
		bad("permission for a file server", "/permissions/grant", "origin",
			m{"origin": "ftp://x", "permissions": []string{"geolocation"}}),
		{
			Name: "a time zone that is not there", Path: "/set/timezone", Page: "/plain", Body: m{"timezoneId": "Mars/Olympus"},
			Status: 500, Contains: []string{"Invalid timezone ID"},
		},
		{
			Name: "grant permissions", Path: "/permissions/grant", Page: "/plain",
			Body:    m{"origin": "SITE/some/path", "permissions": []string{"geolocation"}},
			Members: []string{"origin", "grantedPermissions", "unsupportedPermissions", "grantMethod"},
		},
		{
			Name: "an optional permission that is not there", Path: "/permissions/grant", Page: "/plain",
			Body:     m{"origin": "SITE", "permissions": []string{"geolocation"}, "optionalPermissions": []string{"timeTravel"}},
			Contains: []string{"timeTravel"},
		},
	}),
		seen("dark", "/set/media", m{"colorScheme": "dark"}, "matchMedia('(prefers-color-scheme: dark)').matches", true),
		seen("a time zone", "/set/timezone", m{"timezoneId": "Asia/Tokyo"},
			"Intl.DateTimeFormat().resolvedOptions().timeZone", "Asia/Tokyo"),
		seen("a language", "/set/locale", m{"locale": "de-DE"}, "Intl.NumberFormat().resolvedOptions().locale", "de-DE"),
		seen("a phone", "/set/device", m{"name": "iPhone 14"}, "[screen.width, devicePixelRatio, navigator.maxTouchPoints "+
			"> 0, /iPhone/.test(navigator.userAgent)]", []any{390, 3, true, true}),
		seen("a place", "/set/geolocation", m{"latitude": 60.39, "longitude": 5.32, "accuracy": 10, "origin": "SITE"},
			"new Promise((done, no) => navigator.geolocation.getCurrentPosition(p => done([p.coords.latitude, "+
				"p.coords.longitude]), e => no(e.message)))", []any{60.39, 5.32}),
		seen("a store of the tab", "/storage/session/set", m{"key": " padded ", "value": "v"}, "sessionStorage.getItem(' "+
			"padded ')", "v"),
		seen("a store of the site", "/storage/local/set", m{"key": "k", "value": "v"}, "localStorage.getItem('k')", "v"),
		seen("a value that is no text", "/storage/local/set", m{"key": "k", "value": 12}, "localStorage.getItem('k')", ""),
		testCase{Name: "cookies", Run: cookieCase},
		testCase{Name: "stores are read and cleared", Run: storageAreas},
		testCase{Name: "offline", Run: offlineCase},
		testCase{Name: "headers", Run: extraHeaders},
		testCase{Name: "credentials", Run: httpCredentials},
	)
}

func cookieCase(s *suite) {
	s.openPage("/plain")
	set := m{"cookie": m{"name": "crumb", "value": "42", "url": s.Site.URL, "sameSite": "Lax"}}
	s.call("POST", "/cookies/set", set, nil)
	var got struct {
		Cookies []struct{ Name, Value, Domain, Path, SameSite string }
	}
	s.call("GET", "/cookies", nil, &got)
	if len(got.Cookies) != 1 || got.Cookies[0].Name != "crumb" || got.Cookies[0].Value != "42" ||
		got.Cookies[0].SameSite != "Lax" {
		s.Fatalf("cookies = %+v", got.Cookies)
	}
	s.wantPage("document.cookie", "crumb=42")
	s.call("POST", "/cookies/clear", nil, nil)
	got.Cookies = nil
	s.call("GET", "/cookies", nil, &got)
	s.wantEqual("cookies left", len(got.Cookies), 0)
}

func storageAreas(s *suite) {
	s.openPage("/plain")
	for _, kind := range []string{"local", "session"} {
		for _, key := range []string{" a ", "b"} {
			s.call("POST", "/storage/"+kind+"/set", m{"key": key, "value": key + kind}, nil)
		}
		for query, want := range map[string]map[string]string{
			"?key=b":       {"b": "b" + kind},
			"?key=%20a%20": {" a ": " a " + kind}, "?key=nosuch": {},
		} {
			var got struct{ Values map[string]string }
			s.call("GET", "/storage/"+kind+query, nil, &got)
			s.wantEqual(kind+query, got.Values, want)
		}
		s.call("POST", "/storage/"+kind+"/clear", nil, nil)
		var got struct{ Values map[string]string }
		s.call("GET", "/storage/"+kind, nil, &got)
		s.wantEqual(kind+" after clear", got.Values, map[string]string{})
	}
}

func offlineCase(s *suite) {
	s.openPage("/plain")
	s.call("POST", "/set/offline", m{"offline": "true"}, nil)
	s.wantPage("async () => [navigator.onLine, await fetch('/form').then(() => 'came', () => 'failed')]",
		[]any{false, "failed"})
	s.call("POST", "/set/offline", m{"offline": false}, nil)
	s.openPage("/plain")
}

func extraHeaders(s *suite) {
	set := func(h m) {
		s.call("POST", "/set/headers", m{"headers": h}, nil)
	}
	set(m{"X-One": "1", "X-Number": 7})
	for _, want := range [][]any{{"1", ""}, {"", "2"}} {
		s.openPage("/echo")
		s.wantPage("JSON.parse(document.body.textContent)", want)
		set(m{"X-Two": "2"})
	}
	set(m{})
}

func httpCredentials(s *suite) {
	s.openPage("/plain")
	var told struct{ Origin string }
	s.call("POST", "/set/credentials", m{"username": "ada", "password": "lovelace"}, &told)
	s.wantPage("location.origin", told.Origin)
	s.wantPage("fetch('/locked').then(r => r.status)", 200)
	s.call("POST", "/set/credentials", m{"clear": true}, nil)
}

// snapshotCases returns the cases about text snapshots in all modes.
func snapshotCases() []testCase {
	get := func(name, query string, says ...string) requestCase {
		return requestCase{Name: name, Path: "/snapshot?" + query, Page: "/world", Contains: says}
	}
	return append(requestCases([]requestCase{
		{
			Name: "the usual one", Path: "/snapshot", Page: "/world",
			Members:  []string{"ok", "format", "targetId", "url", "snapshot", "refs", "stats"},
			Contains: []string{`button \"Save\"`, `link \"Docs\"`, "/docs"},
		},
		get("card that is clickable", "interactive=true", `generic \"Clickable Card\"`, "cursor:pointer"),
		get("embedded page", "refs=role&compact=true", `Iframe \"Child\"`, `button \"Inside\"`),
		get("refs of the engine's own", "refs=aria"),
		get("efficient", "mode=efficient", `button \"Save\"`),
		get("links", "urls=true", "Links:", "Docs -"),
		get("not flat though efficient", "mode=efficient&interactive=no", `heading \"World\"`),
		{
			Name: "text", Path: "/text", Page: "/world", Members: []string{"targetId", "url", "text"},
			Contains: []string{"Save"},
		},
		{
			Name: "text of a part", Path: "/text?selector=%23only", Page: "/world", Contains: []string{"only this"},
			Excludes: []string{"Save"},
		},
	}),
		testCase{Name: "interactive is flat", Run: interactiveFlat},
		testCase{Name: "the tree", Run: ariaTree},
		testCase{Name: "what is new", Run: snapshotDeltas},
		testCase{Name: "a password is not told", Run: passwordHidden},
		testCase{Name: "query keeps lines", Run: queryLines},
	)
}

func interactiveFlat(s *suite) {
	snap := s.snapshotOf("/world", "interactive=true")
	for line := range strings.SplitSeq(snap.Snapshot, "\n") {
		if strings.HasPrefix(line, " ") || strings.Contains(line, "- heading") {
			s.Fatalf("line %q in\n%s", line, snap.Snapshot)
		}
	}
}

func ariaTree(s *suite) {
	snap := s.snapshotOf("/world", "format=aria")
	found := false
	for _, n := range snap.Nodes {
		if !strings.HasPrefix(n.Ref, "ax") || n.Role == "" {
			s.Fatalf("node %+v", n)
		}
		if n.Role == "button" && n.Name == "Save" {
			found = true
			s.act(m{"kind": "click", "ref": n.Ref})
		}
	}
	if !found || snap.Format != "aria" {
		s.Fatalf("format %q, %d nodes without the button", snap.Format, len(snap.Nodes))
	}
	s.waitForSaid("saved")
	one := s.snapshot("format=aria&limit=1")
	s.wantEqual("nodes", len(one.Nodes), 1)
}

func snapshotDeltas(s *suite) {
	first := s.snapshotOf("/world", "interactive=true")
	if first.NewElements != nil || strings.Contains(first.Snapshot, "[new]") {
		s.Fatalf("the first says what is new:\n%s", first.Snapshot)
	}
	s.run("document.body.append(Object.assign(document.createElement('button'), {textContent: 'Fresh'})); 1")
	second := s.snapshot("interactive=true")
	if second.NewElements == nil || *second.NewElements != 1 ||
		!regexp.MustCompile(`"Fresh".*\[new\]`).MatchString(second.Snapshot) ||
		!strings.Contains(second.Snapshot, "1 new element") {
		s.Fatalf("new elements %v in\n%s", second.NewElements, second.Snapshot)
	}
	third := s.snapshotOf("/world", "interactive=true")
	if third.NewElements != nil {
		s.Fatalf("after a navigation %d elements are new", *third.NewElements)
	}
}

func passwordHidden(s *suite) {
	s.openPage("/login")
	for _, query := range []string{"", "interactive=true", "format=aria", "refs=aria"} {
		a := s.request("GET", "/snapshot?"+query, nil)
		if strings.Contains(string(a.Body), "hunter2") {
			s.Fatalf("%q tells the password: %s", query, a.Body)
		}
	}
}

func queryLines(s *suite) {
	snap := s.snapshotOf("/rows", "query=edit%207")
	if !strings.Contains(snap.Snapshot, `"edit 7"`) || strings.Contains(snap.Snapshot, `"edit 8"`) {
		s.Fatalf("kept\n%s", snap.Snapshot)
	}
}
