package dashboard

import (
	"net/http"

	"clank/dashboard/api"
	"clank/sessions"
)

// addTaskNote passes on to a task what the operator says to it. On the page, saying "stop" stops it.
func (s *Server) addTaskNote(w http.ResponseWriter, r *http.Request) error {
	var in api.NoteRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		return refuse(http.StatusBadRequest, "origin must be %s or %s", sessions.FromDashboard, sessions.FromTerminal)
	}
	if origin.Kind == sessions.FromDashboard && s.IsStop(in.Text) {
		return writeJSON(w, http.StatusOK, s.stopAll())
	}
	origin.Moderator = true // the machine is the operator's
	id, err := s.Manager.SendNote(r.Context(), r.PathValue("id"), origin, in.Text)
	return writeResult(w, http.StatusAccepted, "tell the task", api.NoteAccepted{TaskID: id}, err)
}
