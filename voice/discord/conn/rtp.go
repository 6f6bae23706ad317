package conn

import "encoding/binary"

// RTPPacket is what matters of a decrypted RTP packet (RFC 3550).
type RTPPacket struct {
	Type      uint8
	Marker    bool
	Sequence  uint16
	Timestamp uint32
	SSRC      uint32
	Payload   []byte // without extension and padding; part of the packet it was read from
}

// ParseRTP reads a decrypted RTP packet and leaves out its sources, its extension and its padding. Lengths that reach beyond the
// packet are [ErrPacketShort].
func ParseRTP(packet []byte) (RTPPacket, error) {
	at, err := clearSize(packet, rtcpHeaderSize)
	if err != nil || isRTCP(packet) {
		return RTPPacket{}, ErrPacketShort
	}
	if packet[0]&0x10 != 0 {
		at += 4 * int(binary.BigEndian.Uint16(packet[at-2:]))
	}
	end := len(packet)
	if packet[0]&0x20 != 0 {
		pad := int(packet[end-1])
		if pad == 0 {
			return RTPPacket{}, ErrPacketShort
		}
		end -= pad
	}
	if at > end {
		return RTPPacket{}, ErrPacketShort
	}
	return RTPPacket{
		Type: packet[1] & 0x7f, Marker: packet[1]&0x80 != 0, Sequence: binary.BigEndian.Uint16(packet[2:]),
		Timestamp: binary.BigEndian.Uint32(packet[4:]), SSRC: binary.BigEndian.Uint32(packet[8:]), Payload: packet[at:end:end],
	}, nil
}
