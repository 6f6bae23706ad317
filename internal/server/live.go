package server

import (
	"context"

	"clank/browsermgr"
	"clank/internal/liveview"
	"clank/sessions"
)

// openLive makes who shows pages to people.
func (a *Server) openLive() {
	a.Live = &liveview.Server{Sessions: a.Sessions, Scopes: &a.scopes, Window: a.liveWindow, Logger: a.logger}
	a.onClose(a.Live.Close)
}

// liveWindow returns the window of a session, or nil if none is open and none is to be.
func (a *Server) liveWindow(ctx context.Context, s sessions.Session, open bool) (*browsermgr.Window, error) {
	if w, ok := a.Browsers.Lookup(s.ID); ok || !open {
		return w, nil
	}
	if _, _, err := a.WindowBrowser(false).Open(ctx, sessions.PageRequest{Key: s.ID, Profile: s.Profile, URL: s.URL}); err != nil {
		return nil, err
	}
	w, _ := a.Browsers.Lookup(s.ID)
	return w, nil
}
