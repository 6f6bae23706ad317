package voicetest

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Names of the modes as they are offered and chosen.
const (
	ModeAES256GCM         = "aead_aes256_gcm_rtpsize"
	ModeXChaCha20Poly1305 = "aead_xchacha20_poly1305_rtpsize"
)

// KeySize is the length of a key of either mode, in bytes.
const KeySize = 32

// What a packet has besides what it carries.
const (
	counterSize   = 4
	rtpHeaderSize = 12 // of RTP without sources, RFC 3550
)

// ErrPacketShort says that a packet cannot hold what its head announces.
var ErrPacketShort = errors.New("the packet is too short")

// A PacketCipher seals and opens packets with one key. It is not safe for concurrent use.
type PacketCipher struct {
	aead    cipher.AEAD
	counter uint32
}

// NewPacketCipher makes a box for a mode. The key has KeySize bytes.
func NewPacketCipher(mode string, key []byte) (*PacketCipher, error) {
	switch mode {
	case ModeAES256GCM:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		sealer, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		return &PacketCipher{aead: sealer}, nil
	case ModeXChaCha20Poly1305:
		sealer, err := chacha20poly1305.NewX(key)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		return &PacketCipher{aead: sealer}, nil
	default:
		return nil, fmt.Errorf("no such mode: %q", mode)
	}
}

// Seal returns the packet as it goes over the wire. The first clear bytes stay readable.
func (b *PacketCipher) Seal(packet []byte, clear int) []byte {
	b.counter++
	nonce := make([]byte, b.aead.NonceSize())
	binary.BigEndian.PutUint32(nonce, b.counter)
	out := make([]byte, clear, len(packet)+b.aead.Overhead()+counterSize)
	copy(out, packet[:clear])
	out = b.aead.Seal(out, nonce, packet[clear:], packet[:clear])
	return append(out, nonce[:counterSize]...)
}

// Open returns a packet of the wire as it was before Seal, and its counter. The packet is left as it is.
func (b *PacketCipher) Open(packet []byte, clear int) ([]byte, uint32, error) {
	if len(packet) < clear+b.aead.Overhead()+counterSize {
		return nil, 0, ErrPacketShort
	}
	sealed, counter := packet[clear:len(packet)-counterSize], packet[len(packet)-counterSize:]
	nonce := make([]byte, b.aead.NonceSize())
	copy(nonce, counter)
	out := make([]byte, clear, len(packet))
	copy(out, packet[:clear])
	out, err := b.aead.Open(out, nonce, sealed, packet[:clear])
	if err != nil {
		return nil, 0, fmt.Errorf("open a packet: %w", err)
	}
	return out, binary.BigEndian.Uint32(counter), nil
}

// ClearRTP tells how many bytes of an RTP packet stay readable: the header, the contributing sources, and of an
// extension only the four bytes that begin it.
func ClearRTP(packet []byte) (int, error) {
	if len(packet) < rtpHeaderSize {
		return 0, ErrPacketShort
	}
	n := rtpHeaderSize + 4*int(packet[0]&0x0f)
	if packet[0]&0x10 != 0 {
		n += 4
	}
	if len(packet) < n {
		return 0, ErrPacketShort
	}
	return n, nil
}

// IsRTCP tells the control packets (RFC 3550, RFC 4585) from the media on the same socket.
func IsRTCP(packet []byte) bool {
	return len(packet) >= 8 && packet[0]>>6 == 2 && packet[1] >= 200 && packet[1] <= 207
}
