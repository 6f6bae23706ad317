package api

import (
	"time"

	"clank/internal/budget"
	"clank/internal/watches"
	"clank/sessions"
)

// Health reports that a server is running.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
}

// Weakness is a way in which an installation is less protected than it could be, described for people.
type Weakness struct {
	Name    string `json:"name"`
	Serious bool   `json:"serious"`
	What    string `json:"what"` // what was found
	Why     string `json:"why"`  // why it matters
	Fix     string `json:"fix"`
}

// SignIn is a signed-in browser. User and Name are those of its Discord account; both are empty for the operator.
type SignIn struct {
	ID      string    `json:"id"`
	User    string    `json:"user,omitempty"`
	Name    string    `json:"name"`
	From    string    `json:"from"`    // address from which it signed in
	Browser string    `json:"browser"` // its User-Agent
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Mine    bool      `json:"mine,omitempty"` // the browser that sent the request
}

// SignInsEnd signs browsers out: one, or all that the client sees.
type SignInsEnd struct {
	ID  string `json:"id,omitempty"`
	All bool   `json:"all,omitempty"`
}

// LoginLink is an address that signs a browser in, once.
type LoginLink struct {
	URL string `json:"url"`
}

// ErrorResponse is the JSON form of an error. Its text is for people.
type ErrorResponse struct {
	Error string `json:"error"`
}

// LinkRequest requests a link to a session.
type LinkRequest struct {
	Session string `json:"session"`           // empty means the last used one
	Control bool   `json:"control,omitempty"` // allow controlling the page as well
	Seconds int    `json:"seconds,omitempty"` // lifetime; 0 means the default
	User    string `json:"user,omitempty"`    // Discord account that may open it; empty means the first to open it
}

// LinkView is a link to a session.
type LinkView struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Title   string       `json:"title,omitempty"`
	Control bool         `json:"control"`
	By      string       `json:"by"` // who created it
	Until   time.Time    `json:"until"`
	User    string       `json:"user,omitempty"`  // the Discord account that may open it
	Name    string       `json:"name,omitempty"`  // name of that account, after it has signed in
	Opened  time.Time    `json:"opened,omitzero"` // when it was first opened
	URL     string       `json:"url,omitempty"`   // only in the response that creates it
	Viewers []LinkViewer `json:"viewers"`
}

// LinkViewer is a person who watches through a link.
type LinkViewer struct {
	From  string    `json:"from"` // their address or network
	Since time.Time `json:"since"`
}

// LinksRevoked reports the number of revoked links.
type LinksRevoked struct {
	Count int `json:"count"`
}

// SharingCheck is a requirement of links and whether it is met.
type SharingCheck struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"detail"`
}

// WatchRequest requests a watch; see [watches.Condition].
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

// WatchView is a watch as people see it. For a private watch of someone else it has no contents.
type WatchView struct {
	ID      string          `json:"id"`
	For     string          `json:"for"` // who is notified
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
	Value   string          `json:"value,omitempty"` // the watched number, as written on the page
	Met     bool            `json:"met,omitempty"`
	Last    *watches.Notice `json:"last,omitempty"` // the last notification
}

// NewWatchView returns the view of w; mayRead means that the viewer may read its contents.
func NewWatchView(w watches.Watch, mayRead bool) WatchView {
	v := WatchView{
		ID: w.ID, For: w.Origin.UserName, URL: w.URL, What: w.What, Kind: w.Kind, Every: int(w.Every / time.Minute),
		Until: w.Until,
		State: w.State, Reason: w.Reason, Next: w.NextCheck, Checked: w.CheckedAt, Problem: w.Problem, Value: w.Seen.Value,
		Met: w.Seen.Met, Last: w.LastNotice,
	}
	if v.For == "" && w.Origin.Kind != sessions.FromDiscord {
		v.For = "you"
	}
	if !mayRead {
		v.URL, v.What, v.Problem, v.Reason, v.Value, v.Last = "", PrivateText, "", "", "", nil
	}
	return v
}

// CostReport is the spending of the last days.
type CostReport struct {
	By    budget.CostKey `json:"by"`
	Days  []string       `json:"days"`
	Costs []CostView     `json:"costs"`
}

// CostView is the spending of one day for the subject called Name.
type CostView struct {
	budget.Cost

	Name string `json:"name"`
}

// Discord is the state of the connection to Discord.
type Discord struct {
	Status  string          `json:"status"`            // for people
	Limited bool            `json:"limited,omitempty"` // Discord hides messages that do not mention the bot
	Shards  []DiscordShard  `json:"shards,omitempty"`
	Servers []DiscordServer `json:"servers,omitempty"`
}

// DiscordShard is one of the connections to Discord.
type DiscordShard struct {
	Number    int       `json:"number"`
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Problem   string    `json:"problem,omitempty"` // why it is not connected
	Servers   int       `json:"servers"`
}

// DiscordServer is a server that the bot has joined.
type DiscordServer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// NewName is a name to give to something new or to something that is renamed.
type NewName struct {
	Name string `json:"name"`
}

// Transcript is the transcript of a call.
type Transcript struct {
	Name    string           `json:"name"`
	At      time.Time        `json:"at"` // start of the call
	Guild   string           `json:"guild,omitempty"`
	Channel string           `json:"channel"`
	Place   string           `json:"place"` // the channel, for people
	People  []string         `json:"people"`
	Count   int              `json:"count"` // number of its lines
	Lines   []TranscriptLine `json:"lines"` // all lines, or those that match a search
}

// TranscriptLine is an utterance; By is empty for clank's own.
type TranscriptLine struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"`
	Text string    `json:"text"`
}
