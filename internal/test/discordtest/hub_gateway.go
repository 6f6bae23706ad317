package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"clank/internal/test/discordtest/voicetest"

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
)

// Gateway is the state of all connections and sessions, guarded by the server's lock.
type Gateway struct {
	Conns    map[*Conn]bool
	Sessions map[string]*session
}

func newGateway() Gateway {
	return Gateway{Conns: map[*Conn]bool{}, Sessions: map[string]*session{}}
}

// Conn is a client's connection. Its fields are guarded by the server's lock.
type Conn struct {
	*voicetest.Socket
	Session *session // nil before identify
	Bot     string
	sent    []time.Time // times of the client's messages within the last minute
	silence *time.Timer // fires if no heartbeat arrives
	Closing int         // the code with which the server closes, 0 if it does not
}

// AcceptGateway serves a connection of the main gateway.
func (s *hub) AcceptGateway(w http.ResponseWriter, r *http.Request) {
	c := &Conn{Socket: voicetest.Accept(w, r)}
	if c.Socket == nil || !s.addConn(c) {
		return
	}
	query := r.URL.Query()
	switch version := query.Get("v"); {
	case version != "9" && version != "10":
		s.closeConn(c, CloseInvalidVersion, "Invalid API version")
	case query.Get("encoding") != "" && query.Get("encoding") != "json":
		s.closeConn(c, CloseDecodeError, "Only JSON is spoken here")
	}
	c.Run(func(_ websocket.MessageType, data []byte) {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if c.Closing == 0 {
			s.receive(c, data)
		}
		s.Notify()
	}, func(code int) { s.removeConn(c, code) })
}

// addConn registers the connection and sends hello.
func (s *hub) addConn(c *Conn) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Closed {
		c.Cut()
		return false
	}
	s.Conns[c] = true
	interval := s.Config.HeartbeatInterval
	c.silence = time.AfterFunc(s.silence(), func() { s.closeConn(c, CloseSessionTimedOut, "Session timed out") })
	s.SendOp(c, opHello, map[string]any{"heartbeat_interval": interval.Milliseconds(), "_trace": []string{"discordtest"}})
	return true
}

// removeConn removes the connection. A client that closes with 1000 or 1001 gives up its session; otherwise the
// session can be resumed.
func (s *hub) removeConn(c *Conn, code int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	c.silence.Stop()
	delete(s.Conns, c)
	end := Disconnect{Code: code}
	if c.Closing != 0 {
		end.Code, end.ByServer = c.Closing, true
	}
	s.Disconnects = append(s.Disconnects, end)
	if c.Session != nil && c.Session.Conn == c {
		c.Session.Conn = nil
		goodbye := websocket.StatusCode(code) == websocket.StatusNormalClosure ||
			websocket.StatusCode(code) == websocket.StatusGoingAway
		if goodbye && c.Closing == 0 {
			delete(s.Sessions, c.Session.id)
			s.LeaveCalls(c.Session)
		}
	}
	s.Notify()
}

// closeConn closes a connection with a code. The session remains.
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
	c.Close(code, reason)
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
	c.Send(websocket.MessageText, text)
}

