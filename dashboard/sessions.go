package dashboard

import (
	"context"
	"net/http"
	"slices"

	"clank/dashboard/api"
	"clank/sessions"
)

// listed is how many sessions are shown of each door, and among how many tasks their first words are looked for.
const (
	maxListedSessions = 100
	maxSearchedTasks  = 400
)

func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) error {
	list, err := s.sessionViews(r.Context())
	return writeResult(w, http.StatusOK, "list the sessions", list, err)
}

// closeSession ends a session for good.
func (s *Server) closeSession(w http.ResponseWriter, r *http.Request) error {
	if err := s.Manager.CloseSession(r.Context(), r.PathValue("id"), operatorActor(sessions.FromDashboard)); err != nil {
		return failed("close the session", err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// live is the WebSocket over which the page of a session is watched and worked.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if s.Live == nil {
		return refuse(http.StatusNotFound, "pages of sessions cannot be watched here")
	}
	s.Live.ServeHTTP(w, r)
	return nil
}

// doors are those whose sessions and tasks are shown.
var doors = []sessions.OriginKind{sessions.FromDashboard, sessions.FromTerminal, sessions.FromDiscord}

// sessionViews returns the sessions that are not private, last used first.
func (s *Server) sessionViews(ctx context.Context) ([]api.SessionView, error) {
	views := []api.SessionView{}
	for _, kind := range doors {
		list, err := s.Manager.Sessions(ctx, sessions.SessionQuery{Kind: kind, Limit: maxListedSessions})
		if err != nil {
			return nil, err
		}
		tasks, err := s.Manager.Tasks(ctx, sessions.TaskQuery{Kind: kind, Limit: maxSearchedTasks})
		if err != nil {
			return nil, err
		}
		first := make(map[string]string) // by session; tasks come last asked first
		for _, t := range tasks {
			first[t.SessionID] = publicRecord(t).Prompt
		}
		for _, se := range list {
			if se.Origin.Private {
				continue
			}
			se.Memory = nil
			views = append(views, api.SessionView{Session: se, Prompt: first[se.ID]})
		}
	}
	slices.SortStableFunc(views, func(a, b api.SessionView) int { return b.LastUsed.Compare(a.LastUsed) })
	return views, nil
}
