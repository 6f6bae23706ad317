package dashboard

import (
	"context"
	"net/http"
	"slices"

	"clank/dashboard/api"
	"clank/sessions"
)

// listed is how many sessions are shown of each door, and among how many tasks
// their first words are looked for.
const (
	maxListedSessions = 100
	maxSearchedTasks  = 400
)

func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) {
	list, err := s.sessionViews(r.Context())
	if err != nil {
		s.writeManagerError(w, r, "list the sessions", err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

// closeSession ends a session for good.
func (s *Server) closeSession(w http.ResponseWriter, r *http.Request) {
	if err := s.Manager.CloseSession(r.Context(), r.PathValue("id"), operatorActor(sessions.FromDashboard)); err != nil {
		s.writeManagerError(w, r, "close the session", err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// sessionViews returns the sessions of the page and of terminals, last used
// first.
func (s *Server) sessionViews(ctx context.Context) ([]api.SessionView, error) {
	views := []api.SessionView{}
	for _, kind := range []sessions.OriginKind{sessions.FromDashboard, sessions.FromTerminal} {
		origin, _ := originOf(kind)
		list, err := s.Manager.Sessions(ctx, sessions.SessionQuery{Of: &origin, Limit: maxListedSessions})
		if err != nil {
			return nil, err
		}
		tasks, err := s.Manager.Tasks(ctx, sessions.TaskQuery{Kind: kind, Limit: maxSearchedTasks})
		if err != nil {
			return nil, err
		}
		first := make(map[string]string) // by session; tasks come last asked first
		for _, t := range tasks {
			first[t.SessionID] = t.Prompt
		}
		for _, se := range list {
			se.Memory = nil
			views = append(views, api.SessionView{Session: se, Prompt: first[se.ID]})
		}
	}
	slices.SortStableFunc(views, func(a, b api.SessionView) int { return b.LastUsed.Compare(a.LastUsed) })
	return views, nil
}
