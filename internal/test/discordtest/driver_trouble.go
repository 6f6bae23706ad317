package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotConnected says that no gateway session of the bot is there.
var ErrNotConnected = errors.New("the bot has no gateway session")

// Dispatch sends an event with that data to every session of the bot, whatever
// its intents, numbered and kept for resuming like any other. The data is not
// looked at beyond being JSON: null, missing fields and wrong types are welcome.
func (s *Server) Dispatch(bot Bot, event, data string) error {
	if !json.Valid([]byte(data)) {
		return fmt.Errorf("dispatch %s: the data is not JSON; SendRaw sends anything", event)
	}
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	found := false
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == bot.ID {
			s.hub.DispatchRaw(ses, event, json.RawMessage(data))
			found = true
		}
	}
	s.hub.Notify()
	if !found {
		return fmt.Errorf("dispatch %s: %w", event, ErrNotConnected)
	}
	return nil
}

// SendRaw sends any text as one gateway message to every connection of the bot.
func (s *Server) SendRaw(bot Bot, text string) error {
	return s.eachConn(bot, func(c *Conn) { c.Push(OutgoingPayload{Payload: []byte(text)}) })
}

// DropSockets cuts all gateway connections of the bot without a close frame.
// What happens meanwhile is kept for a resume.
func (s *Server) DropSockets(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) {
		if c.Session != nil {
			c.Session.Conn = nil
		}
		c.Cut()
	})
}

// CloseGateway closes all gateway connections of the bot with a code.
func (s *Server) CloseGateway(bot Bot, code int, reason string) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.CloseConn(c, code, reason) })
}

// Reconnect asks all connections of the bot to come again and resume (op 7).
func (s *Server) Reconnect(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpReconnect, nil) })
}

// RequestHeartbeat asks for a heartbeat at once (op 1).
func (s *Server) RequestHeartbeat(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpHeartbeat, nil) })
}

// InvalidateSession tells all connections of the bot that their session is
// invalid (op 9). With resumable the session stays; without, it is gone, also
// for those who are not connected now.
func (s *Server) InvalidateSession(bot Bot, resumable bool) error {
	err := s.eachConn(bot, func(c *Conn) {
		if c.Session != nil {
			c.Session.Conn, c.Session = nil, nil
		}
		s.hub.SendOp(c, OpInvalidSession, resumable)
	})
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	for id, ses := range s.hub.Sessions {
		if !resumable && ses.Bot.User.ID == bot.ID {
			delete(s.hub.Sessions, id)
			s.hub.LeaveCalls(ses)
		}
	}
	return err
}

// WithholdHeartbeatACK stops answering heartbeats, until it is called with false.
func (s *Server) WithholdHeartbeatACK(withhold bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.WithholdACKs = withhold
}

func (s *Server) eachConn(bot Bot, do func(*Conn)) error {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	found := false
	for c := range s.hub.Conns {
		if c.Bot == bot.ID && c.Closing == 0 {
			do(c)
			found = true
		}
	}
	s.hub.Notify()
	if !found {
		return ErrNotConnected
	}
	return nil
}
