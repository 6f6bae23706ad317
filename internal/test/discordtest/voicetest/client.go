package voicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/coder/websocket"

	"clank/internal/test/discordtest/delivery"
)

// A ClientID identifies a user on a server: a guild, or a person's stream.
type ClientID struct{ Server, User string }

// Credentials admit one user to one call. They come from the main gateway.
type Credentials struct {
	ClientID
	// Room is the channel: clients with the same server and room hear each other.
	Room string
	// Session is the session id on the main gateway.
	Session string
	Token   string
	// Group is the id of the MLS group of the room.
	Group uint64
	// NoVideo omits the video source in Ready, as for bots.
	NoVideo bool
}

func (t Credentials) roomKey() string { return t.Server + "/" + t.Room }

// client is the state that survives a lost connection, guarded by the server's lock.
type client struct {
	seat    ClientID
	ticket  Credentials
	conn    *conn // nil while disconnected
	dave    int   // highest supported version
	chosen  int   // the version in op 4
	seq     int
	backlog []outgoingSeq // unacknowledged messages

	audio, video, rtx uint32
	offered           []string // encryption modes
	mode              string
	ready             bool          // the protocol is selected
	box               *PacketCipher // cipher of its UDP packets
	peer              *RTCPeer
	addr              netip.AddrPort
	codecs            []offeredCodec

	met      map[string]bool // users that it has been told about
	speaking *speaking       // nil before the first op 5
	camera   json.RawMessage // its last op 12
	wants    map[string]int  // its last op 15
	wanted   string          // the last op 15 sent to it
	conduct  clientConduct
	acked    int         // the last sequence number that it has acknowledged
	held     *latePacket // a packet to it that waits to be overtaken
	early    [][]byte    // packets received before op 5 or op 12
	counts   Counts
}

// outgoingSeq is a numbered message.
type outgoingSeq struct {
	seq  int
	kind websocket.MessageType
	data []byte
}

type speaking struct {
	Mask  int    `json:"speaking"`
	Delay int    `json:"delay"`
	SSRC  uint32 `json:"ssrc"`
}

// send numbers a message, stores it for resuming and sends it. The caller holds the lock.
func (s *Server) send(cl *client, op int, data any) {
	cl.seq++
	seq := cl.seq
	s.deliver(cl, websocket.MessageText, encode(envelope{Op: op, Data: encode(data), Seq: &seq}))
}

// sendBinary is like send for a binary message: number, opcode, payload.
func (s *Server) sendBinary(cl *client, op int, payload []byte) {
	cl.seq++
	data := append([]byte{byte(cl.seq >> 8), byte(cl.seq), byte(op)}, payload...)
	s.deliver(cl, websocket.MessageBinary, data)
}

func (s *Server) deliver(cl *client, kind websocket.MessageType, data []byte) {
	cl.backlog = append(cl.backlog, outgoingSeq{cl.seq, kind, data})
	if cl.conn != nil {
		cl.conn.Send(kind, data)
	}
}

// acknowledge removes acknowledged messages. It reports whether the number is valid: a client cannot go back to a
// number before the last one it acknowledged.
func (cl *client) acknowledge(seq int) bool {
	if seq < cl.acked || seq > cl.seq {
		return false
	}
	cl.acked = seq
	cl.backlog = slices.DeleteFunc(cl.backlog, func(m outgoingSeq) bool { return m.seq <= seq })
	return true
}

// others returns the clients of the same room that can receive, in a stable order.
func (s *Server) others(cl *client) []*client {
	return slices.DeleteFunc(s.room(cl), func(other *client) bool { return !other.ready })
}

// room returns all other clients of the same room.
func (s *Server) room(cl *client) []*client {
	var list []*client
	for _, other := range s.clients {
		if other != cl && other.ticket.roomKey() == cl.ticket.roomKey() {
			list = append(list, other)
		}
	}
	slices.SortFunc(list, func(a, b *client) int { return strings.Compare(a.seat.User, b.seat.User) })
	return list
}

