package dashboard

import (
	"net/http"

	"clank/dashboard/api"
	"clank/internal/liveview"
	"clank/sessions"

	"github.com/coder/websocket"
)

// live shows the page of a session to the operator, who may work it, over a WebSocket; see [liveview]. A page of another
// origin is refused.
func (s *Server) live(w http.ResponseWriter, r *http.Request) error {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil //nolint:nilerr // it has been answered
	}
	s.Live.Serve(r.Context(), conn, r.PathValue("id"), liveview.Viewer{
		Name: "the operator", Actor: operatorActor(sessions.FromDiscord),
		From: sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel, Moderator: true},
		May:  liveview.Rights{Control: true, Stop: true, Note: true},
	})
	return nil
}
