package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// maxShelved is how large a file may be, in bytes: more than what else is sent may have.
const maxShelved = 2 << 20

// shelf keeps the files that are sent, and those of sessions.
type shelf struct {
	mu    sync.Mutex
	kept  map[string]string // contents by id
	names map[string]string
}

func (s *shelf) Receive(_ context.Context, name string, r io.Reader) (f sessions.File, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxShelved+1))
	switch {
	case err != nil:
		return f, err
	case len(data) > maxShelved:
		return f, fmt.Errorf("%w: a file may have 2 MB", sessions.ErrFileTooLarge)
	case name == "full":
		return f, fmt.Errorf("%w: the disk is full", sessions.ErrNoRoom)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept, s.names = map[string]string{}, map[string]string{}
	}
	f = sessions.File{ID: sessions.NewFileID(), Name: filepath.Base(name), Size: int64(len(data)), Path: "/received"}
	s.kept[f.ID], s.names[f.ID] = string(data), f.Name
	return f, nil
}

func (s *shelf) Received(ids []string) (list []sessions.File, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		data, known := s.kept[id]
		if !known {
			return nil, fmt.Errorf("file %q: %w", id, sessions.ErrNotFound)
		}
		list = append(list, sessions.File{ID: id, Name: s.names[id], Size: int64(len(data)), Path: "/received"})
	}
	return list, nil
}

func (s *shelf) Discard(list ...sessions.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range list {
		delete(s.kept, f.ID)
	}
	return nil
}

func (s *shelf) Adopt(_ sessions.Session, received []sessions.File) ([]sessions.File, error) {
	return received, nil
}

func (s *shelf) Forget(string) {}

func (s *shelf) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

// startWithFiles starts a page that takes files.
func startWithFiles(t *testing.T) (*rig, *shelf) {
	t.Helper()
	kept := new(shelf)
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Inbox, s.Manager.Files = kept, kept
	})
	return r, kept
}

func TestFilesAreAcceptedForTasks(t *testing.T) {
	r, kept := startWithFiles(t)
	bytes, own := header("Content-Type", "application/octet-stream"), r.server.URL()
	large := strings.Repeat("x", 2<<20)
	for _, tc := range []struct {
		name, path, body string
		changes          []change
		want             int
		says             string
	}{
		{"larger than all else", "?name=a.txt", large, []change{bytes}, http.StatusCreated, `"size":2097152`},
		{"empty", "?name=a.txt", "", []change{bytes, header("Origin", own)}, http.StatusCreated, `"size":0`},
		{"too large", "?name=a.txt", large + "x", []change{bytes}, http.StatusRequestEntityTooLarge, "may have 2 MB"},
		{"no room", "?name=full", "x", []change{bytes}, http.StatusInsufficientStorage, "the disk is full"},
		{
			"a form of another site", "?name=a", "x",
			[]change{header("Content-Type", "multipart/form-data")},
			415,
			"octet-stream",
		},
		{"JSON", "?name=a", "{}", nil, 415, "octet-stream"},
		{"another site", "?name=a", "x", []change{bytes, header("Sec-Fetch-Site", "cross-site")}, 403, "another site"},
		{"a stranger", "?name=a", "x", []change{bytes, header("Authorization", "")}, http.StatusUnauthorized, "sign in"},
		{"a file elsewhere", "/x", "x", []change{bytes}, 415, "application/json"},
	} {
		status, body := r.ask("POST", "/api/files"+tc.path, tc.body, tc.changes...)
		if status != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, status, body, tc.want)
		}
		check.Contains(t, body, tc.says)
		if strings.Contains(body, "/received") {
			t.Errorf("%s: it is told where the file is: %s", tc.name, body)
		}
	}
	if got, _ := r.ask("POST", "/api/tasks", `{"prompt":"`+large+`"}`); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a task of 2 MB: %d", got)
	}
	check.Equal(t, "files are kept", kept.len(), 2)
	if got, body := r.ask("POST", "/api/tasks",
		`{"prompt":"brief","files":["../../etc/passwd"]}`); got != http.StatusNotFound {
		t.Errorf("a task with a file that was not sent: %d %s", got, body)
	}
}

