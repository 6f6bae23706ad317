package voicetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
)

// clientConduct is the state needed to detect behavior that the real service would not accept, or that is never
// allowed.
type clientConduct struct {
	discovered netip.AddrPort // the address that discovery returned to the client
	nonces     nonces
	tracks     map[uint32]track // by SSRC
	plain      bool             // it has been told that media may be sent without end-to-end encryption
}

// nonces are the last nonces that a client has used with its key. Audio, video and control packets share one
// sequence.
type nonces struct {
	used  map[uint32]bool
	order []uint32
}

// keptNonces is the number of remembered nonces.
const keptNonces = 4096

// spend records a nonce and reports whether it is new.
func (n *nonces) spend(nonce uint32) bool {
	if n.used[nonce] {
		return false
	}
	if n.used == nil {
		n.used = map[uint32]bool{}
	}
	n.used[nonce] = true
	if n.order = append(n.order, nonce); len(n.order) > keptNonces {
		delete(n.used, n.order[0])
		n.order = n.order[1:]
	}
	return true
}

// track is the last packet of a source.
type track struct {
	sequence  uint16
	timestamp uint32
}

// checkPacket checks a decrypted media packet.
func (s *Server) checkPacket(cl *client, ssrc uint32, p []byte) {
	if payload := int(p[1] & 0x7f); !slices.Contains(cl.payloads(ssrc), payload) {
		s.recordViolation(cl.seat, fmt.Sprintf("payload type %d on SSRC %d, and %v would be right", payload, ssrc,
			cl.payloads(ssrc)))
	}
	if cl.peer == nil { // WebRTC retransmits packets
		s.checkTrack(cl, ssrc, track{binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:])})
	}
	if cl.chosen > 0 && !cl.conduct.plain && ssrc != cl.rtx && wholeFrame(cl, ssrc, p) && !isEncrypted(cl, ssrc, p) {
		s.recordViolation(cl.seat, fmt.Sprintf("a frame on SSRC %d that is not encrypted from end to end", ssrc))
	}
}

// checkTrack checks that sequence numbers increase and timestamps do not decrease. Loopback preserves the order.
func (s *Server) checkTrack(cl *client, ssrc uint32, now track) {
	last, there := cl.conduct.tracks[ssrc]
	if there && int16(now.sequence-last.sequence) <= 0 {
		s.recordViolation(cl.seat, fmt.Sprintf("sequence number %d after %d on SSRC %d", now.sequence, last.sequence, ssrc))
	}
	if there && ssrc != cl.rtx && int32(now.timestamp-last.timestamp) < 0 { // retransmissions may have any timestamp
		s.recordViolation(cl.seat, fmt.Sprintf("timestamp %d after %d on SSRC %d", now.timestamp, last.timestamp, ssrc))
	}
	if cl.conduct.tracks == nil {
		cl.conduct.tracks = map[uint32]track{}
	}
	cl.conduct.tracks[ssrc] = now
}

// opusPayloadType is the payload type for audio that every client knows.
const opusPayloadType = 120

// payloads returns the payload types that a source may use: those of its codecs. A client without codecs may use any
// for video.
func (cl *client) payloads(ssrc uint32) []int {
	var list []int
	for _, co := range cl.codecs {
		switch {
		case co.Type == "audio" && ssrc == cl.audio, co.Type == "video" && ssrc == cl.video:
			list = append(list, co.Payload)
		case co.Type == "video" && ssrc == cl.rtx:
			list = append(list, co.RTX)
		}
	}
	if len(list) > 0 {
		return list
	}
	if ssrc == cl.audio {
		return []int{opusPayloadType}
	}
	for payload := range 128 {
		list = append(list, payload)
	}
	return list
}

// wholeFrame reports whether a frame ends with the packet: always for audio, with the marker bit for video.
func wholeFrame(cl *client, ssrc uint32, p []byte) bool { return ssrc == cl.audio || p[1]&0x80 != 0 }

// End marker of an encrypted frame, and the silence frame, which is never encrypted.
var (
	endOfFrame = []byte{0xfa, 0xfa}
	silence    = []byte{0xf8, 0xff, 0xfe}
)

// isEncrypted reports whether a frame is end-to-end encrypted, or does not need to be.
func isEncrypted(cl *client, ssrc uint32, p []byte) bool {
	if p[0]&0x20 != 0 && int(p[len(p)-1]) < len(p) {
		p = p[:len(p)-int(p[len(p)-1])] // padding
	}
	return bytes.HasSuffix(p, endOfFrame) || ssrc == cl.audio && bytes.HasSuffix(p, silence)
}

// checkCodecs checks the codecs that a client offers.
func (s *Server) checkCodecs(cl *client, list []offeredCodec) {
	const forbidden = 96
	seen, opus := map[int]bool{}, len(list) == 0
	for _, co := range list {
		opus = opus || co.Name == "opus" && co.Type == "audio"
		if co.Type != "audio" && co.Type != "video" {
			s.recordViolation(cl.seat, fmt.Sprintf("codec %s of type %q", co.Name, co.Type))
		}
		if co.Priority <= 0 || co.Priority%1000 != 0 {
			s.recordViolation(cl.seat, fmt.Sprintf("codec %s with priority %d", co.Name, co.Priority))
		}
		for _, payload := range []int{co.Payload, co.RTX} {
			if payload == 0 && co.RTX == 0 {
				continue // audio is not retransmitted
			}
			if payload <= 0 || payload > 127 || payload == forbidden || seen[payload] {
				s.recordViolation(cl.seat, fmt.Sprintf("codec %s with payload type %d", co.Name, payload))
			}
			seen[payload] = true
		}
	}
	if !opus {
		s.recordViolation(cl.seat, "codecs without opus")
	}
}

// checkOrder checks for a message that is valid only after op 4.
func (s *Server) checkOrder(cl *client, op int) {
	if early := []int{
		OpSpeaking, OpVideo, OpKeyPackage, OpCommitWelcome, OpReadyForTransition,
		OpInvalidCommitWelcome,
	}; !cl.ready && slices.Contains(early, op) {
		s.recordViolation(cl.seat, fmt.Sprintf("op %d before op 4", op))
	}
}
