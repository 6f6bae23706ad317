package look

import (
	"slices"

	"clank/browsermgr/control/route"
)

// Options are what looking at pages depends on.
type Options struct {
	// Mode is asked which mode snapshots have that name none: "efficient", or "" for a plain one. Nil means "".
	Mode func() string
	// Keep writes a file under a new name, with what that begins and ends with, into a folder of that name, and returns its
	// path. Required.
	Keep func(folder, prefix, suffix string, data []byte) (string, error)
}

// viewer answers requests to see something.
type viewer struct{ Options }

// Routes lists the routes that show pages.
func Routes(o Options) []route.Route {
	v := viewer{o}
	return slices.Concat(v.snapshotRoutes(), v.pictureRoutes(), screencastRoutes())
}
