package dashboard

import (
	"net/http"

	"clank/dashboard/wire"
	"clank/sessions"
)

// sayToTask passes on to a task what the operator says to it. On the page,
// saying "stop" stops it.
func (s *Server) sayToTask(w http.ResponseWriter, r *http.Request) {
	var in wire.Saying
	if !read(w, r, &in) {
		return
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		fail(w, http.StatusBadRequest, "origin must be %s or %s", sessions.FromDashboard, sessions.FromTerminal)
		return
	}
	if origin.Kind == sessions.FromDashboard && s.IsStop(in.Text) {
		reply(w, http.StatusOK, s.stopAll())
		return
	}
	origin.Moderator = true // the machine is the operator's
	id, err := s.Manager.Say(r.Context(), r.PathValue("id"), origin, in.Text)
	if err != nil {
		s.refuse(w, r, "tell the task", err)
		return
	}
	reply(w, http.StatusAccepted, wire.Said{TaskID: id})
}
