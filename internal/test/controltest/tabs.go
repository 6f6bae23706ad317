package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// tabCases are opened, named, found, listed and closed.
func tabCases() []testCase {
	return append(requestCases([]requestCase{
		{Name: "an unknown action", Path: "/tabs/action", Body: map[string]any{"action": "shake"}, Status: 400},
		{Name: "select without an index", Path: "/tabs/action", Body: map[string]any{"action": "select"}, Status: 400, Contains: []string{"index is required"}},
		{Name: "select beyond the end", Path: "/tabs/action", Page: "/plain", Body: map[string]any{"action": "select", "index": 99}, Status: 404, Contains: []string{"tab not found"}},
		{Name: "a label of the wrong kind", Path: "/tabs/open", Body: map[string]any{"url": "SITE/plain", "label": "no spaces"}, Status: 400},
		{Name: "a label too long", Path: "/tabs/open", Body: map[string]any{"url": "SITE/plain", "label": strings.Repeat("x", 65)}, Status: 400},
		{Name: "close by a raw id only", Page: "/plain", Method: "DELETE", Path: "/tabs/t1?targetIdMode=raw", Status: 404},
		{Name: "an unknown way to name a tab", Method: "DELETE", Path: "/tabs/t1?targetIdMode=loose", Status: 400},
	}),
		testCase{Name: "a tab's life", Run: tabLife},
		testCase{Name: "labels move", Run: labelsMove},
		testCase{Name: "all names of a tab", Run: tabNames},
		testCase{Name: "an ambiguous name", Run: ambiguousTabName},
		testCase{Name: "the last used tab is the default", Run: stickyTab},
		testCase{Name: "numbers are not used again", Run: tabNumbers},
		testCase{Name: "what the browser shows itself is hidden", Run: internalHidden},
		testCase{Name: "no more than eight", Run: eightTabs},
		testCase{Name: "a tab opened by a page is listed", Run: popupTabs},
		testCase{Name: "focus and list do not start a browser", Run: notStarted},
	)
}

func tabLife(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/plain", "work")
	if err != nil {
		return err
	}
	if t.Label != "work" || t.SuggestedTargetID != "work" || !strings.HasPrefix(t.TabID, "t") || t.Type != "page" || t.URL != s.Site.URL+"/plain" {
		return fmt.Errorf("opened %+v", t)
	}
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	if got := findTab(all, t.TargetID); got == nil || got.Title != "Plain" || got.TabID != t.TabID {
		return fmt.Errorf("listed as %+v", got)
	}
	if err := s.Call(ctx, "POST", "/tabs/focus", map[string]any{"targetId": t.TabID}, nil); err != nil {
		return err
	}
	if err := s.CloseTab(ctx, "work"); err != nil {
		return err
	}
	if all, err = s.Tabs(ctx); err != nil {
		return err
	}
	if findTab(all, t.TargetID) != nil {
		return fmt.Errorf("%s is still listed", t.TargetID)
	}
	return requestCase{Method: "DELETE", Path: "/tabs/" + t.TargetID, Status: http.StatusNotFound, Contains: []string{"tab not found"}}.Run(ctx, s)
}

func labelsMove(ctx context.Context, s *controlSuite) error {
	first, err := s.NewTab(ctx, "/plain", "mine")
	if err != nil {
		return err
	}
	second, err := s.NewTab(ctx, "/other", "")
	if err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/tabs/action", map[string]any{"action": "label", "targetId": second.TabID, "label": "mine"}, nil); err != nil {
		return err
	}
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	if a, b := findTab(all, first.TargetID), findTab(all, second.TargetID); a == nil || b == nil || a.Label != "" || b.Label != "mine" {
		return fmt.Errorf("first %+v, second %+v", a, b)
	}
	return s.closeOtherTabs(ctx)
}

func tabNames(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/other", "a:label.1")
	if err != nil {
		return err
	}
	for _, name := range []string{t.TargetID, t.SuggestedTargetID, t.TabID, t.Label, t.TargetID[:12], strings.ToLower(t.TargetID[:12])} {
		snap, err := s.Snapshot(ctx, "targetId="+url.QueryEscape(name))
		if err != nil {
			return err
		}
		if err := wantEqualJSON("target of "+name, snap.TargetID, t.TargetID); err != nil {
			return err
		}
	}
	return s.closeOtherTabs(ctx)
}

func ambiguousTabName(ctx context.Context, s *controlSuite) error {
	first, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if _, err := s.NewTab(ctx, "/other", first.TabID); err != nil {
		return err
	}
	err = requestCase{Path: "/snapshot?targetId=" + first.TabID, Status: http.StatusConflict}.Run(ctx, s)
	if err != nil {
		return err
	}
	return s.closeOtherTabs(ctx)
}

func stickyTab(ctx context.Context, s *controlSuite) error {
	first, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	second, err := s.NewTab(ctx, "/other", "")
	if err != nil {
		return err
	}
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, second.TargetID},
		{func() error {
			return s.Call(ctx, "POST", "/tabs/focus", map[string]any{"targetId": first.TargetID}, nil)
		}, first.TargetID},
		{func() error { _, err := s.Snapshot(ctx, "targetId="+second.TabID); return err }, second.TargetID},
	} {
		if err := step.do(); err != nil {
			return err
		}
		snap, err := s.Snapshot(ctx, "")
		if err != nil {
			return err
		}
		if err := wantEqualJSON("default tab", snap.TargetID, step.want); err != nil {
			return err
		}
	}
	return s.closeOtherTabs(ctx)
}

func tabNumbers(ctx context.Context, s *controlSuite) error {
	first, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if err := s.CloseTab(ctx, first.TargetID); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	second, err := s.NewTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if first.TabID == second.TabID {
		return fmt.Errorf("%s was given twice", first.TabID)
	}
	return nil
}

func internalHidden(ctx context.Context, s *controlSuite) error {
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Type != "page" || strings.HasPrefix(t.URL, "chrome:") || strings.HasPrefix(t.URL, "devtools:") {
			return fmt.Errorf("listed %+v", t)
		}
	}
	return nil
}

func eightTabs(ctx context.Context, s *controlSuite) error {
	var last tabAnswer
	for range 10 {
		var err error
		if last, err = s.NewTab(ctx, "/plain", ""); err != nil {
			return err
		}
	}
	return s.waitUntil(ctx, "at most eight tabs, the newest among them", func() (bool, error) {
		all, err := s.Tabs(ctx)
		return len(all) <= 8 && findTab(all, last.TargetID) != nil, err
	})
}

func popupTabs(ctx context.Context, s *controlSuite) error {
	if err := s.closeOtherTabs(ctx); err != nil {
		return err
	}
	if err := s.openPage(ctx, "/popup"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "a"}); err != nil {
		return err
	}
	err := s.waitUntil(ctx, "the new tab in the list", func() (bool, error) {
		all, err := s.Tabs(ctx)
		for _, t := range all {
			if t.URL == s.Site.URL+"/other" {
				return true, err
			}
		}
		return false, err
	})
	if err != nil {
		return err
	}
	return s.closeOtherTabs(ctx)
}

func notStarted(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	err := requestCase{Path: "/tabs/focus", Body: map[string]any{"targetId": "t1"}, Status: http.StatusConflict, Contains: []string{"browser not running"}}.Run(ctx, s)
	if err != nil {
		return err
	}
	var status struct{ Running bool }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	return wantEqualJSON("running", status.Running, false)
}
