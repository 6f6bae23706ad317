package controltest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// tabCases returns the cases in which tabs are opened, named, found, listed and closed.
func tabCases() []testCase {
	return append(requestCases([]requestCase{
		{Name: "an unknown action", Path: "/tabs/action", Body: m{"action": "shake"}, Status: 400, Contains: []string{"unknown tab action"}},
		{Name: "select without an index", Path: "/tabs/action", Body: m{"action": "select"}, Status: 400, Contains: []string{"index is required"}},
		{Name: "select beyond the end", Path: "/tabs/action", Page: "/plain", Body: m{"action": "select", "index": 99}, Status: 404, Contains: []string{"tab not found"}},
		{Name: "a label of the wrong kind", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": "no spaces"}, Status: 400},
		{Name: "a label too long", Path: "/tabs/open", Body: m{"url": "SITE/plain", "label": strings.Repeat("x", 65)}, Status: 400},
		{Name: "a page that does not answer", Path: "/navigate", Body: m{"url": "SITE/stuck", "timeoutMs": 1000}, Status: 500, Reason: "timeout", Contains: []string{"did not answer within 1s"}},
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
	if t.Label != "work" || t.SuggestedTargetID != "work" || !strings.HasPrefix(t.TabID, "t") || t.Type != "page" || t.URL != s.Site.URL+"/plain" {
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
	s.send(requestCase{Method: "DELETE", Path: "/tabs/" + t.TargetID, Status: http.StatusNotFound, Contains: []string{"tab not found"}})
}

func tabNames(s *suite) {
	t := s.newTab("/other", "a:label.1")
	for _, name := range []string{t.TargetID, t.SuggestedTargetID, t.TabID, t.Label, t.TargetID[:12], strings.ToLower(t.TargetID[:12])} {
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
	s.send(requestCase{Path: "/tabs/focus", Body: m{"targetId": "t1"}, Status: http.StatusConflict, Contains: []string{"browser not running"}})
	s.send(requestCase{Method: "DELETE", Path: "/tabs/t1", Status: http.StatusConflict, Contains: []string{"browser not running"}})
	var status struct{ Running bool }
	s.call("GET", "/", nil, &status)
	s.wantEqual("running", status.Running, false)
}

// atOnce has two clients type and read in a tab each, at the same time.
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

// openedAtOnce opens more tabs at once than a session may have: no session owns them, so that nothing closes them.
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
