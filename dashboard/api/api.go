package api

import (
	"time"

	"clank/internal/budget"
	"clank/internal/watches"
	"clank/sessions"
)

// Health says that a server is there.
type Health struct {
	OK      bool   `json:"ok"`
	Version string `json:"version"`
}

// Weakness is a way in which an installation protects less than it could, in words for people.
type Weakness struct {
	Name    string `json:"name"`
	Serious bool   `json:"serious"`
	What    string `json:"what"` // what was found
	Why     string `json:"why"`  // it matters
	Fix     string `json:"fix"`
}

// SignIn is a browser that is signed in. User and Name are those of its Discord account; without, it is the operator's.
type SignIn struct {
	ID      string    `json:"id"`
	User    string    `json:"user,omitempty"`
	Name    string    `json:"name"`
	From    string    `json:"from"`    // the address that it signed in from
	Browser string    `json:"browser"` // as it names itself
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	Mine    bool      `json:"mine,omitempty"` // it is the one that asks
}

// SignInsEnd signs browsers out: one, or all that whoever asks sees.
type SignInsEnd struct {
	ID  string `json:"id,omitempty"`
	All bool   `json:"all,omitempty"`
}

// LoginLink is an address that opens the page signed in, once.
type LoginLink struct {
	URL string `json:"url"`
}

// ErrorResponse is the JSON form of an error. Its text is for people.
type ErrorResponse struct {
	Error string `json:"error"`
}

// LinkRequest asks for a link to the page of a session.
type LinkRequest struct {
	Session string `json:"session"`           // empty: the one that was used last
	Control bool   `json:"control,omitempty"` // to work the page, too
	Seconds int    `json:"seconds,omitempty"` // how long it works; 0: as long as links do
	User    string `json:"user,omitempty"`    // the id of the Discord account that it is for; empty: who opens it first
}

// LinkView is a link to the page of a session.
type LinkView struct {
	ID      string       `json:"id"`
	Session string       `json:"session"`
	Title   string       `json:"title,omitempty"`
	Control bool         `json:"control"`
	By      string       `json:"by"` // who made it
	Until   time.Time    `json:"until"`
	User    string       `json:"user,omitempty"`  // the Discord account that it is for
	Name    string       `json:"name,omitempty"`  // of that person, once they have signed in
	Opened  time.Time    `json:"opened,omitzero"` // by whoever has it
	URL     string       `json:"url,omitempty"`   // told once, to who makes it
	Viewers []LinkViewer `json:"viewers"`
}

// LinkViewer is somebody who watches with a link.
type LinkViewer struct {
	From  string    `json:"from"` // their address, or the network it is in
	Since time.Time `json:"since"`
}

// LinksRevoked tells how many links are void now.
type LinksRevoked struct {
	Count int `json:"count"`
}

// SharingCheck is one thing that links need, and whether it is there.
type SharingCheck struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"detail"`
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

// WatchView is a watch as people see it. Of one that was asked for privately there is only that it is there.
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

// NewWatchView returns w as shown to people; mayRead says that they may know what it is about.
func NewWatchView(w watches.Watch, mayRead bool) WatchView {
	v := WatchView{
		ID: w.ID, For: w.Origin.UserName, URL: w.URL, What: w.What, Kind: w.Kind, Every: int(w.Every / time.Minute), Until: w.Until,
		State: w.State, Reason: w.Reason, Next: w.NextCheck, Checked: w.CheckedAt, Problem: w.Problem, Value: w.Seen.Value, Met: w.Seen.Met, Last: w.LastNotice,
	}
	if v.For == "" && w.Origin.Kind != sessions.FromDiscord {
		v.For = "you"
	}
	if !mayRead {
		v.URL, v.What, v.Problem, v.Reason, v.Value, v.Last = "", PrivateText, "", "", "", nil
	}
	return v
}

// CostReport is what was spent on the last days.
type CostReport struct {
	By    budget.CostKey `json:"by"`
	Days  []string       `json:"days"`
	Costs []CostView     `json:"costs"`
}

// CostView is what was spent on a day for something that people call Name.
type CostView struct {
	budget.Cost

	Name string `json:"name"`
}

// Discord is how clank stands with Discord.
type Discord struct {
	Status  string          `json:"status"`            // in words
	Limited bool            `json:"limited,omitempty"` // Discord hides what is said without mentioning the bot
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

// DiscordServer is a server that the bot is on.
type DiscordServer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// TokenName names a token.
type TokenName struct {
	Name string `json:"name"`
}

// NewName names something: a new one, one that is there, or one anew.
type NewName struct {
	Name string `json:"name"`
}

// Transcript is what was said in a call.
type Transcript struct {
	Name    string           `json:"name"`
	At      time.Time        `json:"at"` // it began
	Guild   string           `json:"guild,omitempty"`
	Channel string           `json:"channel"`
	Place   string           `json:"place"` // where it was, for people
	People  []string         `json:"people"`
	Count   int              `json:"count"` // of its lines
	Lines   []TranscriptLine `json:"lines"` // all of them, or those that a search found
}

// TranscriptLine is something that was said; By is empty where clank said it.
type TranscriptLine struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"`
	Text string    `json:"text"`
}
