package main

import (
	"context"
	"net/url"
)

// tabAnswer is what the contract tells of a tab.
type tabAnswer struct {
	SuggestedTargetID string `json:"suggestedTargetId"`
	TabID             string `json:"tabId"`
	Label             string `json:"label"`
	TargetID          string `json:"targetId"`
	Title, URL, Type  string
}

// Tabs lists the tabs of the default profile.
func (s *controlSuite) Tabs(ctx context.Context) ([]tabAnswer, error) {
	var answer struct {
		Running bool
		Tabs    []tabAnswer
	}
	err := s.Call(ctx, "GET", "/tabs", nil, &answer)
	return answer.Tabs, err
}

// findTab looks for a tab by its raw id, and returns nil if it is not there.
func findTab(all []tabAnswer, targetID string) *tabAnswer {
	for i := range all {
		if all[i].TargetID == targetID {
			return &all[i]
		}
	}
	return nil
}

// NewTab opens a page of the site in a tab, with a label unless that is empty.
func (s *controlSuite) NewTab(ctx context.Context, path, label string) (tabAnswer, error) {
	body := map[string]any{"url": s.Site.URL + path}
	if label != "" {
		body["label"] = label
	}
	var t tabAnswer
	return t, s.Call(ctx, "POST", "/tabs/open", body, &t)
}

// CloseTab closes a tab by any of its names.
func (s *controlSuite) CloseTab(ctx context.Context, id string) error {
	return s.Call(ctx, "DELETE", "/tabs/"+url.PathEscape(id), nil, nil)
}

// closeOtherTabs closes all tabs but one, or opens one if there is none.
func (s *controlSuite) closeOtherTabs(ctx context.Context) error {
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := s.NewTab(ctx, "/plain", "")
		return err
	}
	for _, t := range all[1:] {
		if err := s.CloseTab(ctx, t.TargetID); err != nil {
			return err
		}
	}
	return nil
}

// OpenScope opens the page with frames of this origin, of another site and of another origin of this site, and waits for them.
func (s *controlSuite) OpenScope(ctx context.Context) error {
	if err := s.openPage(ctx, "/scope"); err != nil {
		return err
	}
	_, err := s.Act(ctx, map[string]any{"kind": "wait", "fn": "window.ready === 3"})
	return err
}
