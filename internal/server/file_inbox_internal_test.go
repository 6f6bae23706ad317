package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// testDisk records what it is told, and has no room if full is set, nor for the session "full".
type testDisk struct {
	full   error
	kept   []sessions.Place
	closed []string
}

func (d *testDisk) Room(string, sessions.Place, int64) error { return d.full }

func (d *testDisk) Keep(session string, place sessions.Place, _ int64) error {
	d.kept = append(d.kept, place)
	if session == "full" {
		return sessions.ErrNoRoom
	}
	return nil
}

func (d *testDisk) ForgetTask(session string) { d.closed = append(d.closed, session) }

func newTestInbox(t *testing.T) (*FileInbox, *testDisk) {
	t.Helper()
	d := new(testDisk)
	return &FileInbox{Dir: t.TempDir(), MaxBytes: func() int64 { return 1 << 20 }, Disk: d}, d
}

func TestReceivedFilesGoToTheirSession(t *testing.T) {
	t.Parallel()
	i, disk := newTestInbox(t)
	got, err := i.Receive(t.Context(), `../..\etc/c`+"\u202e"+`v.pdf`, strings.NewReader("%PDF-1.7 and so on"))
	check.Must(t, err)
	want := sessions.File{Name: "cv.pdf", Type: "application/pdf", Size: 18}
	check.Diff(t, "received", got, want, cmpopts.IgnoreFields(sessions.File{}, "ID", "Path"))
	again, err := i.Received([]string{got.ID})
	check.Must(t, err)
	server := sessions.Session{ID: "bcdfgh", Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "1"}}
	private := sessions.Session{ID: "jkmnpq", Origin: sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "1", User: "7",
		Private: true,
	}}
	for _, s := range []sessions.Session{server, private} {
		adopted, err := i.Adopt(s, again)
		check.Must(t, err)
		if adopted[0].ID == got.ID || filepath.Dir(filepath.Dir(adopted[0].Path)) != i.Folder(s.ID) {
			t.Errorf("session %s has %+v, want one with an id of its own in %q", s.ID, adopted[0], i.Folder(s.ID))
		}
		data, err := os.ReadFile(adopted[0].Path)
		if err != nil || string(data) != "%PDF-1.7 and so on" {
			t.Errorf("got %q, %v", data, err)
		}
		info, err := os.Stat(adopted[0].Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("got mode %v, %v; want it private", info.Mode(), err)
		}
	}
	if want := []sessions.Place{"", "server-1", "person-7"}; !cmp.Equal(disk.kept, want) {
		t.Errorf("counted for %q, want %q", disk.kept, want)
	}
	check.Fails(t, check.Err(i.Adopt(sessions.Session{ID: "full"}, again)), sessions.ErrNoRoom)
	check.Must(t, i.Discard(again...))
	check.Fails(t, check.Err(i.Received([]string{got.ID})), sessions.ErrNotFound, "send it again")
	i.Forget(server.ID)
	if i.Folder(server.ID) != "" || i.Folder(private.ID) == "" || i.Folder("*") != "" || i.Folder("") != "" ||
		i.Folder("..") != "" {
		t.Error("the wrong folders are left")
	}
	if want := []string{server.ID}; !slices.Equal(disk.closed, want) {
		t.Errorf("the files of %q are not counted any more, want %q", disk.closed, want)
	}
}

func TestAnIncompleteUploadIsNotKept(t *testing.T) {
	t.Parallel()
	gone, end := context.WithCancelCause(t.Context())
	end(&cancel.Cause{Reason: cancel.Stopped})
	broken := errors.New("the line broke")
	for _, tt := range []struct {
		name string
		ctx  context.Context
		from io.Reader
		full error
		want error
	}{
		{"too large", t.Context(), bytes.NewReader(make([]byte, 1<<20+1)), nil, sessions.ErrFileTooLarge},
		{"stopped", gone, strings.NewReader("x"), nil, context.Cause(gone)},
		{"broken off", t.Context(), io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)), nil, broken},
		{"no room", t.Context(), strings.NewReader("x"), sessions.ErrNoRoom, sessions.ErrNoRoom},
	} {
		i, disk := newTestInbox(t)
		disk.full = tt.full
		f, err := i.Receive(tt.ctx, "a.txt", tt.from)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
		if left, _ := os.ReadDir(i.receivedDir()); len(left) > 0 {
			t.Errorf("%s: %v is left", tt.name, left)
		}
		check.Fails(t, check.Err(i.Received([]string{f.ID})), sessions.ErrNotFound)
	}
}

func TestUnusedReceivedFilesAreRemoved(t *testing.T) {
	t.Parallel()
	i, _ := newTestInbox(t)
	// a name and a content that are none are no reason to fail
	old, err := i.Receive(t.Context(), "", strings.NewReader(""))
	check.Must(t, err)
	past := time.Now().Add(-2 * receivedLife)
	check.Must(t, os.Chtimes(filepath.Dir(old.Path), past, past))
	fresh, err := i.Receive(t.Context(), "b", strings.NewReader("b"))
	check.Must(t, err)
	if left, _ := os.ReadDir(i.receivedDir()); len(left) != 1 || left[0].Name() != fresh.ID {
		t.Errorf("left are %v, want %s alone", left, fresh.ID)
	}
}