func TestAnIncompleteUploadIsRefused(t *testing.T) {
	r, kept := startWithFiles(t)
	ctx, end := context.WithCancel(t.Context())
	from, to := io.Pipe()
	began := make(chan struct{})
	go func() {
		_, _ = to.Write([]byte("half of it")) // it returns once that is read
		close(began)
	}()
	done := make(chan error, 1)
	go func() { done <- check.Err(r.client().SendFile(ctx, "a.txt", from)) }()
	<-began
	end()
	select {
	case err := <-done:
		check.Fails(t, err, context.Canceled)
	case <-browsertest.Within(t, time.Minute).Done():
		t.Fatal("a canceled upload goes on")
	}
	r.close() // which waits for what is under way
	if kept.len() > 0 {
		t.Error("a part of a file is kept as the whole")
	}
}

func TestFilesComeWithTheirTaskAndGoWithIt(t *testing.T) {
	r, kept := startWithFiles(t)
	sent, err := r.client().SendFile(t.Context(), "../cv.pdf", strings.NewReader("%PDF"))
	check.Must(t, err)
	rec := r.finish(`{"prompt":"brief","files":["` + sent.ID + `"]}`)
	check.Diff(t, "files of the task", rec.Files, []sessions.File{{ID: sent.ID, Name: "cv.pdf", Size: 4}})
	eventually(t, "the file that was sent goes", func() bool { return kept.len() == 0 })
	if got, _ := r.ask("POST", "/api/tasks", `{"prompt":"brief","files":["`+sent.ID+`"]}`); got != http.StatusNotFound {
		t.Errorf("a file that is gone, once more: %d", got)
	}
}

// offer runs a task in whose pages a file of this content is offered.
func (r *rig) offer(task sessions.Task, name, content string) sessions.TaskRecord {
	r.t.Helper()
	path := filepath.Join(r.t.TempDir(), "kept")
	check.Must(r.t, os.WriteFile(path, []byte(content), 0o600))
	task.Prompt = "find it"
	rec, err := r.manager.Run(r.t.Context(), task, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Kind == sessions.StepAct && ev.Step.Phase == sessions.PhaseBegun && ev.Step.N < 3 {
			r.manager.AddDownload(ev.Record.SessionID, sessions.File{Name: name, Path: path})
		}
	})
	check.Must(r.t, err)
	return rec
}

func TestWhatPagesOfferedIsServed(t *testing.T) {
	r, _ := startWithFiles(t)
	rec := r.offer(sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDashboard}}, `"Rechnung" für März.html`,
		"<script>")
	_, body := r.ask("GET", "/api/tasks/"+rec.ID, "")
	check.Lacks(t, body, rec.Downloads[0].Path)
	base := "/api/tasks/" + rec.ID + "/downloads/"
	res := r.do("GET", base+rec.Downloads[0].ID, "")
	got, err := io.ReadAll(res.Body)
	check.Must(t, errors.Join(err, res.Body.Close()))
	if string(got) != "<script>" || res.StatusCode != http.StatusOK {
		t.Errorf("got %d %q", res.StatusCode, got)
	}
	for name, want := range map[string]string{
		"Content-Type":            "application/octet-stream",
		"Content-Disposition":     "attachment; filename*=utf-8''%22Rechnung%22%20f%C3%BCr%20M%C3%A4rz.html",
		"Content-Security-Policy": "default-src 'none'; sandbox",
		"X-Content-Type-Options":  "nosniff",
	} {
		check.Equal(t, name, res.Header.Get(name), want)
	}
	private := r.offer(sessions.Task{Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "u", Private: true}},
		"a.pdf", "hers")
	elsewhere := "/api/tasks/" + private.ID + "/downloads/"
	nobody := header("Authorization", "")
	for _, tc := range []struct {
		path string
		as   change
		want int
	}{
		{base + rec.Downloads[0].ID, nobody, http.StatusUnauthorized},
		{base + private.Downloads[0].ID, func(*http.Request) {}, http.StatusNotFound},
		{base + "..%2f..%2fclank.db", func(*http.Request) {}, http.StatusNotFound},
		{base + "0", func(*http.Request) {}, http.StatusNotFound},
		{"/api/tasks/x/downloads/" + rec.Downloads[0].ID, func(*http.Request) {}, http.StatusNotFound},
		{elsewhere + private.Downloads[0].ID, func(*http.Request) {}, http.StatusForbidden},
	} {
		if got, body := r.ask("GET", tc.path, "", tc.as); got != tc.want || strings.Contains(body, "hers") {
			t.Errorf("%s: %d %s, want %d", tc.path, got, body, tc.want)
		}
	}
	check.Must(t, os.Remove(rec.Downloads[0].Path))
	if got, body := r.ask("GET", base+rec.Downloads[0].ID, ""); got != http.StatusGone {
		t.Errorf("a file that is not kept any more: %d %s", got, body)
	}
	_, records := r.ask("GET", "/api/records?kind=exported", "")
	check.Contains(t, records, `"what":"download"`)
}

