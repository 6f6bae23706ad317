package voicetest

import (
	"encoding/json"
	"net"
	"net/netip"
)

func (s *Server) identify(c *conn, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		UserID    string `json:"user_id"`
		SessionID string `json:"session_id"`
		Token     string `json:"token"`
		DAVE      int    `json:"max_dave_protocol_version"`
		Video     bool   `json:"video"`
		Streams   []struct {
			Type    string `json:"type"`
			RID     string `json:"rid"`
			Quality int    `json:"quality"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	ticket, code, reason := s.check(d.ServerID, d.UserID, d.SessionID, d.Token)
	if code == 0 && s.cfg.DAVE > 0 && d.DAVE == 0 && !s.cfg.Optional {
		code, reason = CloseNeedsDAVE, "E2EE/DAVE protocol required."
	}
	if code != 0 {
		s.closeWith(c, code, reason)
		return
	}
	if old := s.clients[ticket.ClientID]; old != nil {
		if old.conn != nil {
			s.closeWith(old.conn, CloseSessionInvalid, "Session is no longer valid.")
		}
		s.remove(old)
	}
	cl := &client{
		seat: ticket.ClientID, ticket: ticket, conn: c, dave: min(d.DAVE, s.cfg.DAVE), seq: -1, acked: -1, offered: s.cfg.Modes,
		audio: s.newSSRC(), video: s.newSSRC(), rtx: s.newSSRC(), wants: map[string]int{}, met: map[string]bool{},
	}
	s.clients[cl.seat], c.client = cl, cl
	streams := []map[string]any{}
	if d.Video && !ticket.NoVideo {
		for _, stream := range d.Streams {
			streams = append(streams, map[string]any{
				"type": "video", "rid": stream.RID, "quality": stream.Quality, "ssrc": cl.video, "rtx_ssrc": cl.rtx, "active": false,
			})
		}
	}
	if len(streams) == 0 {
		cl.video, cl.rtx = 0, 0
	}
	for _, ssrc := range []uint32{cl.audio, cl.video, cl.rtx} {
		s.sources[ssrc] = cl
	}
	delete(s.sources, 0)
	host, port := s.mediaAddress()
	s.send(cl, OpReady, map[string]any{
		"ssrc": cl.audio, "ip": host, "port": port, "modes": cl.offered, "experiments": []string{"fixed_keyframe_interval"},
		"streams": streams,
		// This is not the interval of hello, as in the real service: nobody may take it.
		"heartbeat_interval": 1,
	})
	s.greet(cl)
}

// check finds the ticket that a client shows, or the close code it deserves.
func (s *Server) check(server, user, session, token string) (Credentials, int, string) {
	if len(s.refusals) > 0 {
		refusal := s.refusals[0]
		s.refusals = s.refusals[1:]
		return Credentials{}, refusal.code, refusal.reason
	}
	ticket, ok := s.tickets[token]
	switch {
	case !ok || ticket.User != user:
		return Credentials{}, CloseAuthFailed, "Authentication failed."
	case ticket.Server != server:
		return Credentials{}, CloseServerNotFound, "Server not found."
	case ticket.Session != session:
		return Credentials{}, CloseSessionInvalid, "Session is no longer valid."
	}
	return ticket, 0, ""
}

// resume goes on with a session whose connection was lost: op 9, then what the client has missed.
func (s *Server) resume(c *conn, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		SessionID string `json:"session_id"`
		Token     string `json:"token"`
		Seq       *int   `json:"seq_ack"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Seq == nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	ticket, code, reason := s.check(d.ServerID, s.tickets[d.Token].User, d.SessionID, d.Token)
	if code != 0 {
		s.closeWith(c, code, reason)
		return
	}
	cl := s.clients[ticket.ClientID]
	if cl == nil || cl.ticket != ticket || !cl.acknowledge(*d.Seq) {
		s.closeWith(c, CloseSessionInvalid, "Session is no longer valid.")
		return
	}
	if old := cl.conn; old != nil {
		old.client = nil
		old.cut()
	}
	cl.conn, c.client = c, cl
	s.sendTo(c, OpResumed, nil)
	for _, m := range cl.backlog {
		c.push(m.queuedMessage)
	}
}

// removeConn forgets a connection. A client that says goodbye leaves the call; any other end leaves its session to be resumed.
func (s *Server) removeConn(c *conn, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.silence.Stop()
	for i, other := range s.conns {
		if other == c {
			s.conns = append(s.conns[:i], s.conns[i+1:]...)
			break
		}
	}
	end := Disconnection{Code: code}
	if c.closing != 0 {
		end.Code, end.ByServer = c.closing, true
	}
	if cl := c.client; cl != nil {
		end.Seat = cl.seat
		if cl.conn == c {
			cl.conn = nil
			if code > 0 && c.closing == 0 && isFinalClose(code) {
				s.remove(cl)
			}
		}
	}
	s.endings = append(s.endings, end)
	s.notify()
}

// isFinalClose tells whether a client that closes with this code does not mean to come back.
func isFinalClose(code int) bool { return code == 1000 || code == 1001 }

// mediaAddress returns where media goes.
func (s *Server) mediaAddress() (string, int) {
	addr, ok := s.udp.LocalAddr().(*net.UDPAddr)
	if !ok {
		return "", 0
	}
	ap := netip.AddrPortFrom(addr.AddrPort().Addr().Unmap(), addr.AddrPort().Port())
	return ap.Addr().String(), int(ap.Port())
}
