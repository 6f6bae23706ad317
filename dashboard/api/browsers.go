package api

import (
	"time"

	"clank/browsermgr/profile"
)

// States of a profile's browser.
const (
	BrowserRunning   = "running"
	BrowserSuspended = "suspended" // not running; its sessions reopen their pages when they resume
	BrowserOff       = "off"
)

// BrowserView is a profile and its running browser, if any.
type BrowserView struct {
	profile.Info

	State    string       `json:"state"`
	Owner    string       `json:"owner"`    // "You", a Discord server or a person
	Sessions int          `json:"sessions"` // number of sessions that can be resumed
	Ours     bool         `json:"ours"`     // clank starts and stops the browser
	Lasting  bool         `json:"lasting"`  // cannot be renamed or deleted
	Tabs     []BrowserTab `json:"tabs"`
}

// BrowserTab is a tab of a running browser.
type BrowserTab struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	URL     string `json:"url,omitempty"`
	Session string `json:"session,omitempty"` // the session that uses it
}

// BrowserStart tells how to start a browser.
type BrowserStart struct {
	Headed bool `json:"headed"`
}

// BrowserOpen requests a page to be opened.
type BrowserOpen struct {
	URL string `json:"url"`
}

// RefusalView is a host that pages could not reach by policy.
type RefusalView struct {
	At        time.Time `json:"at"` // of the last refusal
	Count     int       `json:"count"`
	Rule      string    `json:"rule"`
	Host      string    `json:"host"`
	Address   string    `json:"address,omitempty"` // address to which the host resolved
	URL       string    `json:"url,omitempty"`
	Text      string    `json:"text"` // what was refused, why, and what to do
	Owner     string    `json:"owner"`
	Session   string    `json:"session,omitempty"` // whose page sent the request
	Title     string    `json:"title,omitempty"`
	Private   bool      `json:"private,omitempty"` // details of the request are hidden
	Named     bool      `json:"named,omitempty"`   // the host is allowed, but not that address
	Allowable bool      `json:"allowable"`         // one entry in the settings would allow it
	Allowed   bool      `json:"allowed"`           // that entry exists
}

// Allowance names a refusal to lift or, with Undo, to restore.
type Allowance struct {
	Rule    string `json:"rule"`
	Host    string `json:"host"`
	Address string `json:"address"`
	Undo    bool   `json:"undo"`
}
