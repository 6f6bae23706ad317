package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
)

// Limits of the list of sessions: the sessions shown per origin, and the tasks searched for their first prompts.
const (
	maxListedSessions = 100
	maxSearchedTasks  = 400
)

func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) error {
	list, err := s.sessionViews(r.Context(), visitorOf(r))
	return writeResult(w, http.StatusOK, "list the sessions", list, err)
}

// closeSession closes a session for good.
func (s *Server) closeSession(w http.ResponseWriter, r *http.Request) error {
	se, err := s.seenSession(r)
	if err != nil {
		return err
	}
	err = s.Manager.CloseSession(r.Context(), se.ID, visitorOf(r).actor(se.Origin))
	return writeDone(w, "close the session", err)
}

// live serves the WebSocket over which a session is watched and controlled.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	if s.Live == nil {
		return refuse(http.StatusNotFound, "pages of sessions cannot be watched here")
	}
	se, err := s.seenSession(r)
	if err != nil {
		return err
	}
	if !visitorOf(r).mayRead(se.Origin) {
		return refuse(http.StatusForbidden, "this session is private: its page is for the person who asked")
	}
	ctx, end := context.WithCancelCause(r.Context())
	var watching sync.WaitGroup
	watching.Go(func() { end(s.awaitUnseen(ctx, r, se.Origin)) })
	s.Live.ServeLive(w, r.WithContext(ctx), s.liveViewer(r, se))
	end(nil)
	watching.Wait()
	return nil
}

// liveViewer returns the visitor as a viewer of a session: a Discord account, unless they are the operator.
func (s *Server) liveViewer(r *http.Request, se sessions.Session) sessions.Viewer {
	v := visitorOf(r)
	viewer := sessions.Viewer{Name: cmp.Or(v.name, operatorName), Actor: v.actor(se.Origin)}
	viewer.May = sessions.Rights{Control: true, Stop: true, Note: true}
	var err error
	viewer.From, err = s.originAt(r.Context(), v, se.Origin)
	if v.role == RoleOperator {
		viewer.Actor.Name = viewer.Name
		return viewer
	}
	owns := se.Origin.User == v.id
	viewer.Invited = !owns
	may := err == nil && v.mayAct(se.Origin)
	viewer.May = sessions.Rights{Control: may && owns, Stop: owns || may || s.anyoneMayStop(), Note: may}
	return viewer
}

var errUnseen = errors.New("you are signed out, or may not see this any more")

// awaitUnseen returns the reason as soon as the visitor may no longer see what was asked for from o.
func (s *Server) awaitUnseen(ctx context.Context, r *http.Request, o sessions.Origin) error {
	tick := time.Tick(s.Recheck)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			if now := s.identify(r); now.role == RoleNobody || !now.sight().Includes(o) {
				return errUnseen
			}
		}
	}
}

// listedOrigins are the origins whose sessions and tasks are shown.
var listedOrigins = []sessions.OriginKind{sessions.FromDashboard, sessions.FromTerminal, sessions.FromDiscord}

// sessionViews returns the sessions that v may read, last used first.
func (s *Server) sessionViews(ctx context.Context, v visitor) ([]api.SessionView, error) {
	views, by := []api.SessionView{}, v.sight()
	for _, kind := range listedOrigins {
		list, err := s.Manager.Sessions(ctx, sessions.SessionQuery{Kind: kind, SeenBy: by, Limit: maxListedSessions})
		if err != nil {
			return nil, err
		}
		tasks, err := s.Manager.Tasks(ctx, sessions.TaskQuery{Kind: kind, SeenBy: by, Limit: maxSearchedTasks})
		if err != nil {
			return nil, err
		}
		first := make(map[string]string) // by session; tasks are sorted newest first
		for _, t := range tasks {
			first[t.SessionID] = shownRecord(t, v.mayRead(t.Origin)).Prompt
		}
		for _, se := range list {
			if !v.mayRead(se.Origin) {
				continue
			}
			se.Memory = nil
			views = append(views, api.SessionView{Session: se, Prompt: first[se.ID]})
		}
	}
	slices.SortStableFunc(views, func(a, b api.SessionView) int { return b.LastUsed.Compare(a.LastUsed) })
	return views, nil
}
