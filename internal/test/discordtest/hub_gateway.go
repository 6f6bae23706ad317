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
	OpHeartbeat      = 1
	opIdentify       = 2
	opVoiceState     = 4
	opResume         = 6
	OpReconnect      = 7
	OpInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Gateway close codes.
const (
	CloseUnknownError      = 4000
	CloseUnknownOpcode     = 4001
	CloseDecodeError       = 4002
	CloseNotAuthenticated  = 4003
	CloseAuthFailed        = 4004
	CloseAlreadyAuthed     = 4005
	CloseInvalidSeq        = 4007
	CloseRateLimited       = 4008
	CloseSessionTimedOut   = 4009
	CloseInvalidShard      = 4010
	CloseShardingRequired  = 4011
	CloseInvalidVersion    = 4012
	CloseInvalidIntents    = 4013
	CloseDisallowedIntents = 4014
)

// Documented limits of what a client may send.
const (
	maxFrame      = 4096
	framesAMinute = 120
	readLimit     = 1 << 20
)

// Gateway is all connections and sessions. The server's lock guards it.
type Gateway struct {
	Conns    map[*Conn]bool
	Sessions map[string]*session
}

func newGateway() Gateway {
	return Gateway{Conns: map[*Conn]bool{}, Sessions: map[string]*session{}}
}

// Conn is one WebSocket of a client. Its fields below mu belong to the queue;
// the others are guarded by the server's lock.
type Conn struct {
	ws      *websocket.Conn
	socket  net.Conn
	Session *session // nil before identify
	Bot     string
	sent    []time.Time // when the client sent, within the last minute
	silence *time.Timer // fires when no heartbeat comes
	Closing int         // the code the server closes with, 0 when it does not

	mu    sync.Mutex
	queue []OutgoingPayload
	wake  chan struct{} // capacity 1
}

// OutgoingPayload is a payload, or the order to close.
type OutgoingPayload struct {
	Payload []byte
	code    int
	reason  string
}

// Push queues a message, or the order to close.
func (c *Conn) Push(o OutgoingPayload) {
	c.mu.Lock()
	c.queue = append(c.queue, o)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Cut ends the connection without a close frame, as a broken line does.
func (c *Conn) Cut() { _ = c.socket.Close() }

// AcceptGateway serves a connection of the main gateway, from its first byte to its last.
func (s *hub) AcceptGateway(w http.ResponseWriter, r *http.Request) {
	socket := Socket(r)
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = ws.CloseNow() }() // it may be closed already
	ws.SetReadLimit(readLimit)
	c := &Conn{ws: ws, socket: socket, wake: make(chan struct{}, 1)}
	query := r.URL.Query()
	if !s.addConn(c) {
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
	s.removeConn(c, int(websocket.CloseStatus(err)))
	<-written
}

// addConn registers the connection and says hello.
func (s *hub) addConn(c *Conn) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Closed {
		return false
	}
	s.Conns[c] = true
	interval := s.Config.HeartbeatInterval
	c.silence = time.AfterFunc(s.Config.Silence, func() { s.closeConn(c, CloseSessionTimedOut, "Session timed out") })
	s.SendOp(c, opHello, map[string]any{"heartbeat_interval": interval.Milliseconds(), "_trace": []string{"discordtest"}})
	return true
}

// removeConn forgets the connection. A client that says goodbye with 1000 or 1001
// gives up its session; any other end leaves it to be resumed.
func (s *hub) removeConn(c *Conn, code int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c.silence.Stop()
	delete(s.Conns, c)
	end := Disconnect{At: s.Now(), Bot: c.Bot, Code: code}
	if c.Closing != 0 {
		end.Code, end.ByServer = c.Closing, true
	}
	s.Disconnects = append(s.Disconnects, end)
	if c.Session != nil && c.Session.Conn == c {
		c.Session.Conn = nil
		goodbye := websocket.StatusCode(code) == websocket.StatusNormalClosure || websocket.StatusCode(code) == websocket.StatusGoingAway
		if goodbye && c.Closing == 0 {
			delete(s.Sessions, c.Session.id)
			s.LeaveCalls(c.Session)
		}
	}
	s.Notify()
}

func (s *hub) readLoop(ctx context.Context, c *Conn) error {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		s.Mu.Lock()
		if c.Closing == 0 {
			s.receive(c, data)
		}
		s.Notify()
		s.Mu.Unlock()
	}
}

func (c *Conn) writeLoop(ctx context.Context) {
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
			if c.ws.Write(ctx, websocket.MessageText, o.Payload) != nil {
				return
			}
		}
	}
}

// closeConn closes one connection with a code. The session stays.
func (s *hub) closeConn(c *Conn, code int, reason string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.CloseConn(c, code, reason)
}

// CloseConn closes c as closeConn does. The caller holds the lock.
func (s *hub) CloseConn(c *Conn, code int, reason string) {
	if c.Closing != 0 {
		return
	}
	c.Closing = code
	if c.Session != nil && c.Session.Conn == c {
		c.Session.Conn = nil
	}
	c.Push(OutgoingPayload{code: code, reason: reason})
}

// gatewayPayload is the envelope of all gateway messages.
type gatewayPayload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type *string         `json:"t"`
}

// SendOp sends a message that is not an event.
func (s *hub) SendOp(c *Conn, op int, data any) {
	d, err := json.Marshal(data)
	if err != nil {
		return
	}
	s.sendPayload(c, gatewayPayload{Op: op, Data: d})
}

func (s *hub) sendPayload(c *Conn, p gatewayPayload) {
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	f := Frame{At: s.Now(), Bot: c.Bot, Op: p.Op, Data: p.Data}
	if p.Type != nil {
		f.Type, f.Seq = *p.Type, *p.Seq
	}
	s.Frames = append(s.Frames, f)
	c.Push(OutgoingPayload{Payload: text})
}
