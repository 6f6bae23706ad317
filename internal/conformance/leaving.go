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

// leaving is what becomes of files when a client goes away, when two want the same, and when a file cannot be put where it
// should: transfers end, nothing half-done stays, nobody gets what another asked for.
func leaving() []check {
	type m = map[string]any
	gone := func(name, path string, body m) check {
		return check{"the client leaves during " + name, func(ctx context.Context, s *suite) error { return s.leaves(ctx, path, body) }}
	}
	return []check{
		gone("a click", "/act", m{"kind": "click", "selector": "#drip"}),
		gone("a click of a batch", "/act", m{"kind": "batch", "actions": []any{m{"kind": "click", "selector": "#drip"}}}),
		gone("a key", "/act", m{"kind": "batch", "actions": []any{m{"kind": "type", "selector": "#word", "text": "x"}, m{"kind": "press", "key": "Enter"}}}),
		gone("a submitted text", "/act", m{"kind": "type", "selector": "#word", "text": "x", "submit": true}),
		gone("a script", "/act", m{"kind": "evaluate", "fn": "document.getElementById('drip').click(); new Promise(done => setTimeout(done, 5000))"}),
		gone("a navigation", "/navigate", m{"url": "SITE/drip"}),
		{"the client leaves before its download has begun", leavesEarly},
		{"the client leaves during a download by ref", leavesDownload},
		{"the client leaves while it waits", leavesWait},
		{"the client leaves while an upload waits for its chooser", leavesUpload},
		{"a newer waiter takes over", superseded},
		{"the time of a transfer is over", transferTime},
		{"two files of one name by one click", twins},
		{"a name for files that nobody named", unnamed},
		{"names that are no names", hostileNames},
		{"where a file may be put", places},
		{"a plain file is replaced", replaced},
	}
}

// leave sends a request and goes away when begun says that its endless file is on the way.
func (s *suite) leave(ctx context.Context, path string, body any, begun func() (bool, error)) error {
	defer s.site.endDrips() // what nobody has cancelled must not trouble the next check
	ended := s.site.hit("/drip ended")
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		a, err := s.Request(short, "POST", path, s.fill(body))
		if err == nil {
			err = fmt.Errorf("answered %d %.300s", a.Status, a.Body)
		}
		failed <- err
	}()
	err := s.until(ctx, "the file to be on the way", func() (bool, error) {
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
	return s.cancelled(ctx, ended)
}

// cancelled waits until the site's endless file was cancelled once more than so often.
func (s *suite) cancelled(ctx context.Context, ended int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 6*time.Second, errors.New("it went on for 6 s"))
	defer cancel()
	return s.until(ctx, "the transfer to be cancelled", func() (bool, error) { return s.site.hit("/drip ended") > ended, nil })
}

// leaves does it on the page of files, and looks that all is as before and goes on.
func (s *suite) leaves(ctx context.Context, path string, body any) error {
	if err := s.open(ctx, "/drips"); err != nil {
		return err
	}
	before, err := s.downloads()
	if err != nil {
		return err
	}
	if err := s.leave(ctx, path, body, s.arriving(before)); err != nil {
		return err
	}
	if err := s.nothingLeft(ctx, before); err != nil {
		return err
	}
	return actDownload(ctx, s)
}

// arriving says whether there is more in the downloads folder than there was.
func (s *suite) arriving(before []string) func() (bool, error) {
	return func() (bool, error) {
		now, err := s.downloads()
		return len(now) > len(before), err
	}
}

// leavesEarly leaves when the site has the request, and the browser not yet the answer.
func leavesEarly(ctx context.Context, s *suite) error {
	before, err := s.downloads()
	if err != nil {
		return err
	}
	for _, action := range []map[string]any{
		{"kind": "click", "selector": "#drip"}, {"kind": "type", "selector": "#word", "text": "x", "submit": true},
	} {
		if err := s.open(ctx, "/drips"); err != nil {
			return err
		}
		asked := s.site.hit("/drip")
		if err := s.leave(ctx, "/act", action, func() (bool, error) { return s.site.hit("/drip") > asked, nil }); err != nil {
			return err
		}
	}
	return s.nothingLeft(ctx, before)
}

