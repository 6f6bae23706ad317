package main

import (
	"context"
	"fmt"
	"strings"

	"clank/internal/test/npm"
)

// peerCases are clients that nobody here wrote, attached to the same Chromium.
func peerCases() []testCase {
	return []testCase{
		{Name: "playwright sees what we did", Run: peerSees},
		{Name: "we see what playwright did", Run: peerActs},
	}
}

// runPeer opens the form in a tab of ours and attaches playwright to the browser.
func runPeer(ctx context.Context, s *controlSuite) (p *npm.Playwright, url string, err error) {
	dir, _, err := npm.InstallPlaywright(ctx, s.Cache)
	if err != nil {
		return nil, "", err
	}
	if err := s.closeOtherTabs(ctx); err != nil {
		return nil, "", err
	}
	if err := s.openPage(ctx, "/form"); err != nil {
		return nil, "", err
	}
	var status struct{ CDPPort int }
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return nil, "", err
	}
	p, err = npm.StartPlaywright(ctx, dir, fmt.Sprintf("http://127.0.0.1:%d", status.CDPPort))
	return p, s.Site.URL + "/form", err
}

func peerSees(ctx context.Context, s *controlSuite) error {
	p, url, err := runPeer(ctx, s)
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
		if _, err := s.Act(ctx, action); err != nil {
			return err
		}
	}
	var seen []any
	const look = "[document.getElementById('name').value, country.value, news.checked, said.textContent]"
	if err := p.Call("see", map[string]any{"url": url, "look": look}, &seen); err != nil {
		return err
	}
	if err := wantEqualJSON("what playwright sees", seen, []any{"Ada", "no", true, "saved"}); err != nil {
		return err
	}
	var theirs string
	if err := p.Call("snapshotOf", map[string]any{"url": url}, &theirs); err != nil {
		return err
	}
	ours, err := s.Snapshot(ctx, "")
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

func peerActs(ctx context.Context, s *controlSuite) error {
	p, url, err := runPeer(ctx, s)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Call("work", map[string]any{"url": url, "name": "Bea"}, nil); err != nil {
		return err
	}
	if err := s.waitForSaid(ctx, "saved"); err != nil {
		return err
	}
	snap, err := s.Snapshot(ctx, "")
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
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	// Playwright has a tab of its own.
	if len(all) != 2 {
		return fmt.Errorf("%d tabs, want 2", len(all))
	}
	return nil
}
