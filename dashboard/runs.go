package dashboard

import (
	"errors"
	"io"
	"net/http"

	"clank/sessions"
)

// Runs are the records of tasks.
type Runs interface {
	// Has reports whether the task was recorded.
	Has(task string) bool
	// Export writes the record of a task as a zip file.
	Export(w io.Writer, task string) error
}

// downloadRun serves the record of a task for download. A HEAD request asks whether there is one.
func (s *Server) downloadRun(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Manager.Task(r.Context(), r.PathValue("id"))
	switch {
	case err != nil && !errors.Is(err, sessions.ErrNotFound):
		return failed("read the task", err)
	case err != nil || !s.Runs.Has(t.ID):
		return refuse(http.StatusNotFound, "this task was not recorded")
	case t.Origin.Private:
		return refuse(http.StatusForbidden, "that was asked privately: its record is for the person who asked")
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="run-`+t.ID+`.zip"`)
	h.Set("Cache-Control", "private, no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.Runs.Export(w, t.ID); err != nil {
		s.Logger.Warn("record is not sent whole", "task", t.ID, "err", err)
		panic(http.ErrAbortHandler) // so that a part does not pass for the whole
	}
	return nil
}
