package dashboard

import (
	"errors"
	"io"
	"net/http"

	"clank/dashboard/api"
	"clank/sessions"
)

// Runs stores the records of tasks.
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
	case !visitorOf(r).mayRead(t.Origin):
		return refuse(http.StatusForbidden, "that was asked privately: its record is for the person who asked")
	}
	setDownload(w, "application/zip", "run-"+t.ID+".zip")
	if r.Method == http.MethodHead {
		return nil
	}
	s.auditExport(r, t, "run")
	if err := s.Runs.Export(w, t.ID); err != nil {
		s.Logger.Warn("record is not sent whole", "task", t.ID, "err", err)
		panic(http.ErrAbortHandler) // so that a truncated file does not look complete
	}
	return nil
}

// addTaskNote passes a note from the operator to a running task. The note "stop" on the page stops the task.
func (s *Server) addTaskNote(w http.ResponseWriter, r *http.Request) error {
	var in api.NoteRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		return refuse(http.StatusBadRequest, "origin must be %s or %s", sessions.FromDashboard, sessions.FromTerminal)
	}
	if visitorOf(r).role == RoleOperator && origin.Kind == sessions.FromDashboard && s.Host.IsStop(in.Text) {
		return writeJSON(w, http.StatusOK, s.stopAll(theOperator, origin))
	}
	origin.Moderator = true // the operator owns the machine
	v := visitorOf(r)
	at, err := s.noteOrigin(r)
	member := v.role < RoleOperator
	switch {
	case member && err != nil:
		return err
	case member && at.User == v.id && s.Host.IsStop(in.Text):
		return writeJSON(w, http.StatusOK, s.stopAll(v, at))
	}
	if member || err == nil && at.Private {
		if origin, err = s.originAt(r.Context(), v, at); err != nil {
			return err
		}
	}
	id, err := s.Manager.SendNote(r.Context(), r.PathValue("id"), origin, in.Text)
	return writeResult(w, http.StatusAccepted, "tell the task", api.NoteAccepted{TaskID: id}, err)
}

// noteOrigin returns the origin of the task or session that the note is for, if the visitor sees it.
func (s *Server) noteOrigin(r *http.Request) (sessions.Origin, error) {
	if t, err := s.seenTask(r, "id"); err == nil {
		return t.Origin, nil
	}
	se, err := s.seenSession(r)
	return se.Origin, err
}
