package sessions_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// fileShelf is a [sessions.FileStore] that records its calls.
type fileShelf struct {
	full      error
	forgotten []string
}

func (f *fileShelf) Adopt(s sessions.Session, received []sessions.File) (list []sessions.File, err error) {
	for _, file := range received {
		file.Path = s.ID + "/" + file.Name
		list = append(list, file)
	}
	return list, f.full
}

func (f *fileShelf) Forget(sessionID string) { f.forgotten = append(f.forgotten, sessionID) }

func TestFilesGoToTheSessionAndDownloadsToTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		seen := make(chan []sessions.File, 1)
		r := newRig(t, sessions.Limits{},
			&sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
				seen <- task.Files
				click := sessionstest.Wait("click", hold)
				click.Step.Secrets = []string{"hunter2"}
				return []sessionstest.ScriptStep{click, sessionstest.Answer("done")}
			}})
		shelf := &fileShelf{}
		r.Files = shelf
		task := named("mine", "ada", "p")
		task.Files = []sessions.File{{ID: "a", Name: "cv.pdf", Path: "elsewhere"}}
		run := r.start(t.Context(), task)
		files := <-seen
		live, err := r.Task(t.Context(), "mine")
		check.Must(t, err)
		session := live.SessionID
		if want := []sessions.File{{ID: "a", Name: "cv.pdf", Path: session + "/cv.pdf"}}; !cmp.Equal(files, want) {
			t.Errorf("the backend got %+v, want %+v", files, want)
		}
		r.AddDownload("other", sessions.File{Name: "of another session"})
		r.AddDownload(session, sessions.File{Name: "invoice.pdf", Path: "/x/invoice.pdf"})
		r.AddDownload(session, sessions.File{Name: "hunter2.pdf", Path: "/x/hunter2.pdf"})
		close(hold)
		rec := run.end(t)
		r.AddDownload(session, sessions.File{Name: "too late"})
		stored, err := r.Task(t.Context(), "mine")
		check.Must(t, err)
		for _, got := range []sessions.TaskRecord{rec, stored} {
			for i := range got.Downloads {
				if got.Downloads[i].ID == "" {
					t.Error("a download has no id")
				}
				got.Downloads[i].ID = ""
			}
			want := []sessions.File{{Name: "invoice.pdf", Path: "/x/invoice.pdf"}, {Name: "••••.pdf"}}
			check.Diff(t, "downloads", got.Downloads, want)
			check.Equal(t, "len(got.Files)", len(got.Files), 1)
		}
		check.Must(t, r.CloseSession(t.Context(), session, ada))
		if want := []string{session}; !cmp.Equal(shelf.forgotten, want) {
			t.Errorf("forgot the files of %q, want %q", shelf.forgotten, want)
		}
	})
}

func TestATaskWhoseFilesCannotBeTakenIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files int
		store sessions.FileStore
		want  string
	}{
		{"nowhere to keep them", 1, nil, "leave them out"},
		{"too many", sessions.MaxTaskFiles + 1, &fileShelf{}, "11 files"},
		{"no room", 1, &fileShelf{full: errors.New("the disk is full")}, "the disk is full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, sessions.Limits{}, &sessionstest.Backend{})
			r.Files = tt.store
			task := named("mine", "ada", "p")
			task.Files = make([]sessions.File, tt.files)
			check.Fails(t, check.Err(r.Run(context.Background(), task, nil)), sessions.ErrBadTask, tt.want)
		})
	}
}
