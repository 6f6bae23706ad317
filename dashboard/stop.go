package dashboard

import (
	"net/http"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/sessions"
)

// operatorActor returns the actor for the user of the page: the owner of the machine, who may do anything. For
// work of Discord's users the name is "the operator", for the owner's own "you".
func operatorActor(kind sessions.OriginKind) cancel.Actor {
	if kind == sessions.FromDiscord {
		return cancel.Actor{Name: "the operator", Moderator: true}
	}
	return cancel.Actor{Name: "you", Moderator: true}
}

// stopTask stops one task, wherever it was asked for. A task that has ended already is none to stop, and no error.
func (s *Server) stopTask(w http.ResponseWriter, r *http.Request) error {
	t, err := s.Manager.Task(r.Context(), r.PathValue("id"))
	if err != nil {
		return failed("find the task", err)
	}
	out := api.TasksStopped{Stopped: []string{}}
	if t.State.Final() {
		return writeJSON(w, http.StatusOK, out)
	}
	if _, stopped := s.Scopes.StopWork(t.ID, operatorActor(t.Origin.Kind), true); stopped {
		out.Stopped = append(out.Stopped, t.ID)
	}
	return writeJSON(w, http.StatusOK, out)
}

// stopChannel stops everything that was asked for on the page.
func (s *Server) stopChannel(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.stopAll())
}

func (s *Server) stopAll() api.TasksStopped {
	stopped, _ := s.Scopes.Stop(cancel.Scope{Channel: api.PageChannel}, operatorActor(sessions.FromDashboard), true)
	out := api.TasksStopped{Stopped: []string{}}
	for _, w := range stopped {
		out.Stopped = append(out.Stopped, w.ID)
	}
	return out
}
