package dave

import "errors"

// Codec says how a frame was encoded, and so which parts of it stay readable for those who cut it into packets and put
// it together again.
type Codec int

// The codecs that we send. What others send says itself which parts of it are readable.
const (
	Opus Codec = iota // nothing is readable
	VP8               // the payload header of RFC 7741
)

var errEmptyFrame = errors.New("encrypt a frame: it is empty")

// clearSpans returns which parts of a frame, which has at least one byte, stay readable.
func clearSpans(c Codec, frame []byte) []byteSpan {
	if c != VP8 {
		return nil
	}
	// Depacketisers read the whole uncompressed header of a key frame, else the first byte.
	const keyHeader = 10
	size := uint32(1)
	if frame[0]&1 == 0 {
		size = uint32(min(keyHeader, len(frame)))
	}
	return []byteSpan{{size: size}}
}
