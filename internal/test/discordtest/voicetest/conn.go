package voicetest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"sync"
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
	s.sendTo(c, OpHello, map[string]any{
		"v":                  8,
		"heartbeat_interval": float64(s.cfg.Heartbeat) / float64(time.Millisecond),
	})
	return true
}

func (s *Server) closeConn(c *conn, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeWith(c, code, reason)
	s.notify()
}

// closeWith closes one connection with a code; unless that can be resumed, its client leaves the call. The lock is
// held.
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

// connKey finds the TCP connection of a request, for cutting it.
type connKey struct{}

// WithConn makes the connection of requests known in their contexts, as http.Server.ConnContext.
func WithConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn() // whose end is not announced
	}
	return context.WithValue(ctx, connKey{}, c)
}

// CutConn ends the connection of a request that [WithConn] has seen, without an answer.
func CutConn(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		_ = c.Close() // it may be closed already
	}
}

// A Socket is one WebSocket of a client, written by one goroutine in the order of Send and Close.
type Socket struct {
	ws  *websocket.Conn
	req *http.Request

	mu    sync.Mutex
	queue []outgoingMessage
	wake  chan struct{} // capacity 1
}

// outgoingMessage is a message, or the order to close.
type outgoingMessage struct {
	kind   websocket.MessageType
	data   []byte
	code   int
	reason string
}

// Accept makes a socket of a request; nil if it has answered that it cannot.
func Accept(w http.ResponseWriter, r *http.Request) *Socket {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	ws.SetReadLimit(1 << 20)
	return &Socket{ws: ws, req: r, wake: make(chan struct{}, 1)}
}

// Send queues a message.
func (s *Socket) Send(kind websocket.MessageType, data []byte) {
	s.push(outgoingMessage{kind: kind, data: data})
}

// Close queues the order to close with a code.
func (s *Socket) Close(code int, reason string) { s.push(outgoingMessage{code: code, reason: reason}) }

// Cut ends the connection without a close frame, as a broken line does.
func (s *Socket) Cut() { CutConn(s.req) }

func (s *Socket) push(m outgoingMessage) {
	s.mu.Lock()
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run writes what is queued and hands on what comes, until the connection ends. Then it calls ended with the close code
// that the client gave, or -1.
func (s *Socket) Run(receive func(kind websocket.MessageType, data []byte), ended func(code int)) {
	defer func() { _ = s.ws.CloseNow() }() // it may be closed already
	ctx, cancel := context.WithCancel(s.req.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(ctx)
	}()
	for {
		kind, data, err := s.ws.Read(ctx)
		if err != nil {
			cancel()
			ended(int(websocket.CloseStatus(err)))
			<-written
			return
		}
		receive(kind, data)
	}
}

func (s *Socket) write(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		queue := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, m := range queue {
			if m.code != 0 {
				_ = s.ws.Close(websocket.StatusCode(m.code), m.reason) // the reader sees how it ended
				return
			}
			if s.ws.Write(ctx, m.kind, m.data) != nil {
				return
			}
		}
	}
}
