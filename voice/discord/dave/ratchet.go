package dave

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Sizes in bytes of media keys and of the secrets that later keys are derived from; the first secret has the size of a
// key.
const (
	keySize    = 16
	secretSize = 32 // of later generations: the hash of cipher suite 2
)

// ratchet derives one key for each generation of frames, and forgets earlier secrets (RFC 9420 section 9.1).
type ratchet struct {
	secret []byte
	next   uint64 // generation that secret is of
}

// newRatchet begins at generation 0. The secret is the ratchet's own.
func newRatchet(secret []byte) *ratchet { return &ratchet{secret: secret} }

func (r *ratchet) step() (*gcm8, error) {
	// The generation on the wire wraps; the one that goes into keys is 32 bits, which no call outlives.
	generation := uint32(r.next & math.MaxUint32)
	key, err := expandLabel(r.secret, "key", generation, keySize)
	if err != nil {
		return nil, err
	}
	secret, err := expandLabel(r.secret, "secret", generation, secretSize)
	if err != nil {
		return nil, err
	}
	r.secret, r.next = secret, r.next+1
	return newGCM8(key)
}

func (r *ratchet) fork() *ratchet { return &ratchet{secret: r.secret, next: r.next} }

// expandLabel implements DeriveTreeSecret of RFC 9420 section 9.
func expandLabel(secret []byte, label string, generation uint32, length uint16) ([]byte, error) {
	label = "MLS 1.0 " + label
	info := binary.BigEndian.AppendUint16(nil, length)
	info = append(info, byte(len(label)&0xff))
	info = append(info, label...)
	info = append(info, 4)
	info = binary.BigEndian.AppendUint32(info, generation)
	key, err := hkdf.Expand(sha256.New, secret, string(info), int(length))
	if err != nil {
		return nil, fmt.Errorf("derive a media key: %w", err)
	}
	return key, nil
}

var errNotAuthentic = errors.New("decrypt a frame: it is not authentic")

// gcm8 is AES-128-GCM with tags of eight bytes. The standard library checks no tags that short: so a frame is decrypted
// in counter mode, encrypted again, and the tag compared.
type gcm8 struct {
	block cipher.Block
	aead  cipher.AEAD
}

func newGCM8(key []byte) (*gcm8, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &gcm8{block: block, aead: aead}, nil
}

// expandNonce returns the nonce of 12 bytes for that of a frame: eight zeros, then little endian.
func expandNonce(nonce uint32) [12]byte {
	var full [12]byte
	binary.LittleEndian.PutUint32(full[8:], nonce)
	return full
}

// seal gives the encrypted text and the short tag.
func (g *gcm8) seal(nonce uint32, plain, readable []byte) (text, tag []byte) {
	full := expandNonce(nonce)
	sealed := g.aead.Seal(make([]byte, 0, len(plain)+g.aead.Overhead()), full[:], plain, readable)
	return sealed[:len(plain)], sealed[len(plain) : len(plain)+tagSize]
}

func (g *gcm8) open(nonce uint32, text, readable, tag []byte) ([]byte, error) {
	full := expandNonce(nonce)
	var counter [aes.BlockSize]byte
	copy(counter[:], full[:])
	counter[aes.BlockSize-1] = 2 // NIST SP 800-38D: the first block is the tag's
	plain := make([]byte, len(text), len(text)+g.aead.Overhead())
	cipher.NewCTR(g.block, counter[:]).XORKeyStream(plain, text)
	if _, want := g.seal(nonce, plain, readable); subtle.ConstantTimeCompare(want, tag) != 1 {
		return nil, errNotAuthentic
	}
	return plain, nil
}
