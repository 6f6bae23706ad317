package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"clank/cancel"
	"clank/sessions"
	"clank/watches"
)

// Watches looks at pages for people. [watches.Runner] is one.
type Watches interface {
	Add(ctx context.Context, w watches.Watch) (watches.Watch, error)
	List(ctx context.Context, q watches.Query) ([]watches.Watch, error)
	End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (watches.Watch, error)
}

// WatchRequest asks for a watch; see [watches.Condition].
type WatchRequest struct {
	URL      string              `json:"url"`
	What     string              `json:"what,omitempty"`
	Kind     watches.Kind        `json:"kind,omitempty"`
	Number   float64             `json:"number,omitempty"`
	Currency string              `json:"currency,omitempty"`
	Text     string              `json:"text,omitempty"`
	Near     string              `json:"near,omitempty"`
	Every    int                 `json:"every_minutes,omitempty"`
	Days     int                 `json:"days,omitempty"`
	Origin   sessions.OriginKind `json:"origin,omitempty"` // dashboard (the default) or terminal
}

// WatchView is a watch as people see it. Of one that was asked for privately
// there is only that it is there.
type WatchView struct {
	ID      string          `json:"id"`
	For     string          `json:"for"` // who is told
	URL     string          `json:"url"`
	What    string          `json:"what"`
	Kind    watches.Kind    `json:"kind"`
	Every   int             `json:"every_minutes"`
	Until   time.Time       `json:"until"`
	State   watches.State   `json:"state"`
	Reason  string          `json:"reason,omitempty"`
	Next    time.Time       `json:"next"`
	Checked time.Time       `json:"checked"`
	Problem string          `json:"problem,omitempty"`
	Value   string          `json:"value,omitempty"` // the number that is watched, as the page writes it
	Met     bool            `json:"met,omitempty"`
	Last    *watches.Notice `json:"last,omitempty"` // what was told last
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
	var in WatchRequest
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
		reply(w, http.StatusCreated, ViewOfWatch(got))
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
		reply(w, http.StatusOK, ViewOfWatch(got))
	case errors.Is(err, watches.ErrNotFound):
		fail(w, http.StatusNotFound, "%v", err)
	case errors.Is(err, watches.ErrEnded):
		fail(w, http.StatusConflict, "%v", err)
	default:
		s.refuse(w, r, "end the watch", err)
	}
}

// watchViews returns all watches, newest first.
func (s *Server) watchViews(ctx context.Context) ([]WatchView, error) {
	list, err := s.Watches.List(ctx, watches.Query{})
	views := make([]WatchView, 0, len(list))
	for _, w := range list {
		views = append(views, ViewOfWatch(w))
	}
	return views, err
}

// ViewOfWatch is w as people see it.
func ViewOfWatch(w watches.Watch) WatchView {
	v := WatchView{
		ID: w.ID, For: w.Origin.UserName, URL: w.URL, What: w.What, Kind: w.Kind, Every: int(w.Every / time.Minute), Until: w.Until,
		State: w.State, Reason: w.Reason, Next: w.Next, Checked: w.Checked, Problem: w.Problem, Value: w.Seen.Value, Met: w.Seen.Met, Last: w.Last,
	}
	if v.For == "" && w.Origin.Kind != sessions.FromDiscord {
		v.For = "you"
	}
	if w.Origin.Private {
		v.URL, v.What, v.Problem, v.Reason, v.Value, v.Last = "", hidden, "", "", "", nil
	}
	return v
}
