package dave

import (
	"encoding/binary"
	"math"
	"slices"
)

// A protected frame is the frame with its secret parts encrypted in place, and behind it: the tag, the nonce and the
// readable ranges as LEB128, the size of all that with itself and the marker, and the marker (white paper of the
// protocol, "Payload Format").
const (
	tagSize     = 8
	frameMarker = 0xFA // twice
	footerSize  = 3    // size and marker
	minTrailer  = tagSize + 1 + footerSize
	maxTrailer  = 255
)

type byteSpan struct{ at, size uint32 }

// parsedFrame is a protected frame taken apart. Its slices belong to the frame.
type parsedFrame struct {
	body  []byte // the frame without the trailer, encrypted in part
	tag   []byte
	nonce uint32
	clear []byteSpan // in order, apart, within body
}

// parseFrame parses a protected frame. ok is false for other frames and for invalid trailers. The ranges are not
// authenticated, so they are checked here.
func parseFrame(frame []byte) (parsedFrame, bool) {
	n := len(frame)
	if n < minTrailer || frame[n-1] != frameMarker || frame[n-2] != frameMarker {
		return parsedFrame{}, false
	}
	size := int(frame[n-3])
	if size < minTrailer || size > n {
		return parsedFrame{}, false
	}
	p := parsedFrame{body: frame[:n-size], tag: frame[n-size : n-size+tagSize]}
	var rest []byte
	var ok bool
	if p.nonce, rest, ok = readLEB(frame[n-size+tagSize : n-footerSize]); !ok {
		return parsedFrame{}, false
	}
	end := 0
	for len(rest) > 0 {
		var c byteSpan
		if c.at, rest, ok = readLEB(rest); !ok {
			return parsedFrame{}, false
		}
		if c.size, rest, ok = readLEB(rest); !ok {
			return parsedFrame{}, false
		}
		if int(c.at) < end || int(c.at)+int(c.size) > len(p.body) {
			return parsedFrame{}, false
		}
		end = int(c.at) + int(c.size)
		p.clear = append(p.clear, c)
	}
	return p, true
}

// readLEB reads an unsigned LEB128 number of at most five bytes. Numbers of more than 32 bits are refused: nothing in a
// frame is larger.
func readLEB(data []byte) (v uint32, rest []byte, ok bool) {
	wide, n := binary.Uvarint(data)
	if n < 1 || n > 5 || wide > math.MaxUint32 {
		return 0, nil, false
	}
	return uint32(wide), data[n:], true
}

// appendTrailer appends what follows a frame whose readable parts, a few at most, are clear.
func appendTrailer(frame, tag []byte, nonce uint32, clear []byteSpan) []byte {
	start := len(frame)
	frame = append(frame, tag...)
	frame = binary.AppendUvarint(frame, uint64(nonce))
	for _, c := range clear {
		frame = binary.AppendUvarint(frame, uint64(c.at))
		frame = binary.AppendUvarint(frame, uint64(c.size))
	}
	size := len(frame) - start + footerSize
	return append(frame, byte(size&0xff), frameMarker, frameMarker)
}

// splitSpans copies the unencrypted and the other parts of body, each concatenated in order.
func splitSpans(body []byte, clear []byteSpan) (readable, secret []byte) {
	secret = make([]byte, 0, len(body))
	end := uint32(0)
	for _, c := range clear {
		secret = append(secret, body[end:c.at]...)
		readable = append(readable, body[c.at:c.at+c.size]...)
		end = c.at + c.size
	}
	return readable, append(secret, body[end:]...)
}

// joinSpans reverses splitSpans: it returns a body with each part in its position, and with room for a trailer.
func joinSpans(readable, secret []byte, clear []byteSpan) []byte {
	body := make([]byte, 0, len(readable)+len(secret)+maxTrailer)
	for _, c := range clear {
		gap := int(c.at) - len(body)
		body = append(body, secret[:gap]...)
		secret = secret[gap:]
		body = append(body, readable[:c.size]...)
		readable = readable[c.size:]
	}
	return append(body, secret...)
}

// opusSilence is what the server sends for muted people. It is a valid Opus packet and not secret.
var opusSilence = [3]byte{0xF8, 0xFF, 0xFE}

func isOpusSilence(c Codec, frame []byte) bool {
	return c == Opus && slices.Equal(frame, opusSilence[:])
}
