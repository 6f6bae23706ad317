package voicetest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// conn is one connection of a client. The server's lock guards its fields.
type conn struct {
	*Socket
	client  *client     // nil before identify
	silence *time.Timer // fires when no heartbeat comes
	closing int         // the code the server closes with, 0 when it does not
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, errClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	s.tasks.Add(1)
	s.mu.Unlock()
	defer s.tasks.Done()

	c := &conn{Socket: Accept(w, r)}
	if c.Socket == nil || !s.addConn(c) {
		return
	}
	if r.URL.Query().Get("v") != "8" {
		s.closeConn(c, CloseUnknownProtocol, "Unknown protocol: version 8 is spoken here.")
	}
	c.Run(func(kind websocket.MessageType, data []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.closing == 0 && (c.client == nil || c.client.conn == c) {
			s.receive(c, kind, data)
		}
		s.notify()
	}, func(code int) { s.removeConn(c, code) })
}

// addConn registers the connection and says hello.
func (s *Server) addConn(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Cut()
		return false
	}
	s.conns = append(s.conns, c)
	c.silence = time.AfterFunc(s.cfg.Heartbeat*3/2, func() { s.closeConn(c, CloseTimeout, "Session timed out.") })
	s.sendTo(c, OpHello, map[string]any{"v": 8, "heartbeat_interval": float64(s.cfg.Heartbeat) / float64(time.Millisecond)})
	return true
}

func (s *Server) closeConn(c *conn, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeWith(c, code, reason)
	s.notify()
}

// closeWith closes one connection with a code; unless that can be resumed, its client leaves the call. The lock is held.
func (s *Server) closeWith(c *conn, code int, reason string) {
	if c.closing != 0 {
		return
	}
	c.closing = code
	if cl := c.client; cl != nil && cl.conn == c {
		cl.conn = nil
		if !isResumable(code) {
			s.remove(cl)
		}
	}
	c.Close(code, reason)
}

// envelope is the form of all messages of text.
type envelope struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"seq,omitempty"`
}

// sendTo sends a message without a number, which is not kept for resuming. The lock is held.
func (s *Server) sendTo(c *conn, op int, data any) {
	c.Send(websocket.MessageText, encode(envelope{Op: op, Data: encode(data)}))
}