// downloads lists what is below the downloads folder, whatever it is.
func (s *suite) downloads() ([]string, error) {
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

func (s *suite) nothingLeft(ctx context.Context, before []string) error {
	return s.until(ctx, "the downloads folder to be as before", func() (bool, error) {
		now, err := s.downloads()
		return err == nil && len(now) == len(before), err
	})
}

func leavesDownload(ctx context.Context, s *suite) error {
	before, err := s.downloads()
	if err != nil {
		return err
	}
	snap, err := s.snapshotOf(ctx, "/drips", "")
	if err != nil {
		return err
	}
	link, err := snap.ref("link", "Drip")
	if err != nil {
		return err
	}
	if err := s.leave(ctx, "/download", map[string]any{"ref": link, "path": "half.bin"}, s.arriving(before)); err != nil {
		return err
	}
	if err := s.nothingLeft(ctx, before); err != nil {
		return err
	}
	return refDownload(ctx, s)
}

func leavesWait(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
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

func leavesUpload(ctx context.Context, s *suite) error {
	if err := s.uploads("late.txt", "mine.txt"); err != nil {
		return err
	}
	snap, err := s.snapshotOf(ctx, "/form", "")
	if err != nil {
		return err
	}
	save, err := snap.ref("button", "Save")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
	defer cancel()
	if _, err := s.Request(short, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"late.txt"}, "ref": save}); err == nil {
		return errors.New("a button that opens no chooser took the file")
	}
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/hooks/file-chooser", map[string]any{"paths": []string{"mine.txt"}}, nil); err != nil {
		return err
	}
	if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "#choose"}); err != nil {
		return err
	}
	return s.says(ctx, "mine.txt")
}

// waiter waits for a download in the background.
func (s *suite) waiter(ctx context.Context, body map[string]any) <-chan waited {
	came := make(chan waited, 1)
	go func() {
		a, err := s.Request(ctx, "POST", "/wait/download", body)
		came <- waited{a.Status, string(a.Body), err}
	}()
	return came
}

type waited struct {
	status int
	body   string
	err    error
}

func superseded(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/files"); err != nil {
		return err
	}
	first := s.waiter(ctx, map[string]any{"path": "first.txt"})
	var second <-chan waited
	var old waited
	// The one that comes later says nothing when it is there, but the one before fails.
	for old.status == 0 && old.err == nil {
		second = s.waiter(ctx, map[string]any{"path": "second.txt"})
		select {
		case old = <-first:
		case <-time.After(300 * time.Millisecond):
			first = second
		}
	}
	if old.err != nil || old.status < 400 || !strings.Contains(old.body, "superseded") {
		return fmt.Errorf("the older waiter: %+v", old)
	}
	if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "#get"}); err != nil {
		return err
	}
	got := <-second
	if got.err != nil || got.status != 200 || !strings.Contains(got.body, "second.txt") {
		return fmt.Errorf("the newer waiter: %+v", got)
	}
	return nil
}

func transferTime(ctx context.Context, s *suite) error {
	snap, err := s.snapshotOf(ctx, "/drips", "")
	if err != nil {
		return err
	}
	link, err := snap.ref("link", "Drip")
	if err != nil {
		return err
	}
	before, err := s.downloads()
	if err != nil {
		return err
	}
	ended := s.site.hit("/drip ended")
	if err := (exchange{path: "/download", body: map[string]any{"ref": link, "path": "half.bin", "timeoutMs": 900}, status: 500}).run(ctx, s); err != nil {
		return err
	}
	defer s.site.endDrips()
	if err := s.cancelled(ctx, ended); err != nil {
		return err
	}
	return s.nothingLeft(ctx, before)
}
