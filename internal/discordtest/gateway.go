package discordtest

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Gateway opcodes.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoiceState     = 4
	opResume         = 6
	opReconnect      = 7
	opRequestMembers = 8
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Gateway close codes.
const (
	CloseUnknownError       = 4000
	CloseUnknownOpcode      = 4001
	CloseDecodeError        = 4002
	CloseNotAuthenticated   = 4003
	CloseAuthFailed         = 4004
	CloseAlreadyAuthed      = 4005
	CloseInvalidSeq         = 4007
	CloseRateLimited        = 4008
	CloseSessionTimedOut    = 4009
	CloseInvalidShard       = 4010
	CloseShardingRequired   = 4011
	CloseInvalidVersion     = 4012
	CloseInvalidIntents     = 4013
	CloseDisallowedIntents  = 4014
	closedWithoutCloseFrame = -1
)

// Documented limits of what a client may send.
const (
	maxFrame         = 4096
	framesAMinute    = 120
	readLimit        = 1 << 20
	compressFromSize = 256
)

// gateway is all connections and sessions. The server's lock guards it.
type gateway struct {
	conns    map[*conn]bool
	sessions map[string]*session
	starts   int
}

func newGateway() gateway {
	return gateway{conns: map[*conn]bool{}, sessions: map[string]*session{}}
}

// conn is one WebSocket of a client. Its fields below mu belong to the queue;
// the others are guarded by the server's lock.
type conn struct {
	ws      *websocket.Conn
	socket  net.Conn
	stream  *zlibStream // transport compression, nil without
	session *session    // nil before identify
	bot     string
	sent    []time.Time // when the client sent, within the last minute
	silence *time.Timer // fires when no heartbeat comes
	closing int         // the code the server closes with, 0 when it does not

	mu    sync.Mutex
	queue []outgoing
	wake  chan struct{} // capacity 1
}

// outgoing is a payload, or the order to close.
type outgoing struct {
	payload  []byte
	compress bool
	code     int
	reason   string
}

func (c *conn) push(o outgoing) {
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

func (s *Server) acceptGateway(w http.ResponseWriter, r *http.Request) {
	socket, _ := r.Context().Value(socketKey{}).(net.Conn)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	ws.SetReadLimit(readLimit)
	c := &conn{ws: ws, socket: socket, wake: make(chan struct{}, 1)}
	query := r.URL.Query()
	if query.Get("compress") == "zlib-stream" {
		c.stream = newZlibStream()
	}
	if !s.admit(c) {
		return
	}
	switch version := query.Get("v"); {
	case version != "9" && version != "10":
		s.closeConn(c, CloseInvalidVersion, "Invalid API version")
	case query.Get("encoding") != "" && query.Get("encoding") != "json":
		s.closeConn(c, CloseDecodeError, "Only JSON is spoken here")
	}
	ctx, cancel := context.WithCancel(r.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.writeLoop(ctx)
	}()
	err = s.readLoop(ctx, c)
	cancel()
	s.leave(c, int(websocket.CloseStatus(err)))
	<-written
}

// admit registers the connection and says hello.
func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = true
	interval := s.cfg.HeartbeatInterval
	c.silence = time.AfterFunc(interval*3/2, func() { s.closeConn(c, CloseSessionTimedOut, "Session timed out") })
	s.sendOp(c, opHello, map[string]any{"heartbeat_interval": interval.Milliseconds(), "_trace": []string{"discordtest"}})
	return true
}

// leave forgets the connection. A client that says goodbye with 1000 or 1001
// gives up its session; any other end leaves it to be resumed.
func (s *Server) leave(c *conn, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.silence.Stop()
	delete(s.conns, c)
	end := Disconnect{At: s.now(), Bot: c.bot, Code: code}
	if c.closing != 0 {
		end.Code, end.ByServer = c.closing, true
	}
	s.disconnects = append(s.disconnects, end)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
		goodbye := websocket.StatusCode(code) == websocket.StatusNormalClosure || websocket.StatusCode(code) == websocket.StatusGoingAway
		if goodbye && c.closing == 0 {
			delete(s.sessions, c.session.id)
			s.leaveCalls(c.session)
		}
	}
	s.notify()
}

func (s *Server) readLoop(ctx context.Context, c *conn) error {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		if c.closing == 0 {
			s.receive(c, data)
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
			if c.write(ctx, o) != nil {
				return
			}
		}
	}
}

func (c *conn) write(ctx context.Context, o outgoing) error {
	switch {
	case c.stream != nil:
		return c.ws.Write(ctx, websocket.MessageBinary, c.stream.pack(o.payload))
	case o.compress:
		return c.ws.Write(ctx, websocket.MessageBinary, zlibPack(o.payload))
	default:
		return c.ws.Write(ctx, websocket.MessageText, o.payload)
	}
}

// closeConn closes one connection with a code. The session stays.
func (s *Server) closeConn(c *conn, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut(c, code, reason)
}

// shut is closeConn with the lock held.
func (s *Server) shut(c *conn, code int, reason string) {
	if c.closing != 0 {
		return
	}
	c.closing = code
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	c.push(outgoing{code: code, reason: reason})
}

// payload is the envelope of all gateway messages.
type payload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type *string         `json:"t"`
}

// sendOp sends a message that is not an event.
func (s *Server) sendOp(c *conn, op int, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.sendPayload(c, payload{Op: op, Data: d})
}

func (s *Server) sendPayload(c *conn, p payload) {
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	f := Frame{At: s.now(), Bot: c.bot, Op: p.Op, Data: p.Data}
	if p.Type != nil {
		f.Type, f.Seq = *p.Type, *p.Seq
	}
	compress := c.session != nil && c.session.compress && len(text) >= compressFromSize
	f.Binary = compress || c.stream != nil
	s.frames = append(s.frames, f)
	c.push(outgoing{payload: text, compress: compress})
}
