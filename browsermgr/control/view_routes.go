package control

import "slices"

// viewOptions are what looking at pages depends on.
type viewOptions struct {
	// Mode is asked which mode snapshots have that name none: "efficient", or "" for a plain one. Nil means "".
	Mode func() string
	// SaveFile writes a file under a new name, with what that begins and ends with, into a folder of that name, and returns its
	// path. Required.
	SaveFile func(folder, prefix, suffix string, data []byte) (string, error)
}

// viewHandlers answers requests to see something.
type viewHandlers struct{ viewOptions }

// viewRoutes lists the routes that show pages.
func viewRoutes(o viewOptions) []Route {
	v := viewHandlers{o}
	return slices.Concat(v.snapshotRoutes(), v.pictureRoutes(), screencastRoutes())
}
