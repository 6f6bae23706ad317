package voicetest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/coder/websocket"
)

// receive handles a message of a client. The caller holds the lock.
func (s *Server) receive(c *conn, kind websocket.MessageType, data []byte) {
	if kind == websocket.MessageBinary {
		s.receiveBinary(c, data)
		return
	}
	var m struct {
		Op   *int            `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Op == nil {
		s.received(c, -1, nil)
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	s.received(c, *m.Op, m.Data)
	known := true
	switch *m.Op {
	case OpHeartbeat:
		s.heartbeat(c, m.Data)
	case OpIdentify, OpResume:
		switch {
		case c.client != nil:
			s.closeWith(c, CloseAlreadyAuthed, "Already authenticated.")
		case *m.Op == OpIdentify:
			s.identify(c, m.Data)
		default:
			s.resume(c, m.Data)
		}
	default:
		known = slices.Contains([]int{
			OpSelectProtocol, OpSpeaking, OpVideo, OpSessionUpdate, OpWants, OpBackend, OpNoRoute,
			OpReadyForTransition, OpInvalidCommitWelcome,
		}, *m.Op)
		if known && c.client == nil {
			s.closeWith(c, CloseNotAuthenticated, "Not authenticated.")
		} else if known {
			s.command(c, *m.Op, m.Data)
		}
	}
	if !known {
		s.closeWith(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

func (s *Server) receiveBinary(c *conn, data []byte) {
	if len(data) == 0 {
		s.received(c, -1, nil)
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	op := int(data[0])
	s.received(c, op, nil)
	switch {
	case op != OpKeyPackage && op != OpCommitWelcome:
		s.closeWith(c, CloseUnknownOpcode, "Unknown opcode.")
	case c.client == nil:
		s.closeWith(c, CloseNotAuthenticated, "Not authenticated.")
	default:
		s.checkOrder(c.client, op)
		s.handleGroupBinary(c.client, op, slices.Clone(data[1:]))
	}
}

// heartbeat acknowledges a heartbeat, and removes the messages that the client has received.
func (s *Server) heartbeat(c *conn, data json.RawMessage) {
	var d struct {
		Time json.RawMessage `json:"t"`
		Seq  *int            `json:"seq_ack"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Time == nil || d.Seq == nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	if cl := c.client; cl != nil && !cl.acknowledge(*d.Seq) {
		s.recordViolation(cl.seat, fmt.Sprintf("heartbeat acknowledges %d, after %d and with %d as the last number", *d.Seq,
			cl.acked, cl.seq))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return
	}
	c.silence.Reset(s.cfg.Heartbeat * 3 / 2)
	if !s.withholdACKs {
		s.sendTo(c, OpHeartbeatACK, map[string]any{"t": d.Time})
	}
}

// command handles the messages that require an identified client.
func (s *Server) command(c *conn, op int, data json.RawMessage) {
	cl := c.client
	s.checkOrder(cl, op)
	ok := true
	switch op {
	case OpSelectProtocol:
		ok = s.selectProtocol(c, data)
	case OpSpeaking:
		ok = s.speak(c, data)
	case OpVideo:
		ok = s.show(c, data)
	case OpSessionUpdate:
		ok = s.updateSession(cl, data)
	case OpWants:
		ok = s.want(cl, data)
	case OpReadyForTransition, OpInvalidCommitWelcome:
		ok = s.handleGroupJSON(cl, op, data)
	case OpBackend:
		s.send(cl, OpBackend, map[string]any{"voice": "0.11.0", "rtc_worker": "0.4.11"})
	}
	if !ok {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
	}
}

func (s *Server) speak(c *conn, data json.RawMessage) bool {
	var d speaking
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	cl := c.client
	if d.SSRC != cl.audio {
		s.recordViolation(cl.seat, fmt.Sprintf("speaks with SSRC %d, and %d is its own", d.SSRC, cl.audio))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return true
	}
	if d.Mask&^7 != 0 || d.Delay != 0 {
		s.recordViolation(cl.seat, "speaks by "+string(data))
	}
	cl.speaking = &d
	s.broadcast(cl, OpSpeaking, spoken(cl))
	s.sendEarly(cl)
	return true
}

// show handles op 12: the video that a client sends, or that it stops. It reports whether the data could be parsed.
func (s *Server) show(c *conn, data json.RawMessage) bool {
	var d struct {
		Video   uint32 `json:"video_ssrc"`
		RTX     uint32 `json:"rtx_ssrc"`
		Streams []struct {
			SSRC uint32 `json:"ssrc"`
		} `json:"streams"`
	}
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	cl := c.client
	if cl.mode == "webrtc" && d.RTX != 0 && s.sources[d.RTX] == nil { // with WebRTC the client chooses it
		delete(s.sources, cl.rtx)
		cl.rtx, s.sources[d.RTX] = d.RTX, cl
	}
	foreign := (d.Video != 0 && d.Video != cl.video) || (d.RTX != 0 && d.RTX != cl.rtx)
	for _, stream := range d.Streams {
		foreign = foreign || stream.SSRC != cl.video
	}
	if foreign {
		s.recordViolation(cl.seat, "shows video of a source that is not its own: "+string(data))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return true
	}
	cl.camera = slices.Clone(data)
	s.broadcast(cl, OpVideo, withUser(data, cl.seat.User))
	s.sendWants(cl)
	s.sendEarly(cl)
	return true
}

// offeredCodec is a codec that a client can send and receive.
type offeredCodec struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Priority int    `json:"priority"`
	Payload  int    `json:"payload_type"`
	RTX      int    `json:"rtx_payload_type"`
	Encode   *bool  `json:"encode"`
	Decode   *bool  `json:"decode"`
}

