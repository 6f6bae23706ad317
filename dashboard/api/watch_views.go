package api

import (
	"time"

	"clank/internal/watches"
	"clank/sessions"
)

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

// NewWatchView returns w as shown to people.
func NewWatchView(w watches.Watch) WatchView {
	v := WatchView{
		ID: w.ID, For: w.Origin.UserName, URL: w.URL, What: w.What, Kind: w.Kind, Every: int(w.Every / time.Minute), Until: w.Until,
		State: w.State, Reason: w.Reason, Next: w.NextCheck, Checked: w.CheckedAt, Problem: w.Problem, Value: w.Seen.Value, Met: w.Seen.Met, Last: w.LastNotice,
	}
	if v.For == "" && w.Origin.Kind != sessions.FromDiscord {
		v.For = "you"
	}
	if w.Origin.Private {
		v.URL, v.What, v.Problem, v.Reason, v.Value, v.Last = "", PrivateText, "", "", "", nil
	}
	return v
}
