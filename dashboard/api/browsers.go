package api

import (
	"time"

	"clank/browsermgr/profile"
)

// States of a profile's browser.
const (
	BrowserRunning   = "running"
	BrowserSuspended = "suspended" // it does not run; its sessions open their pages again when they go on
	BrowserOff       = "off"
)

// BrowserView is a profile, with what runs of it.
type BrowserView struct {
	profile.Info

	State    string       `json:"state"`
	Owner    string       `json:"owner"`    // whose place it is: "You", a Discord server, a person
	Sessions int          `json:"sessions"` // that can be gone on with
	Ours     bool         `json:"ours"`     // we start and end the browser
	Lasting  bool         `json:"lasting"`  // it can be neither renamed nor deleted
	Tabs     []BrowserTab `json:"tabs"`
}

// BrowserTab is a tab of a browser that runs.
type BrowserTab struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url,omitempty"`
	Session string `json:"session,omitempty"` // that works it
}

// BrowserStart says how a browser is to start.
type BrowserStart struct {
	Headed bool `json:"headed"`
}

// BrowserOpen is a page to be opened.
type BrowserOpen struct {
	URL string `json:"url"`
}

// RefusalView is a host that pages were refused.
type RefusalView struct {
	At        time.Time `json:"at"` // of the last time
	Count     int       `json:"count"`
	Rule      string    `json:"rule"`
	Host      string    `json:"host"`
	Address   string    `json:"address,omitempty"` // that the host led to
	URL       string    `json:"url,omitempty"`
	Text      string    `json:"text"` // what was refused, why, and the way out
	Owner     string    `json:"owner"`
	Session   string    `json:"session,omitempty"` // whose page asked
	Title     string    `json:"title,omitempty"`
	Private   bool      `json:"private,omitempty"` // what was asked is not told
	Named     bool      `json:"named,omitempty"`   // the host is allowed, but not that address
	Allowable bool      `json:"allowable"`         // by one entry in the settings
	Allowed   bool      `json:"allowed"`           // that entry is there now
}

// Allowance names a refusal that is to be lifted, or with Undo, to hold again.
type Allowance struct {
	Rule    string `json:"rule"`
	Host    string `json:"host"`
	Address string `json:"address"`
	Undo    bool   `json:"undo"`
}
