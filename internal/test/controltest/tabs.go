package controltest

import (
	"net/http"
	"net/url"
	"strings"
)

// tabCases returns the cases in which tabs are opened, named, found, listed and closed.
func tabCases() []testCase {
	return append(requestCases([]requestCase{
		{Name: "an unknown action", Path: "/tabs/action", Body: m{"action": "shake"}, Status: 400, Contains: []string{"unknown tab action"}},
		{Name: "select without an index", Path: "/tabs/action", Body: m{"action": "select"}, Status: 400, Contains: []string{"index is required"}},
		{Name: "select beyond the end", Path: "/tabs/action", Page: "/plain", Body: m{"action": "select", "index": 99}, Status: 404, Contains: []string{"tab not found"}},
		{Name: "a label of the wrong kind", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": "no spaces"}, Status: 400},
		{Name: "a label too long", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": strings.Repeat("x", 65)}, Status: 400},
		{Name: "a number is no tab", Page: "/plain", Path: "/tabs/focus", Body: m{"targetId": 1}, Status: 404, Contains: []string{"numbers are not tab targets"}},
		{Name: "a page that does not answer", Path: "/navigate", Body: m{"url": "SITE/stuck", "timeoutMs": 1000}, Status: 500, Reason: "timeout", Contains: []string{"did not answer within 1s"}},
		{Name: "a bare word is no address", Path: "/navigate", Body: m{"url": "example"}, Status: 400, Contains: []string{"Invalid URL:"}},
		{Name: "an address without a host", Path: "/tabs/open", Body: m{"url": "http:///x"}, Status: 400, Contains: []string{"Invalid URL:"}},
		{Name: "close by a raw id only", Page: "/plain", Method: "DELETE", Path: "/tabs/t1?targetIdMode=raw", Status: 404},
		{Name: "an unknown way to name a tab", Method: "DELETE", Path: "/tabs/t1?targetIdMode=loose", Status: 400},
	}),
		testCase{Name: "a tab's life", Run: tabLife},
		testCase{Name: "labels move", Run: labelsMove},
		testCase{Name: "all names of a tab", Run: tabNames},
		testCase{Name: "an ambiguous name", Run: ambiguousTabName},
		testCase{Name: "the last used tab is the default", Run: stickyTab},
		testCase{Name: "numbers are not used again", Run: tabNumbers},
		testCase{Name: "by position", Run: tabsByPosition},
		testCase{Name: "what does not open leaves no tab", Run: failedTab},
		testCase{Name: "what the browser shows itself is hidden", Run: internalHidden},
		testCase{Name: "no more than eight", Run: eightTabs},
		testCase{Name: "a tab opened by a page is listed", Run: popupTabs},
		testCase{Name: "focus and list do not start a browser", Run: notStarted},
	)
}

func tabLife(s *suite) {
	t := s.newTab("/plain", "work")
	if t.Label != "work" || t.SuggestedTargetID != "work" || !strings.HasPrefix(t.TabID, "t") || t.Type != "page" || t.URL != s.Site.URL+"/plain" {
		s.Fatalf("opened %+v", t)
	}
	if got := s.tab(t.TargetID); got == nil || got.Title != "Plain" || got.TabID != t.TabID {
		s.Fatalf("listed as %+v", got)
	}
	s.call("POST", "/tabs/focus", m{"targetId": t.TabID}, nil)
	s.closeTab("work")
	if s.tab(t.TargetID) != nil {
		s.Fatalf("%s is still listed", t.TargetID)
	}
	s.send(requestCase{Method: "DELETE", Path: "/tabs/" + t.TargetID, Status: http.StatusNotFound, Contains: []string{"tab not found"}})
}

func labelsMove(s *suite) {
	first := s.newTab("/plain", "mine")
	second := s.newTab("/other", "")
	s.call("POST", "/tabs/action", m{"action": "label", "targetId": second.TabID, "label": "mine"}, nil)
	if a, b := s.tab(first.TargetID), s.tab(second.TargetID); a == nil || b == nil || a.Label != "" || b.Label != "mine" {
		s.Fatalf("first %+v, second %+v", a, b)
	}
	s.closeOtherTabs()
}

func tabNames(s *suite) {
	t := s.newTab("/other", "a:label.1")
	for _, name := range []string{t.TargetID, t.SuggestedTargetID, t.TabID, t.Label, t.TargetID[:12], strings.ToLower(t.TargetID[:12])} {
		snap := s.snapshot("targetId=" + url.QueryEscape(name))
		s.wantEqual("target of "+name, snap.TargetID, t.TargetID)
	}
	s.closeOtherTabs()
}

func ambiguousTabName(s *suite) {
	first := s.newTab("/plain", "")
	s.newTab("/other", first.TabID)
	s.send(requestCase{Path: "/snapshot?targetId=" + first.TabID, Status: http.StatusConflict, Contains: []string{"ambiguous"}})
	s.closeOtherTabs()
}

func stickyTab(s *suite) {
	first := s.newTab("/plain", "")
	second := s.newTab("/other", "")
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, second.TargetID},
		{func() {
			s.call("POST", "/tabs/focus", m{"targetId": first.TargetID}, nil)
		}, first.TargetID},
		{func() { s.snapshot("targetId=" + second.TabID) }, second.TargetID},
	} {
		step.do()
		snap := s.snapshot("")
		s.wantEqual("default tab", snap.TargetID, step.want)
	}
	s.closeOtherTabs()
}

func tabNumbers(s *suite) {
	first := s.newTab("/plain", "")
	s.closeTab(first.TargetID)
	s.call("POST", "/stop", nil, nil)
	second := s.newTab("/plain", "")
	if first.TabID == second.TabID {
		s.Fatalf("%s was given twice", first.TabID)
	}
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

func internalHidden(s *suite) {
	all := s.tabs()
	for _, t := range all {
		if t.Type != "page" || strings.HasPrefix(t.URL, "chrome:") || strings.HasPrefix(t.URL, "devtools:") {
			s.Fatalf("listed %+v", t)
		}
	}
}

func eightTabs(s *suite) {
	var last tabAnswer
	for range 10 {
		last = s.newTab("/plain", "")
	}
	s.waitUntil("at most eight tabs, the newest among them", func() bool {
		return len(s.tabs()) <= 8 && s.tab(last.TargetID) != nil
	})
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
	s.send(requestCase{Path: "/tabs/focus", Body: m{"targetId": "t1"}, Status: http.StatusConflict, Contains: []string{"browser not running"}})
	s.send(requestCase{Method: "DELETE", Path: "/tabs/t1", Status: http.StatusConflict, Contains: []string{"browser not running"}})
	var status struct{ Running bool }
	s.call("GET", "/", nil, &status)
	s.wantEqual("running", status.Running, false)
}
