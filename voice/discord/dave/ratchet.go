package dave

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// Sizes in bytes of media keys, and of the secrets that keys come from after the first one, which is a key's size.
const (
	keySize    = 16
	secretSize = 32 // of later generations: the hash of cipher suite 2
)

// ratchet makes one key for each generation of frames, and forgets what came before (RFC 9420 section 9.1).
type ratchet struct {
	secret []byte
	next   uint64 // generation that secret is of
}

// newRatchet begins at generation 0. The secret is the ratchet's own.
func newRatchet(secret []byte) *ratchet { return &ratchet{secret: secret} }

// step gives the cipher of the next generation.
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

// fork gives a ratchet that stands where r stands.
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