// selectProtocol handles op 1. It reports whether the data could be parsed.
func (s *Server) selectProtocol(c *conn, data json.RawMessage) bool {
	var d struct {
		Protocol string          `json:"protocol"`
		Data     json.RawMessage `json:"data"`
		Codecs   []offeredCodec  `json:"codecs"`
	}
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	s.checkCodecs(c.client, d.Codecs)
	c.client.codecs = d.Codecs
	switch d.Protocol {
	case "udp":
		return s.selectUDP(c, d.Data)
	case "webrtc":
		return s.selectWebRTC(c, d.Data)
	default:
		s.closeWith(c, CloseUnknownProtocol, "Unknown protocol.")
		return true
	}
}

func (s *Server) selectUDP(c *conn, data json.RawMessage) bool {
	var udp struct {
		Address string `json:"address"`
		Port    uint16 `json:"port"`
		Mode    string `json:"mode"`
	}
	if json.Unmarshal(data, &udp) != nil {
		return false
	}
	addr, err := netip.ParseAddr(udp.Address)
	cl := c.client
	switch {
	case err != nil || udp.Port == 0:
		return false
	case !slices.Contains(cl.offered, udp.Mode):
		s.closeWith(c, CloseUnknownMode, "Unknown encryption mode.")
		return true
	}
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails, see crypto/rand
	box, err := NewPacketCipher(udp.Mode, key)
	if err != nil {
		s.closeWith(c, CloseUnknownMode, "Unknown encryption mode.")
		return true
	}
	numbers := make([]int, len(key))
	for i, b := range key {
		numbers[i] = int(b)
	}
	cl.addr, cl.mode, cl.box = netip.AddrPortFrom(addr, udp.Port), udp.Mode, box
	cl.conduct.nonces = nonces{} // the key is new
	if seen := cl.conduct.discovered; seen.IsValid() && seen != cl.addr {
		s.recordViolation(cl.seat, fmt.Sprintf("selects %s, and was told that it is %s", cl.addr, seen))
	}
	s.startMedia(cl, map[string]any{"mode": cl.mode, "secret_key": numbers})
	return true
}

// startMedia sends op 4, to which the mode adds fields, and lets a client send and receive.
func (s *Server) startMedia(cl *client, description map[string]any) {
	first := !cl.ready
	cl.ready = true
	g, user := s.group(cl)
	if g != nil {
		cl.chosen = g.Join(user, cl.dave)
	}
	description["audio_codec"], description["video_codec"] = "opus", s.videoCodec(cl)
	description["media_session_id"] = "m" + strconv.FormatUint(uint64(cl.audio), 10)
	description["dave_protocol_version"] = cl.chosen
	s.send(cl, OpDescription, description)
	if first {
		s.announce(cl)
	}
	if g != nil {
		g.Selected(user)
	}
}

