package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// tabs are opened, named, found, listed and closed.
func tabs() []check {
	return append(checks([]exchange{
		{name: "an unknown action", path: "/tabs/action", body: map[string]any{"action": "shake"}, status: 400},
		{name: "select without an index", path: "/tabs/action", body: map[string]any{"action": "select"}, status: 400, says: []string{"index is required"}},
		{name: "select beyond the end", path: "/tabs/action", page: "/plain", body: map[string]any{"action": "select", "index": 99}, status: 404, says: []string{"tab not found"}},
		{name: "a label of the wrong kind", path: "/tabs/open", body: map[string]any{"url": "SITE/plain", "label": "no spaces"}, status: 400},
		{name: "a label too long", path: "/tabs/open", body: map[string]any{"url": "SITE/plain", "label": strings.Repeat("x", 65)}, status: 400},
		{name: "close by a raw id only", page: "/plain", method: "DELETE", path: "/tabs/t1?targetIdMode=raw", status: 404},
		{name: "an unknown way to name a tab", method: "DELETE", path: "/tabs/t1?targetIdMode=loose", status: 400},
	}),
		check{"a tab's life", tabLife},
		check{"labels move", labelsMove},
		check{"all names of a tab", tabNames},
		check{"an ambiguous name", ambiguous},
		check{"the last used tab is the default", sticky},
		check{"numbers are not used again", numbers},
		check{"what the browser shows itself is hidden", internalHidden},
		check{"no more than eight", eightTabs},
		check{"a tab opened by a page is listed", popups},
		check{"focus and list do not start a browser", notStarted},
	)
}

type tab struct {
	SuggestedTargetID string `json:"suggestedTargetId"`
	TabID             string `json:"tabId"`
	Label             string `json:"label"`
	TargetID          string `json:"targetId"`
	Title, URL, Type  string
}

func (s *suite) list(ctx context.Context) ([]tab, error) {
	var answer struct {
		Running bool
		Tabs    []tab
	}
	err := s.Call(ctx, "GET", "/tabs", nil, &answer)
	return answer.Tabs, err
}

func (s *suite) newTab(ctx context.Context, path, label string) (tab, error) {
	body := map[string]any{"url": s.site.URL + path}
	if label != "" {
		body["label"] = label
	}
	var t tab
	return t, s.Call(ctx, "POST", "/tabs/open", body, &t)
}

func (s *suite) closeTab(ctx context.Context, id string) error {
	return s.Call(ctx, "DELETE", "/tabs/"+url.PathEscape(id), nil, nil)
}

// fresh closes all tabs but one.
func (s *suite) fresh(ctx context.Context) error {
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := s.newTab(ctx, "/plain", "")
		return err
	}
	for _, t := range all[1:] {
		if err := s.closeTab(ctx, t.TargetID); err != nil {
			return err
		}
	}
	return nil
}

func find(all []tab, targetID string) *tab {
	for i := range all {
		if all[i].TargetID == targetID {
			return &all[i]
		}
	}
	return nil
}

