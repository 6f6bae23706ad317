package dave

import (
	"errors"
	"slices"
)

// A protected frame is the frame with its secret parts encrypted in place, and behind it: the tag, the nonce and the
// readable ranges as LEB128, the size of all that with itself and the marker, and the marker (white paper of the protocol,
// "Payload Format").
const (
	tagSize    = 8
	marker     = 0xFA // twice
	footerSize = 3    // size and marker
	minTrailer = tagSize + 1 + footerSize
	maxTrailer = 255
)

// span is a part of a frame.
type span struct{ at, size uint32 }

// parsed is a protected frame taken apart. Its slices belong to the frame.
type parsed struct {
	body  []byte // the frame without the trailer, encrypted in part
	tag   []byte
	nonce uint32
	clear []span // in order, apart, within body
}

// parse takes a protected frame apart. It is false for what is none: other frames, and those whose trailer makes no
// sense. The ranges are not authenticated by anything, so they are checked here.
func parse(frame []byte) (parsed, bool) {
	n := len(frame)
	if n < minTrailer || frame[n-1] != marker || frame[n-2] != marker {
		return parsed{}, false
	}
	size := int(frame[n-3])
	if size < minTrailer || size > n {
		return parsed{}, false
	}
	p := parsed{body: frame[:n-size], tag: frame[n-size : n-size+tagSize]}
	var rest []byte
	var ok bool
	if p.nonce, rest, ok = readLEB(frame[n-size+tagSize : n-footerSize]); !ok {
		return parsed{}, false
	}
	end := 0
	for len(rest) > 0 {
		var c span
		if c.at, rest, ok = readLEB(rest); !ok {
			return parsed{}, false
		}
		if c.size, rest, ok = readLEB(rest); !ok {
			return parsed{}, false
		}
		if int(c.at) < end || int(c.at)+int(c.size) > len(p.body) {
			return parsed{}, false
		}
		end = int(c.at) + int(c.size)
		p.clear = append(p.clear, c)
	}
	return p, true
}

var errTooManyParts = errors.New("encrypt a frame: it has too many readable parts")

// appendTrailer appends what follows a frame whose readable parts are clear.
func appendTrailer(frame, tag []byte, nonce uint32, clear []span) ([]byte, error) {
	start := len(frame)
	frame = append(frame, tag...)
	frame = appendLEB(frame, nonce)
	for _, c := range clear {
		frame = appendLEB(frame, c.at)
		frame = appendLEB(frame, c.size)
	}
	size := len(frame) - start + footerSize
	if size > maxTrailer {
		return nil, errTooManyParts
	}
	return append(frame, byte(size&0xff), marker, marker), nil
}

// split copies the clear and the other parts of body, each in order, one behind the other.
func split(body []byte, clear []span) (readable, secret []byte) {
	secret = make([]byte, 0, len(body))
	end := uint32(0)
	for _, c := range clear {
		secret = append(secret, body[end:c.at]...)
		readable = append(readable, body[c.at:c.at+c.size]...)
		end = c.at + c.size
	}
	return readable, append(secret, body[end:]...)
}

// join is the reverse of split: it makes a body in which the parts stand where they belong. There is room for a trailer.
func join(readable, secret []byte, clear []span) []byte {
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

// silence is what the server puts in the place of somebody who is muted. It is a valid Opus packet, and nobody's secret.
var silence = [3]byte{0xF8, 0xFF, 0xFE}

func isSilence(c Codec, frame []byte) bool { return c == Opus && slices.Equal(frame, silence[:]) }
