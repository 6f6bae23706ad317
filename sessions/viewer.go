package sessions

import "clank/cancel"

// Viewer is somebody who watches a session's page, as the front end has found out.
type Viewer struct {
	Name    string       // as the others read it
	From    Origin       // who they are
	Actor   cancel.Actor // who they are to those whose work they stop
	Invited bool         // by somebody who may, for this session: to watch it, and with May.Control to work it
	May     Rights
}

// Rights are what the viewer may do beside watching. Control is narrowed by whose session it is.
type Rights struct {
	Control bool `json:"control"`
	Stop    bool `json:"stop"`
	Note    bool `json:"note"`
}
