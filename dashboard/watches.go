package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/cancel"
	"clank/dashboard/wire"
	"clank/sessions"
	"clank/watches"
)

// Watches looks at pages for people. [watches.Runner] is one.
type Watches interface {
	Add(ctx context.Context, w watches.Watch) (watches.Watch, error)
	List(ctx context.Context, q watches.Query) ([]watches.Watch, error)
	End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (watches.Watch, error)
}

// firstLook bounds the look at a page that is to be watched, within the time
// that the server has for an answer.
const firstLook = 50 * time.Second

func (s *Server) watchRoutes() []route {
	if s.Watches == nil {
		return nil
	}
	return []route{
		{"GET /watches", signedIn, s.watchesPage},
		{"GET /api/watches", signedIn, s.listWatches},
		{"POST /api/watches", signedIn, s.addWatch},
		{"POST /api/watches/{id}/end", signedIn, s.endWatch},
	}
}

func (s *Server) watchesPage(w http.ResponseWriter, r *http.Request) {
	list, err := s.watchViews(r.Context())
	if err != nil {
		s.refuse(w, r, "list the watches", err)
		return
	}
	s.page(w, "watches", http.StatusOK, shell{Title: "Watches · clank", Data: list})
}

func (s *Server) listWatches(w http.ResponseWriter, r *http.Request) {
	list, err := s.watchViews(r.Context())
	if err != nil {
		s.refuse(w, r, "list the watches", err)
		return
	}
	reply(w, http.StatusOK, list)
}

func (s *Server) addWatch(w http.ResponseWriter, r *http.Request) {
	var in wire.WatchRequest
	if !read(w, r, &in) {
		return
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		fail(w, http.StatusBadRequest, "there is no door %q", in.Origin)
		return
	}
	wanted := watches.Watch{
		Origin: origin, URL: in.URL, What: in.What, Every: time.Duration(in.Every) * time.Minute,
		Condition: watches.Condition{Kind: in.Kind, Number: in.Number, Currency: in.Currency, Text: in.Text, Near: in.Near},
	}
	if in.Days != 0 {
		wanted.Until = time.Now().Add(time.Duration(in.Days) * 24 * time.Hour)
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), firstLook, errors.New("the page did not come in time"))
	defer cancel()
	got, err := s.Watches.Add(ctx, wanted)
	switch {
	case err == nil:
		reply(w, http.StatusCreated, wire.ViewOfWatch(got))
	case errors.Is(err, watches.ErrTooMany):
		fail(w, http.StatusTooManyRequests, "%v", err)
	case r.Context().Err() == nil:
		fail(w, http.StatusUnprocessableEntity, "%v", err)
	}
}

func (s *Server) endWatch(w http.ResponseWriter, r *http.Request) {
	from, _ := originOf(sessions.FromDashboard)
	got, err := s.Watches.End(r.Context(), r.PathValue("id"), from, operator(sessions.FromDashboard))
	switch {
	case err == nil:
		reply(w, http.StatusOK, wire.ViewOfWatch(got))
	case errors.Is(err, watches.ErrNotFound):
		fail(w, http.StatusNotFound, "%v", err)
	case errors.Is(err, watches.ErrEnded):
		fail(w, http.StatusConflict, "%v", err)
	default:
		s.refuse(w, r, "end the watch", err)
	}
}

// watchViews returns all watches, newest first.
func (s *Server) watchViews(ctx context.Context) ([]wire.WatchView, error) {
	list, err := s.Watches.List(ctx, watches.Query{})
	views := make([]wire.WatchView, 0, len(list))
	for _, w := range list {
		views = append(views, wire.ViewOfWatch(w))
	}
	return views, err
}