// broadcast sends a message to all others in the room.
func (s *Server) broadcast(cl *client, op int, data any) {
	for _, other := range s.others(cl) {
		s.send(other, op, data)
	}
}

// greet tells a client about the other clients in the room that it has not been told about. The first call comes when
// the client is identified, before it has selected a protocol.
func (s *Server) greet(cl *client) {
	users := []string{}
	for _, other := range s.others(cl) {
		if user := other.seat.User; !cl.met[user] {
			cl.met[user] = true
			users = append(users, user)
		}
	}
	if len(users) > 0 {
		s.send(cl, OpConnected, map[string]any{"user_ids": users})
	}
}

// announce tells a new client about the others, and the others about it.
func (s *Server) announce(cl *client) {
	s.greet(cl)
	for _, other := range s.others(cl) {
		other.met[cl.seat.User] = true
		s.introduce(cl, other)
		s.send(other, OpConnected, map[string]any{"user_ids": []string{cl.seat.User}})
		s.introduce(other, cl)
	}
	s.sendWants(cl)
}

// introduce tells one client what is known about another.
func (s *Server) introduce(to, of *client) {
	s.send(to, OpFlags, map[string]any{"user_id": of.seat.User, "flags": 3})
	s.send(to, OpPlatform, map[string]any{"user_id": of.seat.User, "platform": 0})
	if of.speaking != nil {
		s.send(to, OpSpeaking, spoken(of))
	}
	if of.camera != nil {
		s.send(to, OpVideo, withUser(of.camera, of.seat.User))
	}
}

func spoken(of *client) map[string]any {
	return map[string]any{
		"user_id": of.seat.User, "speaking": of.speaking.Mask, "delay": of.speaking.Delay,
		"ssrc": of.speaking.SSRC,
	}
}

// withUser adds the sender's id to an object.
func withUser(object json.RawMessage, user string) map[string]any {
	fields := map[string]any{}
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	fields["user_id"] = user
	return fields
}

// remove removes a client from the call and tells the others. The caller holds the lock.
func (s *Server) remove(cl *client) {
	if s.clients[cl.seat] != cl {
		return
	}
	delete(s.clients, cl.seat)
	for _, ssrc := range []uint32{cl.audio, cl.video, cl.rtx} {
		delete(s.sources, ssrc)
	}
	s.endPeer(cl.peer)
	if !cl.ready {
		return
	}
	for _, other := range s.room(cl) {
		if user := cl.seat.User; other.met[user] {
			delete(other.met, user)
			s.send(other, OpDisconnected, map[string]any{"user_id": user})
		}
	}
	for _, other := range s.others(cl) {
		s.sendWants(other)
	}
	if g, user := s.group(cl); g != nil {
		g.Leave(user)
	}
}

