package controltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leavingClientCases returns the cases of what becomes of files when a client goes away, when two want the same
// file, and when a file cannot be put where it should: transfers end, nothing half-done stays, and nobody gets
// what another asked for.
func leavingClientCases() []testCase {
	gone := func(name, path string, body m) testCase {
		return testCase{Name: "the client leaves during " + name, Run: func(s *suite) { leavesDuring(s, path, body) }}
	}
	return []testCase{
		gone("a click", "/act", m{"kind": "click", "selector": "#drip"}),
		gone("a click of a batch", "/act", m{"kind": "batch", "actions": []any{m{"kind": "click", "selector": "#drip"}}}),
		gone("a key", "/act", m{"kind": "batch", "actions": []any{m{"kind": "type", "selector": "#word", "text": "x"}, m{"kind": "press", "key": "Enter"}}}),
		gone("a submitted text", "/act", m{"kind": "type", "selector": "#word", "text": "x", "submit": true}),
		gone("a script", "/act", m{"kind": "evaluate", "fn": "document.getElementById('drip').click(); new Promise(done => setTimeout(done, 5000))"}),
		gone("a navigation", "/navigate", m{"url": "SITE/drip"}),
		{Name: "the client leaves before its download has begun", Run: leavesEarly},
		{Name: "the client leaves during a download by ref", Run: leavesDownload},
		{Name: "the client leaves while it waits", Run: leavesWait},
		{Name: "the client leaves while an upload waits for its chooser", Run: leavesUpload},
		{Name: "a newer waiter takes over", Run: supersededWaiter},
		{Name: "the time of a transfer is over", Run: transferTime},
		{Name: "two files of one name by one click", Run: sameNamedDownloads},
		{Name: "a name for files that nobody named", Run: unnamedDownload},
		{Name: "names that are no names", Run: hostileNames},
		{Name: "where a file may be put", Run: refusedPaths},
		{Name: "a plain file is replaced", Run: replacedFile},
	}
}

// abortRequest sends a request and goes away when begun says that its endless file is on the way.
func abortRequest(s *suite, path string, body any, begun func() bool) {
	defer s.Site.EndDrips() // what nobody has cancelled must not trouble the next case
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
	awaitCancelled(s, ended)
}

// awaitCancelled waits until the site's endless file was cancelled once more than so often.
func awaitCancelled(s *suite, ended int) {
	begin := time.Now()
	s.waitUntil("the transfer to be cancelled", func() bool {
		s.wantWithin(6*time.Second, begin)
		return s.Site.Hits("/drip ended") > ended
	})
}

// leavesDuring does it on the page of files, and looks that all is as before and goes on.
func leavesDuring(s *suite, path string, body any) {
	s.openPage("/drips")
	before := listDownloads(s)
	abortRequest(s, path, body, downloadArriving(s, before))
	nothingLeft(s, before)
	actDownload(s)
}

// downloadArriving says whether there is more in the downloads folder than there was.
func downloadArriving(s *suite, before []string) func() bool {
	return func() bool { return len(listDownloads(s)) > len(before) }
}

// leavesEarly leaves when the site has the request, and the browser not yet the answer.
func leavesEarly(s *suite) {
	before := listDownloads(s)
	for _, action := range []m{
		{"kind": "click", "selector": "#drip"}, {"kind": "type", "selector": "#word", "text": "x", "submit": true},
	} {
		s.openPage("/drips")
		asked := s.Site.Hits("/drip")
		abortRequest(s, "/act", action, func() bool { return s.Site.Hits("/drip") > asked })
	}
	nothingLeft(s, before)
}

// listDownloads lists what is below the downloads folder, whatever it is.
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

func leavesWait(s *suite) {
	s.openPage("/files")
	for range 3 {
		if err := s.requestFor(150*time.Millisecond, "POST", "/wait/download", m{"path": "stolen.txt"}); err == nil {
			s.Fatal("something was downloaded by itself")
		}
	}
	actDownload(s)
	if _, err := os.Stat(filepath.Join(s.Home, "downloads", "stolen.txt")); err == nil {
		s.Fatal("a waiter that had gone took the file")
	}
}

func leavesUpload(s *suite) {
	uploadCases(s, "late.txt", "mine.txt")
	save := s.refOn("/form", "button", "Save")
	if err := s.requestFor(700*time.Millisecond, "POST", "/hooks/file-chooser", m{"paths": []string{"late.txt"}, "ref": save}); err == nil {
		s.Fatal("a button that opens no chooser took the file")
	}
	s.openPage("/files")
	s.call("POST", "/hooks/file-chooser", m{"paths": []string{"mine.txt"}}, nil)
	s.click("#choose")
	s.waitForSaid("mine.txt")
}

// startWaiter waits for a download in the background.
func startWaiter(s *suite, body m) <-chan waiterResult {
	came := make(chan waiterResult, 1)
	ctx := s.ctx()
	go func() {
		a, err := s.Request(ctx, "POST", "/wait/download", body)
		came <- waiterResult{a.Status, string(a.Body), err}
	}()
	return came
}

type waiterResult struct {
	status int
	body   string
	err    error
}

func supersededWaiter(s *suite) {
	s.openPage("/files")
	first := startWaiter(s, m{"path": "first.txt"})
	var second <-chan waiterResult
	var old waiterResult
	// The one that comes later says nothing when it is there, but the one before fails.
	for old.status == 0 && old.err == nil {
		second = startWaiter(s, m{"path": "second.txt"})
		select {
		case old = <-first:
		case <-time.After(300 * time.Millisecond):
			first = second
		}
	}
	if old.err != nil || old.status < 400 || !strings.Contains(old.body, "superseded") {
		s.Fatalf("the older waiter: %+v", old)
	}
	s.click("#get")
	got := <-second
	if got.err != nil || got.status != 200 || !strings.Contains(got.body, "second.txt") {
		s.Fatalf("the newer waiter: %+v", got)
	}
}

func transferTime(s *suite) {
	link := s.refOn("/drips", "link", "Drip")
	before := listDownloads(s)
	ended := s.Site.Hits("/drip ended")
	s.send(requestCase{Path: "/download", Body: m{"ref": link, "path": "half.bin", "timeoutMs": 900}, Status: 500})
	defer s.Site.EndDrips()
	awaitCancelled(s, ended)
	nothingLeft(s, before)
}
