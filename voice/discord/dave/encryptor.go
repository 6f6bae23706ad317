package dave

import (
	"errors"
	"math"
)

// generationBits is how much of a nonce counts frames; the byte above them is the generation of the key.
const generationBits = 24

// maxKeyRolls is how often a frame is encrypted again because a start code arose in it.
const maxKeyRolls = 10

var errStartCode = errors.New("encrypt a frame: it cannot be encrypted without a start code in it")

// frameEncryptor encrypts what we send in one epoch. It is not safe for concurrent use.
type frameEncryptor struct {
	keys   *ratchet
	cipher *gcm8
	count  uint64 // frames so far; its lower half is the nonce on the wire
}

func newFrameEncryptor(secret []byte) *frameEncryptor {
	return &frameEncryptor{keys: newRatchet(secret)}
}

// encrypt gives the protected frame. No nonce is used twice, also not after a failure.
func (o *frameEncryptor) encrypt(c Codec, frame []byte) ([]byte, error) {
	body, clear, err := clearSpans(c, frame)
	if err != nil {
		return nil, err
	}
	readable, secret := splitSpans(body, clear)
	for range 1 + maxKeyRolls {
		o.count++
		for o.cipher == nil || o.keys.next <= o.count>>generationBits {
			if o.cipher, err = o.keys.step(); err != nil {
				return nil, err
			}
		}
		nonce := uint32(o.count & math.MaxUint32)
		text, tag := o.cipher.seal(nonce, secret, readable)
		done, err := appendTrailer(joinSpans(readable, text, clear), tag, nonce, clear)
		if err != nil || c != H264 || !hasStartCode(done, clear) {
			return done, err
		}
	}
	return nil, errStartCode
}
