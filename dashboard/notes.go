package dashboard

import (
	"net/http"

	"clank/dashboard/api"
	"clank/sessions"
)

// addTaskNote passes on to a task what the operator says to it. On the page,
// saying "stop" stops it.
func (s *Server) addTaskNote(w http.ResponseWriter, r *http.Request) {
	var in api.NoteRequest
	if !readJSON(w, r, &in) {
		return
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		writeError(w, http.StatusBadRequest, "origin must be %s or %s", sessions.FromDashboard, sessions.FromTerminal)
		return
	}
	if origin.Kind == sessions.FromDashboard && s.IsStop(in.Text) {
		writeJSON(w, http.StatusOK, s.stopAll())
		return
	}
	origin.Moderator = true // the machine is the operator's
	id, err := s.Manager.SendNote(r.Context(), r.PathValue("id"), origin, in.Text)
	if err != nil {
		s.writeManagerError(w, r, "tell the task", err)
		return
	}
	writeJSON(w, http.StatusAccepted, api.NoteAccepted{TaskID: id})
}