func tabLife(ctx context.Context, s *suite) error {
	t, err := s.newTab(ctx, "/plain", "work")
	if err != nil {
		return err
	}
	if t.Label != "work" || t.SuggestedTargetID != "work" || !strings.HasPrefix(t.TabID, "t") || t.Type != "page" || t.URL != s.site.URL+"/plain" {
		return fmt.Errorf("opened %+v", t)
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if got := find(all, t.TargetID); got == nil || got.Title != "Plain" || got.TabID != t.TabID {
		return fmt.Errorf("listed as %+v", got)
	}
	if err := s.Call(ctx, "POST", "/tabs/focus", map[string]any{"targetId": t.TabID}, nil); err != nil {
		return err
	}
	if err := s.closeTab(ctx, "work"); err != nil {
		return err
	}
	if all, err = s.list(ctx); err != nil {
		return err
	}
	if find(all, t.TargetID) != nil {
		return fmt.Errorf("%s is still listed", t.TargetID)
	}
	return exchange{method: "DELETE", path: "/tabs/" + t.TargetID, status: http.StatusNotFound, says: []string{"tab not found"}}.run(ctx, s)
}

func labelsMove(ctx context.Context, s *suite) error {
	first, err := s.newTab(ctx, "/plain", "mine")
	if err != nil {
		return err
	}
	second, err := s.newTab(ctx, "/other", "")
	if err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/tabs/action", map[string]any{"action": "label", "targetId": second.TabID, "label": "mine"}, nil); err != nil {
		return err
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	if a, b := find(all, first.TargetID), find(all, second.TargetID); a == nil || b == nil || a.Label != "" || b.Label != "mine" {
		return fmt.Errorf("first %+v, second %+v", a, b)
	}
	return s.fresh(ctx)
}

func tabNames(ctx context.Context, s *suite) error {
	t, err := s.newTab(ctx, "/other", "a:label.1")
	if err != nil {
		return err
	}
	for _, name := range []string{t.TargetID, t.SuggestedTargetID, t.TabID, t.Label, t.TargetID[:12], strings.ToLower(t.TargetID[:12])} {
		snap, err := s.snapshot(ctx, "targetId="+url.QueryEscape(name))
		if err != nil {
			return err
		}
		if err := same("target of "+name, snap.TargetID, t.TargetID); err != nil {
			return err
		}
	}
	return s.fresh(ctx)
}

func ambiguous(ctx context.Context, s *suite) error {
	first, err := s.newTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if _, err := s.newTab(ctx, "/other", first.TabID); err != nil {
		return err
	}
	err = exchange{path: "/snapshot?targetId=" + first.TabID, status: http.StatusConflict}.run(ctx, s)
	if err != nil {
		return err
	}
	return s.fresh(ctx)
}

func sticky(ctx context.Context, s *suite) error {
	first, err := s.newTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	second, err := s.newTab(ctx, "/other", "")
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
		{func() error { _, err := s.snapshot(ctx, "targetId="+second.TabID); return err }, second.TargetID},
	} {
		if err := step.do(); err != nil {
			return err
		}
		snap, err := s.snapshot(ctx, "")
		if err != nil {
			return err
		}
		if err := same("default tab", snap.TargetID, step.want); err != nil {
			return err
		}
	}
	return s.fresh(ctx)
}

func numbers(ctx context.Context, s *suite) error {
	first, err := s.newTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if err := s.closeTab(ctx, first.TargetID); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	second, err := s.newTab(ctx, "/plain", "")
	if err != nil {
		return err
	}
	if first.TabID == second.TabID {
		return fmt.Errorf("%s was given twice", first.TabID)
	}
	return nil
}

func internalHidden(ctx context.Context, s *suite) error {
	all, err := s.list(ctx)
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

func eightTabs(ctx context.Context, s *suite) error {
	var last tab
	for range 10 {
		var err error
		if last, err = s.newTab(ctx, "/plain", ""); err != nil {
			return err
		}
	}
	return s.until(ctx, "at most eight tabs, the newest among them", func() (bool, error) {
		all, err := s.list(ctx)
		return len(all) <= 8 && find(all, last.TargetID) != nil, err
	})
}

func popups(ctx context.Context, s *suite) error {
	if err := s.fresh(ctx); err != nil {
		return err
	}
	if err := s.open(ctx, "/popup"); err != nil {
		return err
	}
	if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "a"}); err != nil {
		return err
	}
	err := s.until(ctx, "the new tab in the list", func() (bool, error) {
		all, err := s.list(ctx)
		for _, t := range all {
			if t.URL == s.site.URL+"/other" {
				return true, err
			}
		}
		return false, err
	})
	if err != nil {
		return err
	}
	return s.fresh(ctx)
}

func notStarted(ctx context.Context, s *suite) error {
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	err := exchange{path: "/tabs/focus", body: map[string]any{"targetId": "t1"}, status: http.StatusConflict, says: []string{"browser not running"}}.run(ctx, s)
	if err != nil {
		return err
	}
	var status struct{ Running bool }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	return same("running", status.Running, false)
}
