package controltest

import (
	"fmt"
	"strings"

	"clank/internal/test/npm"
)

// peerCases returns the cases with clients by other authors, attached to the same Chromium.
func peerCases() []testCase {
	return []testCase{
		{Name: "playwright sees what we did", Run: peerSees},
		{Name: "we see what playwright did", Run: peerActs},
	}
}

// runPeer opens the form in a tab of ours and attaches playwright to the browser.
func runPeer(s *suite) (p *npm.Playwright, url string) {
	dir, _, err := npm.InstallPlaywright(s.ctx(), s.cache)
	s.check(err)
	s.closeOtherTabs()
	s.openPage("/form")
	var status struct{ CDPPort int }
	s.call("GET", "/", nil, &status)
	p, err = npm.StartPlaywright(s.ctx(), dir, fmt.Sprintf("http://127.0.0.1:%d", status.CDPPort))
	s.check(err)
	return p, s.Site.URL + "/form"
}

func peerSees(s *suite) {
	p, url := runPeer(s)
	defer p.Close()
	for _, action := range []m{
		{"kind": "type", "selector": "#name", "text": "Ada"},
		{"kind": "select", "selector": "#country", "values": []string{"Norway"}},
		{"kind": "click", "selector": "#news"},
		{"kind": "click", "selector": "#save"},
	} {
		s.act(action)
	}
	var seen []any
	const look = "[document.getElementById('name').value, country.value, news.checked, said.textContent]"
	s.check(p.Call("see", m{"url": url, "look": look}, &seen))
	s.wantEqual("what playwright sees", seen, []any{"Ada", "no", true, "saved"})
	var theirs string
	s.check(p.Call("snapshotOf", m{"url": url}, &theirs))
	ours := s.snapshot("")
	for _, element := range []string{`textbox "Name"`, `combobox "Country"`, `checkbox "News"`, `button "Save"`, `button "Far"`, `heading "Register"`} {
		if strings.Contains(theirs, element) != strings.Contains(ours.Snapshot, element) {
			s.Fatalf("%s is in one snapshot only:\n%s\n%s", element, theirs, ours.Snapshot)
		}
	}
}

func peerActs(s *suite) {
	p, url := runPeer(s)
	defer p.Close()
	s.check(p.Call("work", m{"url": url, "name": "Bea"}, nil))
	s.waitForSaid("saved")
	snap := s.snapshot("")
	if !strings.Contains(snap.Snapshot, "Bea") {
		s.Fatalf("the snapshot has nothing of what was typed:\n%s", snap.Snapshot)
	}
	a := s.request("GET", "/cookies", nil)
	if !strings.Contains(string(a.Body), `"peer"`) {
		s.Fatalf("cookies: %s", a.Body)
	}
	all := s.tabs()
	// Playwright has a tab of its own.
	if len(all) != 2 {
		s.Fatalf("%d tabs, want 2", len(all))
	}
}
