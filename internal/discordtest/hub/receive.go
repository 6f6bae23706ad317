package hub

import (
	"encoding/json"
	"slices"
	"time"

	"clank/internal/discordtest/shape"
)

// receive deals with one message of a client. The lock is held.
func (s *Server) receive(c *Conn, data []byte) {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil || len(data) > maxFrame {
		s.Frames = append(s.Frames, Frame{At: s.Now(), Bot: c.Bot, Received: true, Op: -1})
		s.Shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	s.Frames = append(s.Frames, Frame{At: s.Now(), Bot: c.Bot, Received: true, Op: p.Op, Data: p.Data})
	if s.tooFast(c) {
		s.Shut(c, CloseRateLimited, "You are being rate limited.")
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
			s.Shut(c, CloseAlreadyAuthed, "Already authenticated.")
		case p.Op == opIdentify:
			s.identify(c, p.Data)
		default:
			s.resume(c, p.Data)
		}
	case opPresence, opVoiceState, opRequestMembers, opStreamCreate, opStreamDelete, opStreamWatch, opStreamPing, opStreamPause:
		s.command(c, p)
	default:
		s.Shut(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

// command deals with what only a signed-in client may send.
func (s *Server) command(c *Conn, p payload) {
	if c.Session == nil {
		s.Shut(c, CloseNotAuthenticated, "Not authenticated.")
		return
	}
	var ok bool
	switch p.Op {
	case opPresence:
		var presence struct {
			Since      *int64            `json:"since"`
			Activities []json.RawMessage `json:"activities"`
			Status     string            `json:"status"`
			AFK        bool              `json:"afk"`
		}
		ok = json.Unmarshal(p.Data, &presence) == nil && presence.Activities != nil &&
			slices.Contains([]string{"online", "dnd", "idle", "invisible", "offline"}, presence.Status)
	case opVoiceState:
		ok = s.updateVoice(c.Session, p.Data)
	case opRequestMembers:
		ok = s.sendMembers(c.Session, p.Data)
	default:
		ok = s.streamCommand(c.Session, p.Op, p.Data)
	}
	if !ok {
		s.Shut(c, CloseDecodeError, "Error while decoding payload.")
	}
}

// tooFast counts what the client sent within the last minute.
func (s *Server) tooFast(c *Conn) bool {
	now := s.Now()
	c.sent = append(slices.DeleteFunc(c.sent, func(t time.Time) bool { return now.Sub(t) >= time.Minute }), now)
	return len(c.sent) > framesAMinute
}

// identifyData is op 2. Pointers tell what is missing.
type identifyData struct {
	Token      string          `json:"token"`
	Properties json.RawMessage `json:"properties"`
	Compress   bool            `json:"compress"`
	Threshold  int             `json:"large_threshold"`
	Shard      *[2]int         `json:"shard"`
	Intents    *shape.Intents  `json:"intents"`
}

func (s *Server) identify(c *Conn, data json.RawMessage) {
	var d identifyData
	if err := json.Unmarshal(data, &d); err != nil || d.Properties == nil {
		s.Shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.signedIn(d.Token)
	if d.Intents == nil && bot != nil && !bot.User.Bot {
		everything := shape.Defined
		d.Intents = &everything // people hear of all
	}
	switch {
	case d.Intents == nil:
		s.Shut(c, CloseDecodeError, "Error while decoding payload.")
	case bot == nil:
		s.Shut(c, CloseAuthFailed, "Authentication failed.")
	case d.Shard != nil && (d.Shard[1] < 1 || d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1]):
		s.Shut(c, CloseInvalidShard, "Invalid shard.")
	case *d.Intents&^shape.Defined != 0:
		s.Shut(c, CloseInvalidIntents, "Invalid intent(s).")
	case *d.Intents&bot.Forbidden != 0:
		s.Shut(c, CloseDisallowedIntents, "Disallowed intent(s).")
	default:
		s.starts++
		s.begin(c, bot, d)
	}
}

// signedIn finds the account for a token as the gateway is given it: a bot's may
// come without the word "Bot".
func (s *Server) signedIn(token string) *shape.Account {
	if a := s.AccountWith(token); a != nil {
		return a
	}
	return s.AccountWith("Bot " + token)
}

func (s *Server) resume(c *Conn, data json.RawMessage) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.Shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.signedIn(d.Token)
	found := s.Sessions[d.SessionID]
	switch {
	case bot == nil:
		s.Shut(c, CloseAuthFailed, "Authentication failed.")
	case found == nil || found.Bot != bot:
		s.SendOp(c, OpInvalidSession, false)
	case d.Seq > found.seq || d.Seq < 0:
		delete(s.Sessions, found.id)
		s.Shut(c, CloseInvalidSeq, "Invalid seq.")
	default:
		s.replay(c, found, d.Seq)
	}
}

// StartsLeft is how many identifies are left today.
func (s *Server) StartsLeft() int { return max(0, s.Config.SessionStarts-s.starts) }
