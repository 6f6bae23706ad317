package dashboard

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"clank/dashboard/api"
	"clank/internal/watches"
)

// firstCheckTimeout bounds the first check of a page to watch, within the server's write timeout.
const firstCheckTimeout = 50 * time.Second

func (s *Server) watchesPage(w http.ResponseWriter, r *http.Request) error {
	list, err := s.watchViews(r)
	if err != nil {
		return failed("list the watches", err)
	}
	return s.page(w, r, "watches", pageData{Title: "Watches · clank", Data: list})
}

func (s *Server) listWatches(w http.ResponseWriter, r *http.Request) error {
	list, err := s.watchViews(r)
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
	return writeResult(w, http.StatusCreated, "begin the watch", api.NewWatchView(got, true), err)
}

func (s *Server) endWatch(w http.ResponseWriter, r *http.Request) error {
	v, from := visitorOf(r), operator()
	if v.role < RoleOperator {
		list, err := s.seenWatches(r)
		if err != nil {
			return failed("list the watches", err)
		}
		at := slices.IndexFunc(list, func(x watches.Watch) bool { return x.ID == r.PathValue("id") })
		if at < 0 {
			return failed("end the watch", watches.ErrNotFound)
		}
		from = list[at].Origin
		from.User, from.UserName, from.Moderator = v.id, v.name, v.actor(from).Moderator
	}
	got, err := s.Watches.End(r.Context(), r.PathValue("id"), from, v.actor(from))
	return writeResult(w, http.StatusOK, "end the watch", api.NewWatchView(got, v.mayRead(got.Origin)), err)
}

// watchViews returns the watches that the visitor sees, newest first.
func (s *Server) watchViews(r *http.Request) ([]api.WatchView, error) {
	list, err := s.seenWatches(r)
	views := make([]api.WatchView, 0, len(list))
	for _, w := range list {
		views = append(views, api.NewWatchView(w, visitorOf(r).mayRead(w.Origin)))
	}
	return views, err
}

func (s *Server) seenWatches(r *http.Request) ([]watches.Watch, error) {
	list, err := s.Watches.List(r.Context(), watches.Query{})
	sight := visitorOf(r).sight()
	return slices.DeleteFunc(list, func(w watches.Watch) bool { return !sight.Includes(w.Origin) }), err
}
