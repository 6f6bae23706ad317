package api

import "time"

// Lending is how this machine lends its browsers, and who has used them since it started.
type Lending struct {
	URL              string       `json:"url,omitempty"` // empty if they are not lent
	CertificateFor   string       `json:"certificate_for,omitempty"`
	CertificateUntil time.Time    `json:"certificate_until,omitzero"`
	Profiles         []string     `json:"profiles"`
	Callers          []NodeCaller `json:"callers,omitempty"` // most recent first
}

// NodeCaller is a machine that has used this machine's browsers.
type NodeCaller struct {
	From string    `json:"from"`
	At   time.Time `json:"at"` // of the last use
}

// Node is a machine that lends us its browsers, as of the last check.
type Node struct {
	Name     string        `json:"name"`
	URL      string        `json:"url"`
	At       time.Time     `json:"at,omitzero"` // zero if not checked yet
	Version  string        `json:"version,omitempty"`
	Browsers []NodeBrowser `json:"browsers,omitempty"`
	Problem  string        `json:"problem,omitempty"` // a sentence
	Fix      string        `json:"fix,omitempty"`     // what to do about it
}

// NodeBrowser is a browser of a node.
type NodeBrowser struct {
	Name    string `json:"name"`
	Running bool   `json:"running,omitempty"`
}
