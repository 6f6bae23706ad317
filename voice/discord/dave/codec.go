package dave

import "errors"

// Codec is the encoding of a frame. It determines which parts stay unencrypted for those who split the frame into
// packets and join them.
type Codec int

// The codecs that we send. Frames of others declare which of their parts are unencrypted.
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
