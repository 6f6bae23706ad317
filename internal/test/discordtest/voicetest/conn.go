package voicetest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// conn is one WebSocket of a client. Its queue has a lock of its own; the other fields are guarded by the server's.
type conn struct {
	ws      *websocket.Conn
	socket  net.Conn
	client  *client     // nil before identify
	silence *time.Timer // fires when no heartbeat comes
	closing int         // the code the server closes with, 0 when it does not

	mu    sync.Mutex
	queue []queuedMessage
	wake  chan struct{} // capacity 1
}

// queuedMessage is a message, or the order to close.
type queuedMessage struct {
	kind   websocket.MessageType
	data   []byte
	code   int
	reason string
}

func (c *conn) push(o queuedMessage) {
	c.mu.Lock()
	c.queue = append(c.queue, o)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// cut ends the connection without a close frame, as a broken line does.
func (c *conn) cut() { _ = c.socket.Close() }

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

	socket, _ := r.Context().Value(socketKey{}).(net.Conn)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	ws.SetReadLimit(1 << 20)
	c := &conn{ws: ws, socket: socket, wake: make(chan struct{}, 1)}
	if !s.addConn(c) {
		return
	}
	if r.URL.Query().Get("v") != "8" {
		s.closeConn(c, CloseUnknownProtocol, "Unknown protocol: version 8 is spoken here.")
	}
	ctx, cancel := context.WithCancel(r.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.writeLoop(ctx)
	}()
	err = s.readLoop(ctx, c)
	cancel()
	s.removeConn(c, int(websocket.CloseStatus(err)))
	<-written
}

// addConn registers the connection and says hello.
func (s *Server) addConn(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns = append(s.conns, c)
	c.silence = time.AfterFunc(s.cfg.Heartbeat*3/2, func() { s.closeConn(c, CloseTimeout, "Session timed out.") })
	s.sendTo(c, OpHello, map[string]any{"v": 8, "heartbeat_interval": float64(s.cfg.Heartbeat) / float64(time.Millisecond)})
	return true
}

func (s *Server) readLoop(ctx context.Context, c *conn) error {
	for {
		kind, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		if c.closing == 0 && (c.client == nil || c.client.conn == c) {
			s.receive(c, kind, data)
		}
		s.notify()
		s.mu.Unlock()
	}
}

func (c *conn) writeLoop(ctx context.Context) {
	for {
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, o := range queue {
			if o.code != 0 {
				_ = c.ws.Close(websocket.StatusCode(o.code), o.reason) // the reader sees how it ended
				return
			}
			if c.ws.Write(ctx, o.kind, o.data) != nil {
				return
			}
		}
	}
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
	c.push(queuedMessage{code: code, reason: reason})
}

// envelope is the form of all messages of text.
type envelope struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int            `json:"seq,omitempty"`
}

// sendTo sends a message without a number, which is not kept for resuming. The lock is held.
func (s *Server) sendTo(c *conn, op int, data any) {
	d := encode(data)
	m := Message{Op: op, Data: d, Seq: -1}
	if c.client != nil {
		m.Seat = c.client.seat
	}
	s.recordMessage(m)
	c.push(queuedMessage{kind: websocket.MessageText, data: encode(envelope{Op: op, Data: d})})
}