func TestFilesAreAttachedToAMessageAndDownloadsFetched(t *testing.T) {
	r, kept := startWithFiles(t)
	c := launch(t)
	tb := r.arrive(c, 1280, 860, "light")
	const with = `(...names) => {
		const data = new DataTransfer();
		for (const name of names) data.items.add(new File([name], name));
		return data;
	}`
	const rows = `[...document.querySelectorAll("#files li:not([aria-busy])")].map((li) => li.textContent).join(", ")`
	tb.Eval(`window.files = ` + with)
	tb.Eval(`(() => {
		const input = document.getElementById("file-input");
		input.files = files("cv.pdf", "wrong.txt").files;
		input.dispatchEvent(new Event("change"));
		const to = document.querySelector("main"), box = document.getElementById("prompt");
		to.dispatchEvent(new DragEvent("drop", { dataTransfer: files("dropped.png"), bubbles: true, cancelable: true }));
		box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: files("pasted.png"), bubbles: true, cancelable: true }));
		input.dataset.max = 3;
		input.files = files("huge").files;
		input.dispatchEvent(new Event("change"));
	})()`)
	tb.waitFor(rows + ` === "cv.pdf · 6 bytes, wrong.txt · 9 bytes, dropped.png · 11 bytes, pasted.png · 10 bytes"`)
	tb.waitFor(`document.getElementById("hint-text").textContent === "huge is too large: a file may have 3 bytes."`)
	tb.click(`#files [aria-label="Remove wrong.txt"]`)
	tb.say("hold: upload them")
	tb.waitFor(`document.querySelectorAll(".ask .files li").length === 3 && document.querySelector(".step .sign.spin")`)
	if got := tb.Eval(`document.querySelectorAll("#files li").length`); got != 0. {
		t.Errorf("the next message has %v files already", got)
	}
	r.backend.mu.Lock()
	task := r.backend.tasks[0]
	r.backend.mu.Unlock()
	var names []string
	for _, f := range task.Files {
		names = append(names, f.Name)
	}
	if want := []string{"cv.pdf", "dropped.png", "pasted.png"}; !cmp.Equal(names, want) {
		t.Errorf("the task has %q, want %q", names, want)
	}
	path := filepath.Join(t.TempDir(), "kept")
	check.Must(t, os.WriteFile(path, []byte("an invoice"), 0o600))
	live := r.running()
	r.manager.AddDownload(live.SessionID, sessions.File{Name: "invoice.pdf", Size: 10, Path: path})
	r.backend.letGo()
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`document.querySelector(".download")?.textContent === "invoice.pdf · 10 bytes"`)
	tb.Eval(`(() => {
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; }); return make(blob); };
	})()`)
	tb.click(".download")
	tb.waitFor(`window.saved === "an invoice"`)
	eventually(t, "what was sent goes, but for what was left out", func() bool { return kept.len() == 1 })
	c.clean()
}

// running returns the task that runs.
func (r *rig) running() sessions.TaskRecord {
	r.t.Helper()
	list, err := r.manager.Tasks(r.t.Context(), taskQueryAll)
	check.Must(r.t, err)
	for _, rec := range list {
		if rec.State == sessions.TaskRunning {
			return rec
		}
	}
	r.t.Fatalf("none of %d tasks runs", len(list))
	return sessions.TaskRecord{}
}
