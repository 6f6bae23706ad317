package conn

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/chacha20poly1305"
)

// The modes, as the voice gateway calls them.
const (
	ModeAES256GCM         = "aead_aes256_gcm_rtpsize"
	ModeXChaCha20Poly1305 = "aead_xchacha20_poly1305_rtpsize"
)

const (
	counterSize    = 4
	rtpHeaderSize  = 12
	rtcpHeaderSize = 8
	minRTCPHeader  = 4 // some clients leave less of RTCP unencrypted
)

// Errors of packets that are not ours to read.
var (
	ErrPacketShort  = errors.New("the packet is too short")
	errNotAuthentic = errors.New("the packet is not encrypted with the key of this connection")
	errKeyExhausted = errors.New("the key of this connection is used up")
)

// ChooseMode picks one of the offered modes: ModeAES256GCM, which processors accelerate, before ModeXChaCha20Poly1305,
// which servers must offer.
func ChooseMode(offered []string) (string, error) {
	for _, mode := range []string{ModeAES256GCM, ModeXChaCha20Poly1305} {
		if slices.Contains(offered, mode) {
			return mode, nil
		}
	}
	return "", fmt.Errorf("the voice server offers no encryption that clank knows, only %s", strings.Join(offered, ", "))
}

// Cipher encrypts and decrypts packets with one key. It is safe for concurrent use.
type Cipher struct {
	aead    cipher.AEAD
	counter atomic.Uint64
}

// NewCipher returns a cipher of a mode with a key of 32 bytes.
func NewCipher(mode string, key []byte) (*Cipher, error) {
	var aead cipher.AEAD
	var err error
	switch mode {
	case ModeAES256GCM:
		if len(key) != chacha20poly1305.KeySize { // ModeAES256GCM itself would accept shorter keys
			return nil, fmt.Errorf("the key of the connection has %d bytes, want %d", len(key), chacha20poly1305.KeySize)
		}
		var block cipher.Block
		if block, err = aes.NewCipher(key); err == nil {
			aead, err = cipher.NewGCM(block)
		}
	case ModeXChaCha20Poly1305:
		aead, err = chacha20poly1305.NewX(key)
	default:
		err = fmt.Errorf("unknown encryption %q", mode)
	}
	if err != nil {
		return nil, fmt.Errorf("set up the encryption of packets: %w", err)
	}
	return &Cipher{aead: aead}, nil
}

// Seal appends the encrypted form of an RTP or RTCP packet to dst. It does not change the packet.
func (c *Cipher) Seal(dst, packet []byte) ([]byte, error) {
	clear, err := clearSize(packet, rtcpHeaderSize)
	if err != nil {
		return nil, err
	}
	n := c.counter.Add(1)
	if n > math.MaxUint32 {
		return nil, errKeyExhausted // a nonce must not come twice
	}
	var nonce [chacha20poly1305.NonceSizeX]byte
	binary.LittleEndian.PutUint32(nonce[:], uint32(n))
	dst = append(dst, packet[:clear]...)
	dst = c.aead.Seal(dst, nonce[:c.aead.NonceSize()], packet[clear:], packet[:clear])
	return append(dst, nonce[:counterSize]...), nil
}

// Open appends the decrypted packet to dst, as it was before encryption, including its extension and padding. It does
// not change the packet.
func (c *Cipher) Open(dst, packet []byte) ([]byte, error) {
	if !isRTCP(packet) {
		return c.open(dst, packet, rtcpHeaderSize)
	}
	plain, err := c.open(dst, packet, rtcpHeaderSize)
	if err != nil {
		return c.open(dst, packet, minRTCPHeader)
	}
	return plain, nil
}

func (c *Cipher) open(dst, packet []byte, control int) ([]byte, error) {
	clear, err := clearSize(packet, control)
	if err != nil {
		return nil, err
	}
	end := len(packet) - counterSize
	if end-c.aead.Overhead() < clear {
		return nil, ErrPacketShort
	}
	var nonce [chacha20poly1305.NonceSizeX]byte
	copy(nonce[:], packet[end:])
	dst = append(dst, packet[:clear]...)
	dst, err = c.aead.Open(dst, nonce[:c.aead.NonceSize()], packet[clear:end], packet[:clear])
	if err != nil {
		return nil, errNotAuthentic
	}
	return dst, nil
}

// maxRemembered is the minimum number of packets that are remembered: those of one person who talks for 87 minutes.
const maxRemembered = 1 << 18

// replayGuard remembers the packets received under one key, so that none is accepted twice. End-to-end encryption
// detects repeated frames itself; this is for calls without it. A packet is identified by its source, its nonce and a
// byte of its tag, in any order: the order of nonces is not specified (clients count in either byte order), and a
// server may restart its counters, so a window over them would not be safe. The zero value is empty; each key has its
// own guard.
type replayGuard struct{ recent, before map[packetID]struct{} }

// packetID identifies a packet under one key. Different packets have different ids, except for 1 in 256 if a server
// uses a nonce twice.
type packetID struct {
	source, nonce uint32
	control       bool
	tag           byte
}

// repeated notes an authentic packet, and reports whether it came before.
func (g *replayGuard) repeated(sealed, plain []byte) bool {
	end := len(sealed) - counterSize
	id := packetID{nonce: binary.BigEndian.Uint32(sealed[end:]), control: isRTCP(plain), tag: sealed[end-1]}
	if !id.control {
		id.source = binary.BigEndian.Uint32(plain[8:])
	}
	_, recent := g.recent[id]
	_, before := g.before[id]
	if recent || before {
		return true
	}
	if g.recent == nil || len(g.recent) == maxRemembered {
		g.recent, g.before = map[packetID]struct{}{}, g.recent
	}
	g.recent[id] = struct{}{}
	return false
}

// isRTCP reports whether a packet is RTCP rather than RTP on a shared socket (RFC 5761).
func isRTCP(packet []byte) bool {
	return len(packet) > 1 && packet[0]>>6 == 2 && packet[1] >= 200 && packet[1] <= 206
}

// clearSize returns how many bytes of a packet are not encrypted.
func clearSize(packet []byte, control int) (int, error) {
	n := control
	if !isRTCP(packet) {
		if len(packet) < rtpHeaderSize || packet[0]>>6 != 2 {
			return 0, ErrPacketShort
		}
		n = rtpHeaderSize + 4*int(packet[0]&0x0f)
		if packet[0]&0x10 != 0 {
			n += 4
		}
	}
	if len(packet) < n {
		return 0, ErrPacketShort
	}
	return n, nil
}

// RTPPacket is what matters of a decrypted RTP packet (RFC 3550).
type RTPPacket struct {
	Type      uint8
	Marker    bool
	Sequence  uint16
	Timestamp uint32
	SSRC      uint32
	Payload   []byte // without extension and padding; part of the packet it was read from
}

// ParseRTP reads a decrypted RTP packet and leaves out its sources, its extension and its padding. Lengths that reach
// beyond the packet are [ErrPacketShort].
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
		Timestamp: binary.BigEndian.Uint32(packet[4:]), SSRC: binary.BigEndian.Uint32(packet[8:]),
		Payload: packet[at:end:end],
	}, nil
}
