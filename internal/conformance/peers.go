package main

import (
	"context"
	"fmt"
	"strings"

	"clank/internal/playwright"
)

// peers are clients that nobody here wrote, attached to the same Chromium.
func peers() []check {
	return []check{
		{"playwright sees what we did", peerSees},
		{"we see what playwright did", peerActs},
	}
}

// peer opens the form in a tab of ours and attaches playwright to the browser.
func (s *suite) peer(ctx context.Context) (p *playwright.Playwright, url string, err error) {
	dir, _, err := playwright.Install(ctx, s.cache)
	if err != nil {
		return nil, "", err
	}
	if err := s.fresh(ctx); err != nil {
		return nil, "", err
	}
	if err := s.open(ctx, "/form"); err != nil {
		return nil, "", err
	}
	var status struct{ CDPPort int }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return nil, "", err
	}
	p, err = playwright.Start(ctx, dir, fmt.Sprintf("http://127.0.0.1:%d", status.CDPPort))
	return p, s.site.URL + "/form", err
}

func peerSees(ctx context.Context, s *suite) error {
	p, url, err := s.peer(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, action := range []map[string]any{
		{"kind": "type", "selector": "#name", "text": "Ada"},
		{"kind": "select", "selector": "#country", "values": []string{"Norway"}},
		{"kind": "click", "selector": "#news"},
		{"kind": "click", "selector": "#save"},
	} {
		if _, err := s.act(ctx, action); err != nil {
			return err
		}
	}
	var seen []any
	const look = "[document.getElementById('name').value, country.value, news.checked, said.textContent]"
	if err := p.Do("see", map[string]any{"url": url, "look": look}, &seen); err != nil {
		return err
	}
	if err := same("what playwright sees", seen, []any{"Ada", "no", true, "saved"}); err != nil {
		return err
	}
	var theirs string
	if err := p.Do("snapshotOf", map[string]any{"url": url}, &theirs); err != nil {
		return err
	}
	ours, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	for _, element := range []string{`textbox "Name"`, `combobox "Country"`, `checkbox "News"`, `button "Save"`, `button "Far"`, `heading "Register"`} {
		if strings.Contains(theirs, element) != strings.Contains(ours.Snapshot, element) {
			return fmt.Errorf("%s is in one snapshot only:\n%s\n%s", element, theirs, ours.Snapshot)
		}
	}
	return nil
}

func peerActs(ctx context.Context, s *suite) error {
	p, url, err := s.peer(ctx)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Do("work", map[string]any{"url": url, "name": "Bea"}, nil); err != nil {
		return err
	}
	if err := s.says(ctx, "saved"); err != nil {
		return err
	}
	snap, err := s.snapshot(ctx, "")
	if err != nil {
		return err
	}
	if !strings.Contains(snap.Snapshot, "Bea") {
		return fmt.Errorf("the snapshot has nothing of what was typed:\n%s", snap.Snapshot)
	}
	a, err := s.Request(ctx, "GET", "/cookies", nil)
	if err != nil {
		return err
	}
	if !strings.Contains(string(a.Body), `"peer"`) {
		return fmt.Errorf("cookies: %s", a.Body)
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	// Playwright has a tab of its own.
	if len(all) != 2 {
		return fmt.Errorf("%d tabs, want 2", len(all))
	}
	return nil
}
