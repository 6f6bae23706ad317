package dave

import (
	"errors"
	"math"
)

// Codec says how a frame was encoded, and so which parts of it stay readable for those who cut it into packets and put
// it together again.
type Codec int

// The codecs.
const (
	Opus  Codec = iota // nothing is readable
	VP8                // the payload header of RFC 7741
	H264               // all but the insides of slices; frames are in Annex B
	Other              // nothing is readable
)

var errEmptyFrame = errors.New("encrypt a frame: it is empty")

// clearSpans says which parts of a frame stay readable. The body is the frame itself, or what has to be sent in its place.
func clearSpans(c Codec, frame []byte) (body []byte, clear []byteSpan, err error) {
	if len(frame) == 0 {
		return nil, nil, errEmptyFrame
	}
	switch c {
	case VP8:
		return frame, []byteSpan{{size: vp8Header(frame)}}, nil
	case H264:
		return clearSpansH264(frame)
	default:
		return frame, nil, nil
	}
}

// vp8Header returns how much of a frame depacketisers read: a key frame's whole uncompressed header, else the first byte.
func vp8Header(frame []byte) uint32 {
	const keyHeader = 10
	if frame[0]&1 == 1 {
		return 1
	}
	return boundedLength(frame[:min(keyHeader, len(frame))])
}

// boundedLength returns the length of a frame or a part of one. No frame has 2^31 bytes.
func boundedLength(b []byte) uint32 { return uint32(len(b) & math.MaxInt32) }
