package dashboard

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"

	"clank/sessions"
)

// Inbox stores the files that are sent for tasks.
type Inbox interface {
	Receive(ctx context.Context, name string, r io.Reader) (sessions.File, error)
	// Received returns the received files with the given ids.
	Received(ids []string) ([]sessions.File, error)
	Discard(files ...sessions.File) error
}

// filesPath accepts raw file contents, where all other routes accept JSON.
const filesPath = "/api/files"

// receiveFile stores a file for a later task, under ?name=.
func (s *Server) receiveFile(w http.ResponseWriter, r *http.Request) error {
	c, deadline := http.NewResponseController(w), time.Now().Add(fileTimeout)
	if err := errors.Join(c.SetReadDeadline(deadline), c.SetWriteDeadline(deadline.Add(time.Minute))); err != nil {
		return failed("take the file", err)
	}
	f, err := s.Inbox.Receive(r.Context(), r.URL.Query().Get("name"), r.Body)
	if err != nil {
		return failed("take the file", err)
	}
	return writeJSON(w, http.StatusCreated, withoutPaths([]sessions.File{f})[0])
}

// fileTimeout bounds the transfer of a file from or to a browser.
const fileTimeout = 10 * time.Minute

// download serves a file that a task downloaded.
func (s *Server) download(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(t.Downloads, func(f sessions.File) bool { return f.ID == r.PathValue("file") })
	if at < 0 {
		return refuse(http.StatusNotFound, "the task has no such file")
	}
	s.auditExport(r, t, "download")
	file, err := os.Open(t.Downloads[at].Path)
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(http.StatusGone, "the file is not kept any more")
	}
	if err != nil {
		return failed("open the file", err)
	}
	defer file.Close()
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileTimeout)); err != nil {
		return failed("send the file", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream") // never to be rendered here
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.Downloads[at].Name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, file)
	return nil
}
