package dave

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"
)

// generationBits is how much of a nonce counts frames; the byte above them is the generation of the key.
const generationBits = 24

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
	if len(frame) == 0 {
		return nil, errEmptyFrame
	}
	o.count++
	for o.cipher == nil || o.keys.next <= o.count>>generationBits {
		var err error
		if o.cipher, err = o.keys.step(); err != nil {
			return nil, err
		}
	}
	clear := clearSpans(c, frame)
	readable, secret := splitSpans(frame, clear)
	nonce := uint32(o.count & math.MaxUint32)
	text, tag := o.cipher.seal(nonce, secret, readable)
	return appendTrailer(joinSpans(readable, text, clear), tag, nonce, clear), nil
}

const (
	keyRetention     = 10 * time.Second // how long keys are kept that should no longer be needed
	maxGenerationGap = 250              // how many generations a frame may be ahead of earlier ones
	replayWindow     = 1024             // frames that may come out of order
	maxKeys          = 8                // ciphers kept; a sender uses a new one every 2^24 frames
)

var (
	errReplayed       = errors.New("decrypt a frame: it came before")
	errKeyUnavailable = errors.New("decrypt a frame: its key is gone, or too far ahead")
	errCleartext      = errors.New("decrypt a frame: it is not encrypted, and it should be")
)

// frameDecryptor decrypts what one person sends in one epoch. It is not safe for concurrent use.
type frameDecryptor struct {
	keys    *ratchet
	ciphers map[uint64]*expiringCipher // by generation
	newest  uint64                     // of the frames that were authentic: generation and count
	seen    [replayWindow / 64]uint64
	begun   bool
}

// expiringCipher is a cipher and when it expires; zero means never.
type expiringCipher struct {
	cipher *gcm8
	until  time.Time
}

func newFrameDecryptor(secret []byte) *frameDecryptor {
	return &frameDecryptor{keys: newRatchet(secret), ciphers: make(map[uint64]*expiringCipher)}
}

func (in *frameDecryptor) decrypt(p parsedFrame, now time.Time) ([]byte, error) {
	count := in.unwrap(p.nonce)
	if in.wasSeen(count) {
		return nil, errReplayed
	}
	in.dropExpired(now)
	generation := count >> generationBits
	ahead := in.keys.fork()
	made := make(map[uint64]*gcm8)
	c := in.cipher(generation)
	if c == nil {
		if generation < in.keys.next || generation > in.newest>>generationBits+maxGenerationGap {
			return nil, errKeyUnavailable
		}
		for ahead.next <= generation {
			next, err := ahead.step()
			if err != nil {
				return nil, err
			}
			c, made[ahead.next-1] = next, next
		}
	}
	readable, text := splitSpans(p.body, p.clear)
	plain, err := c.open(p.nonce, text, readable, p.tag)
	if err != nil {
		return nil, err // nothing is kept that a forged frame claims
	}
	in.keys = ahead
	for g, c := range made {
		if generation-g < maxKeys {
			in.ciphers[g] = &expiringCipher{cipher: c}
		}
	}
	in.markSeen(count, now)
	in.trim()
	return joinSpans(readable, plain, p.clear), nil
}

func (in *frameDecryptor) cipher(generation uint64) *gcm8 {
	if a := in.ciphers[generation]; a != nil {
		return a.cipher
	}
	return nil
}

// unwrap returns the full counter of a nonce: of those with the same low bits, the one nearest to the newest frame.
func (in *frameDecryptor) unwrap(nonce uint32) uint64 {
	const wrap = 1 << 32
	count := in.newest&^(wrap-1) | uint64(nonce)
	switch {
	case count+wrap/2 < in.newest:
		return count + wrap
	case count > in.newest+wrap/2 && count >= wrap:
		return count - wrap
	}
	return count
}

func (in *frameDecryptor) wasSeen(count uint64) bool {
	switch {
	case !in.begun || count > in.newest:
		return false
	case in.newest-count >= replayWindow:
		return true // too old to know
	}
	at := count % replayWindow
	return in.seen[at/64]&(1<<(at%64)) != 0
}

// markSeen remembers an authentic frame. The keys of generations before the newest are for stragglers, and get their
// time.
func (in *frameDecryptor) markSeen(count uint64, now time.Time) {
	if !in.begun || count > in.newest {
		from := in.newest + 1
		if !in.begun || count-in.newest > replayWindow {
			from = count - min(count, replayWindow-1)
		}
		for c := from; c <= count; c++ {
			in.seen[c%replayWindow/64] &^= 1 << (c % 64)
		}
		in.newest, in.begun = count, true
	}
	in.seen[count%replayWindow/64] |= 1 << (count % 64)
	for g, a := range in.ciphers {
		if g < in.newest>>generationBits && a.until.IsZero() {
			a.until = now.Add(keyRetention)
		}
	}
}

// trim removes the oldest ciphers of a user who changes keys faster than they expire.
func (in *frameDecryptor) trim() {
	for len(in.ciphers) > maxKeys {
		delete(in.ciphers, slices.Min(slices.Collect(maps.Keys(in.ciphers))))
	}
}

func (in *frameDecryptor) dropExpired(now time.Time) {
	for g, a := range in.ciphers {
		if !a.until.IsZero() && now.After(a.until) {
			delete(in.ciphers, g)
		}
	}
}
