package sessions

import "clank/cancel"

// Viewer is a person who watches a session's page, as authenticated by the front end.
type Viewer struct {
	Name    string       // display name
	From    Origin       // who they are
	Actor   cancel.Actor // for stopping work
	Invited bool         // has an invitation link to this session: to watch it, and with May.Control to control it
	May     Rights
}

// Rights are what a viewer may do besides watching. Who may control a session also depends on its owner.
type Rights struct {
	Control bool `json:"control"`
	Stop    bool `json:"stop"`
	Note    bool `json:"note"`
}
