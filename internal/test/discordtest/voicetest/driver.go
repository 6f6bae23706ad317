package voicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/coder/websocket"
)

// ErrNotConnected says that no client sits there, or that it has no connection.
var ErrNotConnected = errors.New("nobody is connected at that seat")

// refusal is what the next to identify or to resume gets.
type refusal struct {
	code   int
	reason string
}

// trouble holds what a test has ordered.
type trouble struct {
	withholdACKs bool
	refusals     []refusal
	deaf         int    // so many discoveries are not answered
	codec        string // of video, whatever the clients like
	network      NetworkFaults
}

// Admit makes a ticket good. An older one of the same seat stays good until Revoke.
func (s *Server) Admit(t Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[t.Token] = t
	s.createGroup(t)
}

// Revoke makes all tickets of a seat worthless and, with a code that is not 0, closes its connection.
func (s *Server) Revoke(seat ClientID, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, t := range s.tickets {
		if t.ClientID == seat {
			delete(s.tickets, token)
		}
	}
	if cl := s.clients[seat]; cl != nil {
		if cl.conn != nil && code != 0 {
			s.closeWith(cl.conn, code, reason)
		}
		s.remove(cl)
	}
	s.notify()
}

// RefuseNext closes the connection of the next client that identifies or resumes. Each call counts for one.
func (s *Server) RefuseNext(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal{code, reason})
}

// CloseSeat closes the connection of a client with a code. After 4015 and all below 4000 it may resume.
func (s *Server) CloseSeat(seat ClientID, code int, reason string) error {
	return s.withClient(seat, func(cl *client) { s.closeWith(cl.conn, code, reason) })
}

// Drop cuts the connection of a client without a close frame. What happens meanwhile is kept for a resume.
func (s *Server) Drop(seat ClientID) error {
	return s.withClient(seat, func(cl *client) {
		cl.conn.cut()
		cl.conn = nil
	})
}

// Send sends a client any message with a number of its own. The data must be JSON.
func (s *Server) Send(seat ClientID, op int, data string) error {
	if !json.Valid([]byte(data)) {
		return fmt.Errorf("send op %d: the data is not JSON; SendRaw sends anything", op)
	}
	return s.withClient(seat, func(cl *client) { s.send(cl, op, json.RawMessage(data)) })
}

// SendBinary sends a client any binary message with a number of its own.
func (s *Server) SendBinary(seat ClientID, op byte, payload []byte) error {
	return s.withClient(seat, func(cl *client) { s.sendBinary(cl, int(op), payload) })
}

// SendRaw sends a client any bytes as one message, of text or binary. They are not kept.
func (s *Server) SendRaw(seat ClientID, binary bool, data []byte) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return s.withClient(seat, func(cl *client) { cl.conn.push(queuedMessage{kind: kind, data: slices.Clone(data)}) })
}

// WithholdHeartbeatACK stops answering heartbeats, until it is called with false.
func (s *Server) WithholdHeartbeatACK(withhold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withholdACKs = withhold
}

// LoseDiscoveries leaves the next n requests for the own address unanswered.
func (s *Server) LoseDiscoveries(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = n
}

// ChooseVideoCodec fixes what op 4 says, and tells those who are there by op 14. Empty lets the codecs of the clients decide.
func (s *Server) ChooseVideoCodec(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codec = name
	for _, cl := range s.clients {
		if cl.ready {
			s.send(cl, OpSessionUpdate, map[string]any{"video_codec": s.videoCodec(cl)})
		}
	}
}

func (s *Server) withClient(seat ClientID, do func(*client)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cl := s.clients[seat]
	if cl == nil || cl.conn == nil {
		return ErrNotConnected
	}
	do(cl)
	s.notify()
	return nil
}
