package dave

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

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

// expandNonce makes the nonce of 12 bytes from that of a frame: eight zeros, then little endian.
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
