package discordtest

import (
	"encoding/json"
	"slices"
	"time"
)

// receive deals with one message of a client. The lock is held.
func (s *Server) receive(c *conn, data []byte) {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil || len(data) > maxFrame {
		s.frames = append(s.frames, Frame{At: s.now(), Bot: c.bot, Received: true, Op: -1})
		s.shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	s.frames = append(s.frames, Frame{At: s.now(), Bot: c.bot, Received: true, Op: p.Op, Data: p.Data})
	if s.tooFast(c) {
		s.shut(c, CloseRateLimited, "You are being rate limited.")
		return
	}
	authenticated := c.session != nil
	switch p.Op {
	case opHeartbeat:
		c.silence.Reset(s.cfg.HeartbeatInterval * 3 / 2)
		if !s.withholdACKs {
			s.sendOp(c, opHeartbeatAck, nil)
		}
	case opIdentify, opResume:
		switch {
		case authenticated:
			s.shut(c, CloseAlreadyAuthed, "Already authenticated.")
		case p.Op == opIdentify:
			s.identify(c, p.Data)
		default:
			s.resume(c, p.Data)
		}
	case opPresence, opVoiceState, opRequestMembers, opStreamCreate, opStreamDelete, opStreamWatch, opStreamPing, opStreamPause:
		s.command(c, p)
	default:
		s.shut(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

// command deals with what only a signed-in client may send.
func (s *Server) command(c *conn, p payload) {
	if c.session == nil {
		s.shut(c, CloseNotAuthenticated, "Not authenticated.")
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
		ok = s.updateVoice(c.session, p.Data)
	case opRequestMembers:
		ok = s.sendMembers(c.session, p.Data)
	default:
		ok = s.streamCommand(c.session, p.Op, p.Data)
	}
	if !ok {
		s.shut(c, CloseDecodeError, "Error while decoding payload.")
	}
}

// tooFast counts what the client sent within the last minute.
func (s *Server) tooFast(c *conn) bool {
	now := s.now()
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
	Intents    *Intents        `json:"intents"`
}

func (s *Server) identify(c *conn, data json.RawMessage) {
	var d identifyData
	if err := json.Unmarshal(data, &d); err != nil || d.Properties == nil {
		s.shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.signedIn(d.Token)
	if d.Intents == nil && bot != nil && !bot.user.Bot {
		everything := defined
		d.Intents = &everything // people hear of all
	}
	switch {
	case d.Intents == nil:
		s.shut(c, CloseDecodeError, "Error while decoding payload.")
	case bot == nil:
		s.shut(c, CloseAuthFailed, "Authentication failed.")
	case d.Shard != nil && (d.Shard[1] < 1 || d.Shard[0] < 0 || d.Shard[0] >= d.Shard[1]):
		s.shut(c, CloseInvalidShard, "Invalid shard.")
	case *d.Intents&^defined != 0:
		s.shut(c, CloseInvalidIntents, "Invalid intent(s).")
	case *d.Intents&bot.forbidden != 0:
		s.shut(c, CloseDisallowedIntents, "Disallowed intent(s).")
	default:
		s.starts++
		s.begin(c, bot, d)
	}
}

// signedIn finds the account for a token as the gateway is given it: a bot's may
// come without the word "Bot".
func (s *Server) signedIn(token string) *account {
	if a := s.accountWith(token); a != nil {
		return a
	}
	return s.accountWith("Bot " + token)
}

func (s *Server) resume(c *conn, data json.RawMessage) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.shut(c, CloseDecodeError, "Error while decoding payload.")
		return
	}
	bot := s.signedIn(d.Token)
	found := s.sessions[d.SessionID]
	switch {
	case bot == nil:
		s.shut(c, CloseAuthFailed, "Authentication failed.")
	case found == nil || found.bot != bot:
		s.sendOp(c, opInvalidSession, false)
	case d.Seq > found.seq || d.Seq < 0:
		delete(s.sessions, found.id)
		s.shut(c, CloseInvalidSeq, "Invalid seq.")
	default:
		s.replay(c, found, d.Seq)
	}
}

// startsLeft is how many identifies are left today.
func (s *Server) startsLeft() int { return max(0, s.cfg.SessionStarts-s.starts) }
