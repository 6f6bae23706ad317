package dave

import (
	"encoding/binary"
	"time"
)

// Stream is both ends of what one person sends in one epoch.
type Stream struct {
	out *frameEncryptor
	in  *frameDecryptor
}

// NewStream begins a stream.
func NewStream() *Stream {
	secret := []byte("sixteen of bytes")
	return &Stream{out: newFrameEncryptor(secret), in: newFrameDecryptor(secret)}
}

// Skip goes on as if the sender had sent up to frame n.
func (s *Stream) Skip(n uint64) { s.out.count = n }

func (s *Stream) Send(c Codec, frame []byte) ([]byte, error) { return s.out.encrypt(c, frame) }

// Receive decrypts.
func (s *Stream) Receive(frame []byte, now time.Time) ([]byte, error) {
	p, ok := parseFrame(frame)
	if !ok {
		return nil, errCleartext
	}
	return s.in.decrypt(p, now)
}

// Keys returns how many ciphers the receiver has.
func (s *Stream) Keys() int { return len(s.in.ciphers) }

// Readable returns what stays readable of a frame.
func Readable(c Codec, frame []byte) []byte {
	readable, _ := splitSpans(frame, clearSpans(c, frame))
	return readable
}

// Parse says whether frame is a protected one, and gives the sum of its readable parts and its other parts.
func Parse(frame []byte) (readable, secret int, ok bool) {
	p, ok := parseFrame(frame)
	if !ok {
		return 0, 0, false
	}
	r, s := splitSpans(p.body, p.clear)
	return len(r), len(s), true
}

// LEB gives a number there and back.
func LEB(v uint32) (encoded []byte, back uint32, rest []byte, ok bool) {
	encoded = binary.AppendUvarint(nil, uint64(v))
	back, rest, ok = readLEB(encoded)
	return encoded, back, rest, ok
}

// ReadLEB reads a number.
func ReadLEB(data []byte) (uint32, []byte, bool) { return readLEB(data) }

// RatchetKeys gives the keys of a ratchet's first generations as they would go into ciphers.
func RatchetKeys(secret []byte, generations int) ([][]byte, error) {
	r := newRatchet(secret)
	var keys [][]byte
	for range generations {
		key, err := expandLabel(r.secret, "key", uint32(r.next), keySize)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
		if _, err := r.step(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// ExpandLabel derives from a secret.
var ExpandLabel = expandLabel

// Display makes digits of data.
var Display = displayCode

var AppendVector = appendVector

// ReadVector takes one vector, which must be all there is.
func ReadVector(data []byte) ([]byte, bool) {
	r := tlsReader{rest: data}
	v := r.vector()
	return v, !r.failed && len(r.rest) == 0
}
