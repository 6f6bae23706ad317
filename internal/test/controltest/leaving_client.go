package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leavingClientCases is what becomes of files when a client goes away, when two want the same, and when a file cannot be put where it
// should: transfers end, nothing half-done stays, nobody gets what another asked for.
func leavingClientCases() []testCase {
	type m = map[string]any
	gone := func(name, path string, body m) testCase {
		return testCase{Name: "the client leaves during " + name, Run: func(ctx context.Context, s *controlSuite) error { return leavesDuring(ctx, s, path, body) }}
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
		testCase{Name: "two files of one name by one click", Run: sameNamedDownloads}.retried(),
		{Name: "a name for files that nobody named", Run: unnamedDownload},
		{Name: "names that are no names", Run: hostileNames},
		{Name: "where a file may be put", Run: refusedPaths},
		{Name: "a plain file is replaced", Run: replacedFile},
	}
}

// abortRequest sends a request and goes away when begun says that its endless file is on the way.
func abortRequest(ctx context.Context, s *controlSuite, path string, body any, begun func() (bool, error)) error {
	defer s.Site.EndDrips() // what nobody has cancelled must not trouble the next case
	ended := s.Site.Hits("/drip ended")
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		a, err := s.Request(short, "POST", path, s.insertSiteURL(body))
		if err == nil {
			err = fmt.Errorf("answered %d %.300s", a.Status, a.Body)
		}
		failed <- err
	}()
	err := s.waitUntil(ctx, "the file to be on the way", func() (bool, error) {
		select {
		case err := <-failed:
			return false, fmt.Errorf("before it left: %w", err)
		default:
			return begun()
		}
	})
	if err != nil {
		return err
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		return err
	}
	return awaitCancelled(ctx, s, ended)
}

// awaitCancelled waits until the site's endless file was cancelled once more than so often.
func awaitCancelled(ctx context.Context, s *controlSuite, ended int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 6*time.Second, errors.New("it went on for 6 s"))
	defer cancel()
	return s.waitUntil(ctx, "the transfer to be cancelled", func() (bool, error) { return s.Site.Hits("/drip ended") > ended, nil })
}

// leavesDuring does it on the page of files, and looks that all is as before and goes on.
func leavesDuring(ctx context.Context, s *controlSuite, path string, body any) error {
	if err := s.openPage(ctx, "/drips"); err != nil {
		return err
	}
	before, err := listDownloads(s)
	if err != nil {
		return err
	}
	if err := abortRequest(ctx, s, path, body, downloadArriving(s, before)); err != nil {
		return err
	}
	if err := nothingLeft(ctx, s, before); err != nil {
		return err
	}
	return actDownload(ctx, s)
}

// downloadArriving says whether there is more in the downloads folder than there was.
func downloadArriving(s *controlSuite, before []string) func() (bool, error) {
	return func() (bool, error) {
		now, err := listDownloads(s)
		return len(now) > len(before), err
	}
}

// leavesEarly leaves when the site has the request, and the browser not yet the answer.
func leavesEarly(ctx context.Context, s *controlSuite) error {
	before, err := listDownloads(s)
	if err != nil {
		return err
	}
	for _, action := range []map[string]any{
		{"kind": "click", "selector": "#drip"}, {"kind": "type", "selector": "#word", "text": "x", "submit": true},
	} {
		if err := s.openPage(ctx, "/drips"); err != nil {
			return err
		}
		asked := s.Site.Hits("/drip")
		if err := abortRequest(ctx, s, "/act", action, func() (bool, error) { return s.Site.Hits("/drip") > asked, nil }); err != nil {
			return err
		}
	}
	return nothingLeft(ctx, s, before)
}

// listDownloads lists what is below the downloads folder, whatever it is.
func listDownloads(s *controlSuite) ([]string, error) {
	var out []string
	root := filepath.Join(s.Home, "downloads")
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, strings.TrimPrefix(path, root))
		}
		return nil
	})
	return out, err
}

func nothingLeft(ctx context.Context, s *controlSuite, before []string) error {
	return s.waitUntil(ctx, "the downloads folder to be as before", func() (bool, error) {
		now, err := listDownloads(s)
		return err == nil && len(now) == len(before), err
	})
}

func leavesDownload(ctx context.Context, s *controlSuite) error {
	before, err := listDownloads(s)
	if err != nil {
		return err
	}
	snap, err := s.SnapshotOf(ctx, "/drips", "")
	if err != nil {
		return err
	}
	link, err := snap.Ref("link", "Drip")
	if err != nil {
		return err
	}
	if err := abortRequest(ctx, s, "/download", map[string]any{"ref": link, "path": "half.bin"}, downloadArriving(s, before)); err != nil {
		return err
	}
	if err := nothingLeft(ctx, s, before); err != nil {
		return err
	}
	return refDownload(ctx, s)
}

func leavesWait(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	for range 3 {
		short, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		_, err := s.Request(short, "POST", "/wait/download", map[string]any{"path": "stolen.txt"})
		cancel()
		if err == nil {
			return errors.New("something was downloaded by itself")
		}
	}
	if err := actDownload(ctx, s); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.Home, "downloads", "stolen.txt")); err == nil {
		return errors.New("a waiter that had gone took the file")
	}
	return nil
}

func leavesUpload(ctx context.Context, s *controlSuite) error {
	if err := uploadCases(s, "late.txt", "mine.txt"); err != nil {
		return err
	}
	snap, err := s.SnapshotOf(ctx, "/form", "")
	if err != nil {
		return err
	}
	save, err := snap.Ref("button", "Save")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
	defer cancel()
	if _, err := s.Request(short, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"late.txt"}, "ref": save}); err == nil {
		return errors.New("a button that opens no chooser took the file")
	}
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"mine.txt"}}, nil); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#choose"}); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "mine.txt")
}

// startWaiter waits for a download in the background.
func startWaiter(ctx context.Context, s *controlSuite, body map[string]any) <-chan waiterResult {
	came := make(chan waiterResult, 1)
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

func supersededWaiter(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/files"); err != nil {
		return err
	}
	first := startWaiter(ctx, s, map[string]any{"path": "first.txt"})
	var second <-chan waiterResult
	var old waiterResult
	// The one that comes later says nothing when it is there, but the one before fails.
	for old.status == 0 && old.err == nil {
		second = startWaiter(ctx, s, map[string]any{"path": "second.txt"})
		select {
		case old = <-first:
		case <-time.After(300 * time.Millisecond):
			first = second
		}
	}
	if old.err != nil || old.status < 400 || !strings.Contains(old.body, "superseded") {
		return fmt.Errorf("the older waiter: %+v", old)
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#get"}); err != nil {
		return err
	}
	got := <-second
	if got.err != nil || got.status != 200 || !strings.Contains(got.body, "second.txt") {
		return fmt.Errorf("the newer waiter: %+v", got)
	}
	return nil
}

func transferTime(ctx context.Context, s *controlSuite) error {
	snap, err := s.SnapshotOf(ctx, "/drips", "")
	if err != nil {
		return err
	}
	link, err := snap.Ref("link", "Drip")
	if err != nil {
		return err
	}
	before, err := listDownloads(s)
	if err != nil {
		return err
	}
	ended := s.Site.Hits("/drip ended")
	if err := (requestCase{Path: "/download", Body: map[string]any{"ref": link, "path": "half.bin", "timeoutMs": 900}, Status: 500}).Run(ctx, s); err != nil {
		return err
	}
	defer s.Site.EndDrips()
	if err := awaitCancelled(ctx, s, ended); err != nil {
		return err
	}
	return nothingLeft(ctx, s, before)
}
