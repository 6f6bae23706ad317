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
	Opus Codec = iota // nothing is readable
	VP8               // the payload header of RFC 7741
	H264              // all but the insides of slices; frames are in Annex B
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

// Kinds of NAL units, H.264 table 7-1.
const (
	nalSlice     = 1
	nalIDR       = 5
	nalDelimiter = 9
	nalFiller    = 12
	nalKind      = 0x1F
)

var errNoUnits = errors.New("encrypt a frame: no NAL units are found in it")

// clearSpansH264 writes an Annex B frame as it comes out of a depacketiser (start codes of four bytes, no delimiters and fillers,
// which packetisers drop), with all readable but the slices behind their picture parameter set id, which packetisers
// read. Packetisers look for start codes, so none may arise in what is encrypted: see [hasStartCode].
func clearSpansH264(frame []byte) (body []byte, clear []byteSpan, err error) {
	body = make([]byte, 0, len(frame)+16)
	for unit := range nalUnits(frame) {
		kind := unit[0] & nalKind
		if kind == nalDelimiter || kind == nalFiller {
			continue
		}
		readable := len(unit)
		if kind == nalSlice || kind == nalIDR {
			readable = 1 + pictureParameters(unit[1:])
		}
		clear = appendSpan(clear, byteSpan{at: boundedLength(body), size: 4 + boundedLength(unit[:readable])})
		body = append(body, 0, 0, 0, 1)
		body = append(body, unit...)
	}
	if len(body) == 0 {
		return nil, nil, errNoUnits
	}
	return body, clear, nil
}

// appendSpan appends s to spans, or lengthens the last one if s begins where that ends.
func appendSpan(spans []byteSpan, s byteSpan) []byteSpan {
	if n := len(spans); n > 0 && spans[n-1].at+spans[n-1].size == s.at {
		spans[n-1].size += s.size
		return spans
	}
	return append(spans, s)
}

// nalUnits yields the NAL units of an Annex B stream without their start codes and the zeros before those.
func nalUnits(frame []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		at := nextStart(frame, 0)
		for at >= 0 {
			begin := at + 3
			end := len(frame)
			if at = nextStart(frame, begin); at >= 0 {
				end = at
				for end > begin && frame[end-1] == 0 {
					end--
				}
			}
			if end > begin && !yield(frame[begin:end]) {
				return
			}
		}
	}
}

// nextStart returns the index of the first start code (00 00 01) at or after from, or -1.
func nextStart(b []byte, from int) int {
	for i := from; i+2 < len(b); i++ {
		switch {
		case b[i+2] > 1:
			i += 2
		case b[i] == 0 && b[i+1] == 0 && b[i+2] == 1:
			return i
		}
	}
	return -1
}

// pictureParameters returns how many bytes of a slice's payload cover its first three Exp-Golomb values (H.264 section 7.3.3: first
// macroblock, slice type, picture parameter set), with the bytes that prevent start codes. It is no more than there is.
func pictureParameters(payload []byte) int {
	zeros, values := 0, 0
	at := 0 // in bits
	for at < 8*len(payload) && values < 3 {
		i := at / 8
		if at%8 == 0 && i >= 2 && payload[i] == 3 && payload[i-1] == 0 && payload[i-2] == 0 {
			at += 8
			continue
		}
		if payload[i]&(0x80>>(at%8)) != 0 {
			values++
			at += 1 + zeros
			zeros = 0
			continue
		}
		zeros++
		at++
	}
	return min(at/8+1, len(payload))
}

// hasStartCode says whether a packetiser would find a start code in the protected frame where there is encrypted data or the
// trailer, with the two readable bytes before such a part, where a start code could begin, and after it, where it could end.
func hasStartCode(frame []byte, clear []byteSpan) bool {
	begin := 0
	for _, c := range clear {
		if int(c.at) > begin && nextStart(frame[max(0, begin-2):min(int(c.at)+2, len(frame))], 0) >= 0 {
			return true
		}
		begin = int(c.at) + int(c.size)
	}
	return nextStart(frame[max(0, begin-2):], 0) >= 0
}
