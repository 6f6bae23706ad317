package api

import "time"

// Lending is where this machine lends its browsers to others, and who has used them since the start.
type Lending struct {
	URL              string       `json:"url,omitempty"` // empty: they are not lent
	CertificateFor   string       `json:"certificate_for,omitempty"`
	CertificateUntil time.Time    `json:"certificate_until,omitzero"`
	Profiles         []string     `json:"profiles"`
	Callers          []NodeCaller `json:"callers,omitempty"` // who called last comes first
}

// NodeCaller is a machine that has used browsers of this one.
type NodeCaller struct {
	From string    `json:"from"`
	At   time.Time `json:"at"` // the last time
}

// Node is a machine that lends us its browsers, as it was when it was asked last.
type Node struct {
	Name     string        `json:"name"`
	URL      string        `json:"url"`
	At       time.Time     `json:"at,omitzero"` // zero: it was not asked yet
	Version  string        `json:"version,omitempty"`
	Browsers []NodeBrowser `json:"browsers,omitempty"`
	Problem  string        `json:"problem,omitempty"` // what is wrong, as a sentence
	Fix      string        `json:"fix,omitempty"`     // and what to do about it
}

// NodeBrowser is a browser of a node.
type NodeBrowser struct {
	Name    string `json:"name"`
	Running bool   `json:"running,omitempty"`
}
