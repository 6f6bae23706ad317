package voicetest

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/coder/websocket"
)

// A ClientID is the place of one user on one server: a guild, or the stream of somebody.
type ClientID struct{ Server, User string }

// Credentials let one user into one call. The main gateway hands it out.
type Credentials struct {
	ClientID
	// Room is the channel: those with the same server and room hear each other.
	Room string
	// Session is the id of the session on the main gateway.
	Session string
	Token   string
	// Group is the id of the MLS group of the room.
	Group uint64
	// NoVideo has Ready offer no source for video, as bots get it.
	NoVideo bool
}

func (t Credentials) roomKey() string { return t.Server + "/" + t.Room }

// client is what survives a lost connection. The server's lock guards it.
type client struct {
	seat    ClientID
	ticket  Credentials
	conn    *conn // nil while nobody is connected
	dave    int   // highest version it speaks
	chosen  int   // what op 4 said
	seq     int
	backlog []outgoingSeq // what has not been acknowledged

	audio, video, rtx uint32
	offered           []string // modes
	mode              string
	ready             bool          // the protocol is selected
	box               *PacketCipher // of UDP
	peer              *RTCPeer
	addr              netip.AddrPort
	codecs            []offeredCodec

	met      map[string]bool // users of whom it has been told that they are there
	speaking *speaking       // nil before the first op 5
	camera   json.RawMessage // its last op 12
	wants    map[string]int  // its last op 15
	wanted   string          // what it was last told by op 15
	conduct  clientConduct
	acked    int         // the last number it has confirmed
	held     *latePacket // to it, until the next packet has overtaken it
	early    [][]byte    // packets that came before op 5 or op 12
	counts   Counts
}

// outgoingSeq is a numbered message.
type outgoingSeq struct {
	seq int
	queuedMessage
}

type speaking struct {
	Mask  int    `json:"speaking"`
	Delay int    `json:"delay"`
	SSRC  uint32 `json:"ssrc"`
}

// send numbers a message, keeps it for resuming and sends it. The lock is held.
func (s *Server) send(cl *client, op int, data any) {
	cl.seq++
	seq, d := cl.seq, encode(data)
	s.recordMessage(Message{Seat: cl.seat, Op: op, Data: d, Seq: seq})
	s.deliver(cl, seq, queuedMessage{kind: websocket.MessageText, data: encode(envelope{Op: op, Data: d, Seq: &seq})})
}

// sendBinary does the same with a binary message: number, opcode, payload.
func (s *Server) sendBinary(cl *client, op int, payload []byte) {
	cl.seq++
	s.recordMessage(Message{Seat: cl.seat, Op: op, Binary: slices.Clone(payload), Seq: cl.seq})
	data := append([]byte{byte(cl.seq >> 8), byte(cl.seq), byte(op)}, payload...)
	s.deliver(cl, cl.seq, queuedMessage{kind: websocket.MessageBinary, data: data})
}

func (s *Server) deliver(cl *client, seq int, o queuedMessage) {
	cl.backlog = append(cl.backlog, outgoingSeq{seq, o})
	if cl.conn != nil {
		cl.conn.push(o)
	}
}

// acknowledge forgets what the client has. It reports whether the number is possible: what it has once had it cannot ask for.
func (cl *client) acknowledge(seq int) bool {
	if seq < cl.acked || seq > cl.seq {
		return false
	}
	cl.acked = seq
	cl.backlog = slices.DeleteFunc(cl.backlog, func(m outgoingSeq) bool { return m.seq <= seq })
	return true
}

// others lists the clients of the same room that have come as far as to hear, in a stable order.
func (s *Server) others(cl *client) []*client {
	return slices.DeleteFunc(s.room(cl), func(other *client) bool { return !other.ready })
}

// room lists all other clients of the same room.
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

// greet tells a client of those in the room that it has not been told of. The first time comes as soon as it is known, before it
// has selected a protocol.
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

// announce tells a client who has just come as far as to hear of the others, and them of it.
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

// introduce tells one client what is known of another.
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
	return map[string]any{"user_id": of.seat.User, "speaking": of.speaking.Mask, "delay": of.speaking.Delay, "ssrc": of.speaking.SSRC}
}

// withUser adds the sender to an object.
func withUser(object json.RawMessage, user string) map[string]any {
	fields := map[string]any{}
	if json.Unmarshal(object, &fields) != nil {
		return nil
	}
	fields["user_id"] = user
	return fields
}

// remove takes a client out of the call and tells the others. The lock is held.
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
