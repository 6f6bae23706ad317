package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/dashboard/api"
	"clank/internal/watches"
	"clank/sessions"
)

// firstCheckTimeout bounds the look at a page that is to be watched, within the time
// that the server has for an answer.
const firstCheckTimeout = 50 * time.Second

func (s *Server) watchesPage(w http.ResponseWriter, r *http.Request) error {
	list, err := s.watchViews(r.Context())
	if err != nil {
		return failed("list the watches", err)
	}
	return s.page(w, "watches", pageData{Title: "Watches · clank", Data: list})
}

func (s *Server) listWatches(w http.ResponseWriter, r *http.Request) error {
	list, err := s.watchViews(r.Context())
	return writeResult(w, http.StatusOK, "list the watches", list, err)
}

func (s *Server) addWatch(w http.ResponseWriter, r *http.Request) error {
	var in api.WatchRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	origin, ok := originOf(in.Origin)
	if !ok {
		return refuse(http.StatusBadRequest, "there is no door %q", in.Origin)
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
	if err != nil && !errors.Is(err, watches.ErrTooMany) && r.Context().Err() == nil {
		return refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	return writeResult(w, http.StatusCreated, "begin the watch", api.NewWatchView(got), err)
}

func (s *Server) endWatch(w http.ResponseWriter, r *http.Request) error {
	from, _ := originOf(sessions.FromDashboard)
	got, err := s.Watches.End(r.Context(), r.PathValue("id"), from, operatorActor(sessions.FromDashboard))
	return writeResult(w, http.StatusOK, "end the watch", api.NewWatchView(got), err)
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
