package server

import (
	"context"
	"net/http"

	"clank/browsermgr"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/liveview"
	"clank/sessions"

	"github.com/coder/websocket"
)

// openLive makes who shows pages to people.
func (a *Server) openLive() {
	a.Live = &liveview.Server{Sessions: a.Sessions, Scopes: &a.scopes, Window: a.liveWindow}
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

// serveOperator shows the session that the path names to the operator, who has signed in to the dashboard.
func (a *Server) serveOperator(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"clank.live"}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it has been answered
	}
	a.Live.Serve(r.Context(), conn, r.PathValue("id"), liveview.Viewer{
		Name: "the operator", Actor: cancel.Actor{Name: "the operator", Moderator: true},
		From: sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel, Moderator: true},
		May:  liveview.Rights{Control: true, Stop: true, Note: true},
	})
}
