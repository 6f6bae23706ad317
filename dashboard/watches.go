package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/watches"
	"clank/sessions"
)

// Watches looks at pages for people. [watches.Runner] is one.
type Watches interface {
	Add(ctx context.Context, w watches.Watch) (watches.Watch, error)
	List(ctx context.Context, q watches.Query) ([]watches.Watch, error)
	End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (watches.Watch, error)
}

// firstCheckTimeout bounds the look at a page that is to be watched, within the time
// that the server has for an answer.
const firstCheckTimeout = 50 * time.Second

func (s *Server) watchRoutes() []route {
	if s.Watches == nil {
		return nil
	}
	return []route{
		{"GET /watches", accessSignedIn, s.watchesPage},
		{"GET /api/watches", accessSignedIn, s.listWatches},
		{"POST /api/watches", accessSignedIn, s.addWatch},
		{"POST /api/watches/{id}/end", accessSignedIn, s.endWatch},
	}
}

func (s *Server) watchesPage(w http.ResponseWriter, r *http.Request) {
	list, err := s.watchViews(r.Context())
	if err != nil {
		s.writeManagerError(w, r, "list the watches", err)
		return
	}
	s.page(w, "watches", http.StatusOK, pageData{Title: "Watches · clank", Data: list})
}

func (s *Server) listWatches(w http.ResponseWriter, r *http.Request) {
	list, err := s.watchViews(r.Context())
	if err != nil {
		s.writeManagerError(w, r, "list the watches", err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) addWatch(w http.ResponseWriter, r *http.Request) {
	var in api.WatchRequest
	if !readJSON(w, r, &in) {
		return
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		writeError(w, http.StatusBadRequest, "there is no door %q", in.Origin)
		return
	}
	wanted := watches.Watch{
		Origin: origin, URL: in.URL, What: in.What, Every: time.Duration(in.Every) * time.Minute,
		Condition: watches.Condition{Kind: in.Kind, Number: in.Number, Currency: in.Currency, Text: in.Text, Near: in.Near},
	}
	if in.Days != 0 {
		wanted.Until = time.Now().Add(time.Duration(in.Days) * 24 * time.Hour)
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), firstCheckTimeout, errors.New("the page did not come in time"))
	defer cancel()
	got, err := s.Watches.Add(ctx, wanted)
	switch {
	case err == nil:
		writeJSON(w, http.StatusCreated, api.NewWatchView(got))
	case errors.Is(err, watches.ErrTooMany):
		writeError(w, http.StatusTooManyRequests, "%v", err)
	case r.Context().Err() == nil:
		writeError(w, http.StatusUnprocessableEntity, "%v", err)
	}
}

func (s *Server) endWatch(w http.ResponseWriter, r *http.Request) {
	from, _ := originOf(sessions.FromDashboard)
	got, err := s.Watches.End(r.Context(), r.PathValue("id"), from, operatorActor(sessions.FromDashboard))
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, api.NewWatchView(got))
	case errors.Is(err, watches.ErrNotFound):
		writeError(w, http.StatusNotFound, "%v", err)
	case errors.Is(err, watches.ErrAlreadyEnded):
		writeError(w, http.StatusConflict, "%v", err)
	default:
		s.writeManagerError(w, r, "end the watch", err)
	}
}

// watchViews returns all watches, newest first.
func (s *Server) watchViews(ctx context.Context) ([]api.WatchView, error) {
	list, err := s.Watches.List(ctx, watches.Query{})
	views := make([]api.WatchView, 0, len(list))
	for _, w := range list {
		views = append(views, api.NewWatchView(w))
	}
	return views, err
}