func (s *Server) identify(c *conn, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		UserID    string `json:"user_id"`
		SessionID string `json:"session_id"`
		Token     string `json:"token"`
		DAVE      int    `json:"max_dave_protocol_version"`
		Video     bool   `json:"video"`
		Streams   []struct {
			Type    string `json:"type"`
			RID     string `json:"rid"`
			Quality int    `json:"quality"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	ticket, code, reason := s.check(d.ServerID, d.UserID, d.SessionID, d.Token)
	if code == 0 && s.cfg.DAVE > 0 && d.DAVE == 0 && !s.cfg.Optional {
		code, reason = CloseNeedsDAVE, "E2EE/DAVE protocol required."
	}
	if code != 0 {
		s.closeWith(c, code, reason)
		return
	}
	if old := s.clients[ticket.ClientID]; old != nil {
		if old.conn != nil {
			s.closeWith(old.conn, CloseSessionInvalid, "Session is no longer valid.")
		}
		s.remove(old)
	}
	cl := &client{
		seat: ticket.ClientID, ticket: ticket, conn: c, dave: min(d.DAVE, s.cfg.DAVE), seq: -1, acked: -1,
		offered: s.cfg.Modes,
		audio:   s.newSSRC(), video: s.newSSRC(), rtx: s.newSSRC(), wants: map[string]int{}, met: map[string]bool{},
	}
	s.clients[cl.seat], c.client = cl, cl
	streams := []map[string]any{}
	if d.Video && !ticket.NoVideo {
		for _, stream := range d.Streams {
			streams = append(streams, map[string]any{
				"type": "video", "rid": stream.RID, "quality": stream.Quality, "ssrc": cl.video, "rtx_ssrc": cl.rtx,
				"active": false,
			})
		}
	}
	if len(streams) == 0 {
		cl.video, cl.rtx = 0, 0
	}
	for _, ssrc := range []uint32{cl.audio, cl.video, cl.rtx} {
		s.sources[ssrc] = cl
	}
	delete(s.sources, 0)
	host, port := s.mediaAddress()
	s.send(cl, OpReady, map[string]any{
		"ssrc": cl.audio, "ip": host, "port": port, "modes": cl.offered, "experiments": []string{"fixed_keyframe_interval"},
		"streams": streams,
		// As in the real service, this differs from the interval in hello; clients must not use it.
		"heartbeat_interval": 1,
	})
	s.greet(cl)
}

// check returns the credentials that a client presents, or the close code for invalid ones.
func (s *Server) check(server, user, session, token string) (Credentials, int, string) {
	if len(s.refusals) > 0 {
		refusal := s.refusals[0]
		s.refusals = s.refusals[1:]
		return Credentials{}, refusal.code, refusal.reason
	}
	ticket, ok := s.tickets[token]
	switch {
	case !ok || ticket.User != user:
		return Credentials{}, CloseAuthFailed, "Authentication failed."
	case ticket.Server != server:
		return Credentials{}, CloseServerNotFound, "Server not found."
	case ticket.Session != session:
		return Credentials{}, CloseSessionInvalid, "Session is no longer valid."
	}
	return ticket, 0, ""
}

// resume resumes a session after a lost connection: op 9, then the missed messages.
func (s *Server) resume(c *conn, data json.RawMessage) {
	var d struct {
		ServerID  string `json:"server_id"`
		SessionID string `json:"session_id"`
		Token     string `json:"token"`
		Seq       *int   `json:"seq_ack"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Seq == nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	ticket, code, reason := s.check(d.ServerID, s.tickets[d.Token].User, d.SessionID, d.Token)
	if code != 0 {
		s.closeWith(c, code, reason)
		return
	}
	cl := s.clients[ticket.ClientID]
	if cl == nil || cl.ticket != ticket || !cl.acknowledge(*d.Seq) {
		s.closeWith(c, CloseSessionInvalid, "Session is no longer valid.")
		return
	}
	if old := cl.conn; old != nil {
		old.client = nil
		old.Cut()
	}
	cl.conn, c.client = c, cl
	s.sendTo(c, OpResumed, nil)
	for _, m := range cl.backlog {
		c.Send(m.kind, m.data)
	}
}

// removeConn removes a connection. A client that closed the session leaves the call; otherwise its session can be
// resumed.
func (s *Server) removeConn(c *conn, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.silence.Stop()
	for i, other := range s.conns {
		if other == c {
			s.conns = append(s.conns[:i], s.conns[i+1:]...)
			break
		}
	}
	end := Disconnection{Code: code}
	if c.closing != 0 {
		end.Code = c.closing
	}
	if cl := c.client; cl != nil {
		if cl.conn == c {
			cl.conn = nil
			if code > 0 && c.closing == 0 && isFinalClose(code) {
				s.remove(cl)
			}
		}
	}
	s.endings = append(s.endings, end)
	s.notify()
}

// isFinalClose reports whether a close code of a client ends its session.
func isFinalClose(code int) bool { return code == 1000 || code == 1001 }

// mediaAddress returns the address for media.
func (s *Server) mediaAddress() (string, int) {
	addr, ok := s.udp.LocalAddr().(*net.UDPAddr)
	if !ok {
		return "", 0
	}
	ap := netip.AddrPortFrom(addr.AddrPort().Addr().Unmap(), addr.AddrPort().Port())
	return ap.Addr().String(), int(ap.Port())
}

// ErrNoGroup means that nobody has been admitted to the room, or that the server has no end-to-end encryption.
var ErrNoGroup = errors.New("the room has no group")

// Group calls do with the delivery service of a room, so that a test can interfere. Its methods must be called only
// within do.
func (s *Server) Group(server, room string, do func(*delivery.Service)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[Credentials{ClientID: ClientID{Server: server}, Room: room}.roomKey()]
	if g == nil {
		return ErrNoGroup
	}
	do(g)
	s.notify()
	return nil
}

// Settled reports whether all clients in a room are in its group and nothing is pending. It is false without a group.
func (s *Server) Settled(server, room string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[Credentials{ClientID: ClientID{Server: server}, Room: room}.roomKey()]
	return g != nil && g.Settled()
}

// createGroup creates the group of a room, if it does not exist. The caller holds the lock.
func (s *Server) createGroup(t Credentials) {
	room := t.roomKey()
	if s.cfg.DAVE == 0 || s.groups[room] != nil {
		return
	}
	g, err := delivery.New(t.Group, func(m delivery.Message) { s.deliverGroupMessage(room, m) })
	if err != nil {
		s.recordViolation(t.ClientID, err.Error())
		return
	}
	s.groups[room] = g
}

// deliverGroupMessage sends a message of a delivery service. The lock is held, because the service sends only during
// calls of its methods.
func (s *Server) deliverGroupMessage(room string, m delivery.Message) {
	user := strconv.FormatUint(m.To, 10)
	for _, cl := range s.clients {
		if cl.ticket.roomKey() != room || cl.seat.User != user {
			continue
		}
		if t, ok := m.Data.(delivery.PrepareTransition); ok && t.Version == 0 {
			cl.conduct.plain = true
		}
		if m.Data != nil {
			s.send(cl, int(m.Op), m.Data)
		} else {
			s.sendBinary(cl, int(m.Op), m.Payload)
		}
	}
}

// group returns the delivery service of a client's room, or nil, and the client's user id in it.
func (s *Server) group(cl *client) (*delivery.Service, uint64) {
	user, err := strconv.ParseUint(cl.seat.User, 10, 64)
	if err != nil {
		return nil, 0
	}
	return s.groups[cl.ticket.roomKey()], user
}

// handleGroupJSON handles op 23 or op 31. It reports whether the data could be parsed.
func (s *Server) handleGroupJSON(cl *client, op int, data json.RawMessage) bool {
	var d struct {
		Transition *uint16 `json:"transition_id"`
	}
	if json.Unmarshal(data, &d) != nil || d.Transition == nil {
		return false
	}
	if g, user := s.group(cl); g != nil && op == OpReadyForTransition {
		g.Ready(user, *d.Transition)
	} else if g != nil {
		g.Invalid(user, *d.Transition)
	}
	return true
}

// handleGroupBinary handles op 26 or op 28. Like the real server, it does not respond to invalid ones.
func (s *Server) handleGroupBinary(cl *client, op int, payload []byte) {
	g, user := s.group(cl)
	if g == nil {
		s.recordViolation(cl.seat, fmt.Sprintf("op %d in a call without end-to-end encryption", op))
		return
	}
	take := g.KeyPackage
	if op == OpCommitWelcome {
		take = g.Commit
	}
	if err := take(user, payload); err != nil {
		s.unused = append(s.unused, Violation{cl.seat, err.Error()})
	}
}

// Unused returns the rejected key packages and commits, with the reasons. In a race they are not errors.
func (s *Server) Unused() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Violation(nil), s.unused...)
}
