package controltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"clank/internal/test/npm"
)

// leavingClientCases returns the cases about transfers when a client disconnects, two clients want the same file, or
// a file cannot be saved: transfers end, no partial files are left, and no client gets the file of another.
func leavingClientCases() []testCase {
	gone := func(name, path string, body m) testCase {
		return testCase{Name: "the client leaves during " + name, Run: func(s *suite) { leavesDuring(s, path, body) }}
	}
	return []testCase{
		gone("a click", "/act", m{"kind": "click", "selector": "#drip"}),
		gone("a click of a batch", "/act", m{"kind": "batch", "actions": []any{m{"kind": "click", "selector": "#drip"}}}),
		gone("a script", "/act", m{"kind": "evaluate", "fn": "document.getElementById('drip').click(); new Promise(done => " +
			"setTimeout(done, 5000))"}),
		gone("a navigation", "/navigate", m{"url": "SITE/drip"}),
		{Name: "the client leaves during a download by ref", Run: leavesDownload},
	}
}

// abortRequest sends a request and disconnects when begun reports that its endless file is being transferred.
func abortRequest(s *suite, path string, body any, begun func() bool) {
	defer s.Site.EndDrips() // transfers that are still running must not affect the next case
	ended := s.Site.Hits("/drip ended")
	ctx, cancel := context.WithCancel(s.ctx())
	defer cancel()
	failed := make(chan error, 1)
	body = s.insertSiteURL(body)
	go func() {
		a, err := s.Request(ctx, "POST", path, body)
		if err == nil {
			err = fmt.Errorf("answered %d %.300s", a.Status, a.Body)
		}
		failed <- err
	}()
	s.waitUntil("the file to be on the way", func() bool {
		select {
		case err := <-failed:
			s.Fatalf("before it left: %v", err)
			return false
		default:
			return begun()
		}
	})
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		s.Fatal(err)
	}
	begin := time.Now()
	s.waitUntil("the transfer to be cancelled", func() bool {
		s.wantWithin(6*time.Second, begin)
		return s.Site.Hits("/drip ended") > ended
	})
}

// leavesDuring does the same on the page of files, and checks that the state is as before.
func leavesDuring(s *suite, path string, body any) {
	s.openPage("/drips")
	before := listDownloads(s)
	abortRequest(s, path, body, downloadArriving(s, before))
	nothingLeft(s, before)
	actDownload(s)
}

// downloadArriving returns a function that reports whether the downloads folder has new files.
func downloadArriving(s *suite, before []string) func() bool {
	return func() bool { return len(listDownloads(s)) > len(before) }
}

// listDownloads lists everything below the downloads folder.
func listDownloads(s *suite) []string {
	var out []string
	root := filepath.Join(s.Home, "downloads")
	s.check(filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, strings.TrimPrefix(path, root))
		}
		return nil
	}))
	return out
}

func nothingLeft(s *suite, before []string) {
	s.waitUntil("the downloads folder to be as before", func() bool { return len(listDownloads(s)) == len(before) })
}

func leavesDownload(s *suite) {
	before := listDownloads(s)
	link := s.refOn("/drips", "link", "Drip")
	abortRequest(s, "/download", m{"ref": link, "path": "half.bin"}, downloadArriving(s, before))
	nothingLeft(s, before)
	refDownload(s)
}

// peerCases returns the cases with third-party clients attached to the same Chromium.
func peerCases() []testCase {
	return []testCase{
		{Name: "playwright sees what we did", Run: peerSees},
		{Name: "we see what playwright did", Run: peerActs},
	}
}

// runPeer opens the form in one of our tabs and attaches playwright to the browser.
func runPeer(s *suite) (p *npm.Playwright, url string) {
	dir, _, err := npm.InstallPlaywright(s.Context(), s.cache) // has a deadline of its own
	s.check(err)
	s.deadline = time.Now().Add(caseLimit)
	s.changeSetting("devToolsPort", true)
	s.call("POST", "/stop", nil, nil)
	s.newTab("/form", "") // starts the browser
	s.closeOtherTabs()
	s.openPage("/form")
	var status struct{ CDPPort int }
	s.call("GET", "/", nil, &status)
	p, err = npm.StartPlaywright(s.ctx(), dir, fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/clank?token=%s",
		status.CDPPort, s.Token))
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
	for _, element := range []string{
		`textbox "Name"`, `combobox "Country"`, `checkbox "News"`, `button "Save"`,
		`button "Far"`, `heading "Register"`,
	} {
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
	// Playwright has one tab as well.
	if len(all) != 2 {
		s.Fatalf("%d tabs, want 2", len(all))
	}
}