// receive handles a message of a client. The caller holds the lock.
func (s *hub) receive(c *Conn, data []byte) {
	var p gatewayPayload
	if err := json.Unmarshal(data, &p); err != nil || len(data) > maxFrame {
		s.Frames = append(s.Frames, Frame{Op: -1})
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	s.Frames = append(s.Frames, Frame{p.Op, p.Data})
	if s.rateLimited(c) {
		s.CloseConn(c, CloseRateLimited, "You are being rate limited.")
		return
	}
	authenticated := c.Session != nil
	switch p.Op {
	case OpHeartbeat:
		c.silence.Reset(s.silence())
		if !s.WithholdACKs {
			s.SendOp(c, opHeartbeatAck, nil)
		}
	case opIdentify, opResume:
		switch {
		case authenticated:
			s.CloseConn(c, CloseAlreadyAuthed, "Already authenticated.")
		case p.Op == opIdentify:
			s.identify(c, p.Data)
		default:
			s.resume(c, p.Data)
		}
	case opVoiceState, opStreamCreate, opStreamDelete, opStreamPing, opStreamPause:
		s.command(c, p)
	default:
		s.CloseConn(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

// command handles the messages that require an identified client.
func (s *hub) command(c *Conn, p gatewayPayload) {
	if c.Session == nil {
		s.CloseConn(c, CloseNotAuthenticated, "Not authenticated.")
		return
	}
	var ok bool
	switch p.Op {
	case opVoiceState:
		ok = s.updateVoice(c.Session, p.Data)
	default:
		ok = s.streamCommand(c.Session, p.Op, p.Data)
	}
	if !ok {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
	}
}

// rateLimited counts what the client sent within the last minute.
func (s *hub) rateLimited(c *Conn) bool {
	now := s.Now()
	c.sent = append(slices.DeleteFunc(c.sent, func(t time.Time) bool { return now.Sub(t) >= time.Minute }), now)
	return len(c.sent) > framesAMinute
}

// identifyData is the data of op 2. Nil pointers are missing fields.
type identifyData struct {
	Token      string          `json:"token"`
	Properties json.RawMessage `json:"properties"`
	Intents    *Intents        `json:"intents"`
	Shard      *[2]int         `json:"shard"`
}

func (s *hub) identify(c *Conn, data json.RawMessage) {
	var d identifyData
	if err := json.Unmarshal(data, &d); err != nil || d.Properties == nil {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	if d.Shard == nil {
		d.Shard = &[2]int{0, 1}
	}
	bot := s.accountForToken(d.Token)
	if d.Intents == nil && bot != nil && !bot.User.Bot {
		everything := Defined
		d.Intents = &everything // accounts that are not bots receive all events
	}
	switch {
	case d.Intents == nil:
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
	case bot == nil:
		s.CloseConn(c, CloseAuthFailed, "Authentication failed.")
	case *d.Intents&^Defined != 0:
		s.CloseConn(c, CloseInvalidIntents, "Invalid intent(s).")
	case *d.Intents&bot.Forbidden != 0:
		s.CloseConn(c, CloseDisallowedIntents, "Disallowed intent(s).")
	case d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1]:
		s.CloseConn(c, CloseInvalidShard, "Invalid shard.")
	case d.Shard[1] < bot.fewestShards:
		s.CloseConn(c, CloseShardingRequired, "Sharding required.")
	case s.tooSoon(bot, d.Shard[0]):
		s.SendOp(c, OpInvalidSession, false)
	default:
		s.startSession(c, bot, d)
	}
}

// tooSoon reports whether the shard's bucket has just started a session; otherwise it records that it does now.
func (s *hub) tooSoon(bot *Account, shard int) bool {
	bucket := shard % max(1, bot.atOnce)
	if s.Now().Sub(bot.begun[bucket]) < s.Config.IdentifyInterval {
		return true
	}
	if bot.begun == nil {
		bot.begun = make(map[int]time.Time)
	}
	bot.begun[bucket] = s.Now()
	return false
}

// accountForToken returns the account for a gateway token: a bot's may omit "Bot".
func (s *hub) accountForToken(token string) *Account {
	if a := s.AccountWith(token); a != nil {
		return a
	}
	return s.AccountWith("Bot " + token)
}

func (s *hub) resume(c *Conn, data json.RawMessage) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.accountForToken(d.Token)
	found := s.Sessions[d.SessionID]
	switch {
	case bot == nil:
		s.CloseConn(c, CloseAuthFailed, "Authentication failed.")
	case found == nil || found.Bot != bot:
		s.SendOp(c, OpInvalidSession, false)
	case d.Seq > found.seq || d.Seq < 0:
		delete(s.Sessions, found.id)
		s.CloseConn(c, CloseInvalidSeq, "Invalid seq.")
	default:
		s.replay(c, found, d.Seq)
	}
}
