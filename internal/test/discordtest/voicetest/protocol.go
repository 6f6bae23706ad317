package voicetest

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
)

// offeredCodec is one entry of what a client can send and read.
type offeredCodec struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Priority int    `json:"priority"`
	Payload  int    `json:"payload_type"`
	RTX      int    `json:"rtx_payload_type"`
	Encode   *bool  `json:"encode"`
	Decode   *bool  `json:"decode"`
}

// selectProtocol handles op 1: how a client wants its media. It reports whether the data could be read.
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
	_, _ = rand.Read(key) // it always fills the key
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
	cl.conduct.nonces = nonces{} // the key is another
	if seen := cl.conduct.discovered; seen.IsValid() && seen != cl.addr {
		s.recordViolation(cl.seat, fmt.Sprintf("selects %s, and was told that it is %s", cl.addr, seen))
	}
	s.startMedia(cl, map[string]any{"mode": cl.mode, "secret_key": numbers})
	return true
}

// startMedia sends op 4, to which the mode adds its own, and lets a client hear and be heard.
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

// updateSession handles op 14 of a client: other codecs. It reports whether the data could be read.
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

// videoCodec returns the codec that a client is told to send: the one it likes best of those that all others can
// read, or the one it likes best, or H264.
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

// reads tells whether the client can decode a codec. One that names no video codec does not watch.
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

// want handles op 15 of a client: which sources it wants to have, 0 to 100 each. It reports whether the data
// could be read.
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

// wantOf returns how much a client wants the video of a source.
func (cl *client) wantOf(ssrc uint32) int {
	if n, ok := cl.wants[strconv.FormatUint(uint64(ssrc), 10)]; ok {
		return n
	}
	return cl.wants["any"]
}

// sendWants tells a client that can send video how much the others want it, when that has changed.
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