// updateSession handles op 14 of a client: other codecs. It reports whether the data could be parsed.
func (s *Server) updateSession(cl *client, data json.RawMessage) bool {
	var d struct {
		Codecs []offeredCodec `json:"codecs"`
	}
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	s.checkCodecs(cl, d.Codecs)
	cl.codecs = d.Codecs
	return true
}

// videoCodec returns the codec that a client must send: its preferred one of those that all others can receive,
// otherwise its preferred one, or H264.
func (s *Server) videoCodec(cl *client) string {
	if s.codec != "" {
		return s.codec
	}
	var sent []offeredCodec
	for _, co := range cl.codecs {
		if co.Type == "video" && (co.Encode == nil || *co.Encode) {
			sent = append(sent, co)
		}
	}
	if len(sent) == 0 {
		return "H264"
	}
	slices.SortStableFunc(sent, func(a, b offeredCodec) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, co := range sent {
		if !slices.ContainsFunc(s.others(cl), func(other *client) bool { return !other.reads(co.Name) }) {
			return co.Name
		}
	}
	return sent[0].Name
}

// reads reports whether the client can decode a codec. A client without video codecs does not watch.
func (cl *client) reads(name string) bool {
	watches := false
	for _, co := range cl.codecs {
		if co.Type != "video" || (co.Decode != nil && !*co.Decode) {
			continue
		}
		if co.Name == name {
			return true
		}
		watches = true
	}
	return !watches
}

// want handles op 15 of a client: the requested quality of sources, 0 to 100. It reports whether the data could be
// parsed.
func (s *Server) want(cl *client, data json.RawMessage) bool {
	var d map[string]json.RawMessage
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	wants := map[string]int{}
	for name, value := range d {
		var n int
		if json.Unmarshal(value, &n) == nil {
			wants[name] = n
		}
	}
	cl.wants = wants
	for _, other := range s.others(cl) {
		s.sendWants(other)
	}
	return true
}

// wantOf returns the quality that a client requests of a video source.
func (cl *client) wantOf(ssrc uint32) int {
	if n, ok := cl.wants[strconv.FormatUint(uint64(ssrc), 10)]; ok {
		return n
	}
	return cl.wants["any"]
}

// sendWants tells a client that can send video the quality that the others request, if that has changed.
func (s *Server) sendWants(cl *client) {
	if cl.video == 0 || !cl.ready {
		return
	}
	most := 0
	for _, other := range s.others(cl) {
		most = max(most, other.wantOf(cl.video))
	}
	wanted := map[string]any{"any": 0, strconv.FormatUint(uint64(cl.video), 10): most}
	if text := string(encode(wanted)); text != cl.wanted {
		cl.wanted = text
		s.send(cl, OpWants, wanted)
	}
}

// Opcodes of the voice gateway.
const (
	OpIdentify       = 0
	OpSelectProtocol = 1
	OpReady          = 2
	OpHeartbeat      = 3
	OpDescription    = 4
	OpSpeaking       = 5
	OpHeartbeatACK   = 6
	OpResume         = 7
	OpHello          = 8
	OpResumed        = 9
	OpConnected      = 11 // clients that are there
	OpVideo          = 12
	OpDisconnected   = 13
	OpSessionUpdate  = 14
	OpWants          = 15 // media sink wants
	OpBackend        = 16 // version of the server
	OpFlags          = 18
	OpPlatform       = 20
	OpNoRoute        = 32

	OpPrepareTransition    = 21
	OpExecuteTransition    = 22
	OpReadyForTransition   = 23
	OpPrepareEpoch         = 24
	OpKeyPackage           = 26
	OpCommitWelcome        = 28
	OpInvalidCommitWelcome = 31
)

// Close codes of the voice gateway.
const (
	CloseUnknownOpcode    = 4001
	CloseDecodeError      = 4002
	CloseNotAuthenticated = 4003
	CloseAuthFailed       = 4004
	CloseAlreadyAuthed    = 4005
	CloseSessionInvalid   = 4006
	CloseTimeout          = 4009
	CloseServerNotFound   = 4011
	CloseUnknownProtocol  = 4012
	CloseDisconnected     = 4014
	CloseCrashed          = 4015
	CloseUnknownMode      = 4016
	CloseNeedsDAVE        = 4017
	CloseBadRequest       = 4020
)

// isResumable reports whether a session can be resumed after the server closed its connection with this code.
func isResumable(code int) bool { return code < 4000 || code == CloseCrashed }
