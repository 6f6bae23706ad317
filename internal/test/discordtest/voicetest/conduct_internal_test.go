package voicetest

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"clank/internal/test/check"
)

func TestMediaThatNobodyMaySendIsNoticed(t *testing.T) {
	const ssrc, opus = 7, opusPayloadType
	packet := func(payload byte, sequence uint16, timestamp uint32) []byte {
		p := binary.BigEndian.AppendUint16([]byte{0x80, payload}, sequence)
		p = binary.BigEndian.AppendUint32(p, timestamp)
		return append(binary.BigEndian.AppendUint32(p, ssrc), 0x78, 5)
	}
	box := func() *PacketCipher {
		c, err := NewPacketCipher(ModeAES256GCM, make([]byte, KeySize))
		check.Must(t, err)
		return c
	}
	var from netip.AddrPort
	for name, c := range map[string]struct {
		dave int
		send func(s *Server, out *PacketCipher)
		want string
	}{
		"payload type": {0, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(111, 1, 1), 12), from)
		}, "payload type 111"},
		"sequence": {0, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(opus, 7, 1), 12), from)
			s.receiveRTP(out.Seal(packet(opus, 7, 2), 12), from)
		}, "sequence number 7 after 7"},
		"timestamp": {0, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(opus, 65535, 9), 12), from)
			s.receiveRTP(out.Seal(packet(opus, 0, 8), 12), from)
		}, "timestamp 8 after 9"},
		"nonce": {0, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(opus, 1, 1), 12), from)
			s.receiveRTP(out.Seal(packet(opus, 2, 2), 12), from)
			s.receiveRTP(box().Seal(packet(opus, 3, 3), 12), from)
		}, "the nonce 1 twice"},
		"nonce of a control packet": {0, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(opus, 1, 1), 12), from)
			s.receiveRTCP(box().Seal([]byte{0x80, 201, 0, 1, 0, 0, 0, ssrc}, 8), from)
		}, "the nonce 1 twice, for a control packet"},
		"plain sound": {1, func(s *Server, out *PacketCipher) {
			s.receiveRTP(out.Seal(packet(opus, 1, 1), 12), from)
		}, "not encrypted from end to end"},
		"other key": {0, func(s *Server, out *PacketCipher) {
			sealed := out.Seal(packet(opus, 1, 1), 12)
			sealed[13] ^= 1
			s.receiveRTP(sealed, from)
		}, "media that does not open"},
	} {
		t.Run(name, func(t *testing.T) {
			cl := &client{audio: ssrc, chosen: c.dave, box: box(), ready: true}
			s := &Server{sources: map[uint32]*client{ssrc: cl}, clients: map[ClientID]*client{{}: cl}}
			c.send(s, box())
			if len(s.violations) != 1 || !strings.Contains(s.violations[0].Text, c.want) {
				t.Errorf("got violations %v, want one: %s", s.violations, c.want)
			}
		})
	}
}
