package voicetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		cl.conn.Cut()
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
	return s.withClient(seat, func(cl *client) { cl.conn.Send(kind, slices.Clone(data)) })
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

// A Message is one message of a client to the gateway.
type Message struct {
	Seat ClientID // zero before identify
	Op   int      // -1 when it could not be read
	Data json.RawMessage
}

// A Disconnection is the end of one connection of the gateway.
type Disconnection struct {
	// Code is the close code that somebody gave first, or -1 for a cut line.
	Code int
}

// A Violation is something that the real service would punish, or ignore without a word.
type Violation struct {
	Seat ClientID
	Text string
}

// Counts are packets of media and control, from the view of one client.
type Counts struct {
	Received int // from the client, opened
	Lost     int // not sent to the client on purpose
}

// traffic is the record of all that came and went.
type traffic struct {
	conns      []*conn
	messages   []Message
	endings    []Disconnection
	violations []Violation
	unused     []Violation
	rtcp       []ReceivedRTCP
}

func (s *Server) received(c *conn, op int, data json.RawMessage) {
	m := Message{Op: op, Data: data}
	if c.client != nil {
		m.Seat = c.client.seat
	}
	s.messages = append(s.messages, m)
}

func (s *Server) recordViolation(seat ClientID, text string) {
	s.violations = append(s.violations, Violation{seat, text})
}

// Received lists the messages with that opcode that clients sent, oldest first.
func (s *Server) Received(op int) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.messages), func(m Message) bool { return m.Op != op })
}

// WaitReceived waits until clients have sent more than skip messages with that opcode, and returns the one after those.
func (s *Server) WaitReceived(ctx context.Context, op, skip int) (Message, error) {
	var found Message
	err := s.Wait(ctx, fmt.Sprintf("voice message with op %d", op), func() bool {
		list := s.Received(op)
		if len(list) <= skip {
			return false
		}
		found = list[skip]
		return true
	})
	return found, err
}

// ForgetTraffic drops the record of messages, endings and what was not taken, for tests that go on for long. Violations stay.
func (s *Server) ForgetTraffic() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.endings, s.unused, s.rtcp = nil, nil, nil, nil
}

// Endings lists the connections of the gateway that have ended.
func (s *Server) Endings() []Disconnection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.endings)
}

// Violations lists what clients did wrong without being told.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// A Client is somebody who has identified, as the server sees them.
type Client struct {
	ClientID
	Audio, Video   uint32 // SSRC; that of video is 0 without
	Connected      bool   // the gateway's line is there
	Ready          bool   // the protocol is selected
	Speaking       int    // the mask of its last op 5, -1 before
	Unacknowledged int    // messages kept for resuming
	Counts
}

// Clients lists who is there, in the order of their seats.
func (s *Server) Clients() []Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Client, 0, len(s.clients))
	for _, cl := range s.clients {
		c := Client{
			ClientID: cl.seat, Audio: cl.audio, Video: cl.video, Connected: cl.conn != nil, Ready: cl.ready, Speaking: -1,
			Unacknowledged: len(cl.backlog), Counts: cl.counts,
		}
		if cl.speaking != nil {
			c.Speaking = cl.speaking.Mask
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Client) int {
		return strings.Compare(a.Server+"/"+a.User, b.Server+"/"+b.User)
	})
	return list
}

// Client finds who sits there.
func (s *Server) Client(seat ClientID) (Client, bool) {
	for _, c := range s.Clients() {
		if c.ClientID == seat {
			return c, true
		}
	}
	return Client{}, false
}

// WaitClient waits until the client at the seat is as match asks for.
func (s *Server) WaitClient(ctx context.Context, seat ClientID, what string, match func(Client) bool) (Client, error) {
	var found Client
	err := s.Wait(ctx, what, func() bool {
		c, ok := s.Client(seat)
		found = c
		return ok && match(c)
	})
	return found, err
}
