package discordtest

import (
	"encoding/json"
	"slices"
	"time"
)

// receive deals with one message of a client. The lock is held.
func (s *hub) receive(c *Conn, data []byte) {
	var p gatewayPayload
	if err := json.Unmarshal(data, &p); err != nil || len(data) > maxFrame {
		s.Frames = append(s.Frames, Frame{At: s.Now(), Bot: c.Bot, Received: true, Op: -1})
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	s.Frames = append(s.Frames, Frame{At: s.Now(), Bot: c.Bot, Received: true, Op: p.Op, Data: p.Data})
	if s.rateLimited(c) {
		s.CloseConn(c, CloseRateLimited, "You are being rate limited.")
		return
	}
	authenticated := c.Session != nil
	switch p.Op {
	case OpHeartbeat:
		c.silence.Reset(s.Config.Silence)
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
	case opVoiceState, opStreamCreate, opStreamDelete, opStreamWatch, opStreamPing, opStreamPause:
		s.command(c, p)
	default:
		s.CloseConn(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

// command deals with what only a signed-in client may send.
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

// identifyData is op 2. Pointers tell what is missing.
type identifyData struct {
	Token      string          `json:"token"`
	Properties json.RawMessage `json:"properties"`
	Shard      *[2]int         `json:"shard"`
	Intents    *Intents        `json:"intents"`
}

func (s *hub) identify(c *Conn, data json.RawMessage) {
	var d identifyData
	if err := json.Unmarshal(data, &d); err != nil || d.Properties == nil {
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.accountForToken(d.Token)
	if d.Intents == nil && bot != nil && !bot.User.Bot {
		everything := Defined
		d.Intents = &everything // people hear of all
	}
	switch {
	case d.Intents == nil:
		s.CloseConn(c, CloseDecodeError, "Error while decoding payload.")
	case bot == nil:
		s.CloseConn(c, CloseAuthFailed, "Authentication failed.")
	case d.Shard != nil && (d.Shard[1] < 1 || d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1]):
		s.CloseConn(c, CloseInvalidShard, "Invalid shard.")
	case *d.Intents&^Defined != 0:
		s.CloseConn(c, CloseInvalidIntents, "Invalid intent(s).")
	case *d.Intents&bot.Forbidden != 0:
		s.CloseConn(c, CloseDisallowedIntents, "Disallowed intent(s).")
	default:
		s.startSession(c, bot, d)
	}
}

// accountForToken finds the account for a token as the gateway is given it: a bot's may
// come without the word "Bot".
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
