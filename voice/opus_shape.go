package voice

import (
	"errors"
	"fmt"
	"time"
)

// Limits of one Opus packet (RFC 6716, sections 3.2 and 3.4).
const (
	maxOpusFrame    = 1275                     // bytes
	maxOpusDuration = 120 * time.Millisecond   // of one packet
	maxOpusPacket   = 48*(maxOpusFrame+2) + 64 // bytes, with some room for padding
)

// OpusShape is what the first bytes of an Opus packet tell.
type OpusShape struct {
	Config    int // 0 to 31: mode, bandwidth and length of its frames
	Stereo    bool
	Frames    int           // in the packet, 1 to 48
	FrameTime time.Duration // how long each of them sounds
}

// Duration returns how long the packet sounds.
func (s OpusShape) Duration() time.Duration { return time.Duration(s.Frames) * s.FrameTime }

// InspectOpus reads the table of contents of an Opus packet (RFC 6716, section 3.1) and checks that the lengths of its
// frames fit the packet (section 3.2). The frames themselves are not looked into.
func InspectOpus(opus []byte) (OpusShape, error) {
	if len(opus) == 0 {
		return OpusShape{}, errors.New("read an Opus packet: it is empty")
	}
	toc, body := opus[0], opus[1:]
	s := OpusShape{Config: int(toc >> 3), Stereo: toc&4 != 0, FrameTime: opusFrameTime(int(toc >> 3))}
	var err error
	switch toc & 3 {
	case 0:
		s.Frames, err = 1, checkFrameSize(len(body))
	case 1:
		s.Frames, err = 2, checkEqualFrames(len(body), 2)
	case 2:
		s.Frames, err = 2, checkFirstFrame(body)
	default:
		s.Frames, err = countFrames(body)
	}
	if err == nil && s.Duration() > maxOpusDuration {
		err = errors.New("it sounds for more than 120 ms")
	}
	if err != nil {
		return OpusShape{}, fmt.Errorf("read an Opus packet: %w", err)
	}
	return s, nil
}

// opusFrameTime follows table 2 of RFC 6716.
func opusFrameTime(config int) time.Duration {
	switch {
	case config < 12: // SILK
		return [4]time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond, 60 * time.Millisecond}[config&3]
	case config < 16: // hybrid
		return [2]time.Duration{10 * time.Millisecond, 20 * time.Millisecond}[config&1]
	default: // CELT
		return 2500 * time.Microsecond << (config & 3)
	}
}

func checkFrameSize(n int) error {
	if n > maxOpusFrame {
		return fmt.Errorf("a frame has %d bytes, more than %d", n, maxOpusFrame)
	}
	return nil
}

func checkEqualFrames(n, frames int) error {
	if n%frames != 0 {
		return fmt.Errorf("%d bytes are no %d frames of one length", n, frames)
	}
	return checkFrameSize(n / frames)
}

// frameLength reads a length as section 3.2.1 has it, and how many bytes that took.
func frameLength(b []byte) (n, used int, err error) {
	switch {
	case len(b) > 0 && b[0] < 252:
		return int(b[0]), 1, nil
	case len(b) > 1:
		return int(b[0]) + 4*int(b[1]), 2, nil
	}
	return 0, 0, errors.New("it ends within the length of a frame")
}

func checkFirstFrame(body []byte) error {
	n, used, err := frameLength(body)
	if err != nil {
		return err
	}
	rest := len(body) - used - n
	if rest < 0 {
		return errors.New("a frame is longer than the packet")
	}
	return checkFrameSize(rest)
}

// countFrames reads a packet of code 3: a count, perhaps padding, perhaps lengths.
func countFrames(body []byte) (int, error) {
	if len(body) == 0 {
		return 0, errors.New("it has no count of frames")
	}
	frames, variable, padded := int(body[0]&63), body[0]&128 != 0, body[0]&64 != 0
	body = body[1:]
	if frames == 0 {
		return 0, errors.New("it has no frames")
	}
	if padded {
		var err error
		if body, err = stripPadding(body); err != nil {
			return 0, err
		}
	}
	if !variable {
		return frames, checkEqualFrames(len(body), frames)
	}
	total := 0
	for range frames - 1 {
		n, used, err := frameLength(body)
		if err != nil {
			return 0, err
		}
		total, body = total+n, body[used:]
	}
	if total > len(body) {
		return 0, errors.New("a frame is longer than the packet")
	}
	return frames, checkFrameSize(len(body) - total)
}

func stripPadding(body []byte) ([]byte, error) {
	padding := 0
	for {
		if len(body) == 0 {
			return nil, errors.New("it ends within its padding")
		}
		n := int(body[0])
		body = body[1:]
		if n < 255 {
			padding += n
			break
		}
		padding += 254
	}
	if padding > len(body) {
		return nil, errors.New("its padding is longer than the packet")
	}
	return body[:len(body)-padding], nil
}
