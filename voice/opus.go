package voice

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/thesyncim/gopus"
)

// Bit rates of what we send, in bits per second.
const (
	opusBitrate  = 48000 // transparent for one voice
	musicBitrate = 96000 // as Discord's channels have it at most without boosts
)

// OpusDecoder decodes the Opus packets of one stream to mono samples. It is not safe for concurrent use.
type OpusDecoder struct {
	rate int
	opus *gopus.Decoder
	last int // samples of the previous packet; a lost packet is assumed to have as many
	buf  []int16
}

// NewOpusDecoder returns a decoder of one stream to mono samples at rate: 48, 24, 16, 12 or 8 kHz. Stereo is mixed
// down.
func NewOpusDecoder(rate int) (*OpusDecoder, error) {
	d, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(rate, 1))
	if err != nil {
		return nil, fmt.Errorf("decode Opus to %d Hz: %w", rate, err)
	}
	return &OpusDecoder{rate: rate, opus: d, last: rate / 50, buf: make([]int16, rate*12/100)}, nil
}

// Rate returns the rate of the samples.
func (d *OpusDecoder) Rate() int { return d.rate }

// Decode returns the samples of one packet, or, for nil, what may have been in one that was lost, for as long
// as the packet before it. A packet that is none is an error and leaves the decoder usable.
func (d *OpusDecoder) Decode(opus []byte) (samples []int16, err error) {
	// Packets come from anyone in the call and the library is young: a packet it cannot handle must not end the program.
	defer func() {
		if p := recover(); p != nil {
			d.opus.Reset()
			samples, err = nil, fmt.Errorf("decode an Opus packet: the decoder gave up: %v", p)
		}
	}()
	out := d.buf
	if opus == nil {
		out = out[:d.last]
	} else if _, err := InspectOpus(opus); err != nil {
		return nil, err
	}
	n, err := d.opus.DecodeInt16(opus, out)
	if err != nil {
		return nil, fmt.Errorf("decode an Opus packet: %w", err)
	}
	d.last = n
	return slices.Clone(d.buf[:n]), nil
}

// OpusEncoder encodes samples into packets of [FrameTime], 48 kHz: mono speech, or music in stereo. It is not safe for
// concurrent use.
type OpusEncoder struct {
	rate     int // samples per second, of all channels
	opus     *gopus.Encoder
	resample *Resampler // nil if the library supports the rate itself
	pending  []int16    // resampled, not yet encoded
	frame    int        // samples of 20 ms at the rate of the library
	buf      []byte
}

// NewOpusEncoder returns an encoder of mono samples at rate, from 8 to 192 kHz.
func NewOpusEncoder(rate int) (*OpusEncoder, error) {
	e := &OpusEncoder{rate: rate, buf: make([]byte, maxOpusFrame+1)}
	native := rate
	if !slices.Contains([]int{8000, 12000, 16000, 24000, 48000}, rate) {
		native = RateOpus
		var err error
		if e.resample, err = NewResampler(rate, native); err != nil {
			return nil, fmt.Errorf("encode Opus from %d Hz: %w", rate, err)
		}
		// The resampler looks ahead a little; silence in front keeps each packet whole.
		e.pending = make([]int16, e.resample.delay()+1)
	}
	var err error
	e.opus, err = gopus.NewEncoder(gopus.EncoderConfig{
		SampleRate: native, Channels: 1, Application: gopus.ApplicationVoIP,
	})
	if err != nil {
		return nil, fmt.Errorf("encode Opus from %d Hz: %w", rate, err)
	}
	if err := errors.Join(e.opus.SetBitrate(opusBitrate), e.opus.SetSignal(gopus.SignalVoice)); err != nil {
		return nil, fmt.Errorf("encode Opus from %d Hz: %w", rate, err)
	}
	e.frame = native / 50
	return e, nil
}

// NewMusicEncoder returns an encoder of any sound: interleaved stereo at 48 kHz.
func NewMusicEncoder() (*OpusEncoder, error) {
	e := &OpusEncoder{rate: 2 * RateOpus, frame: 2 * RateOpus / 50, buf: make([]byte, maxOpusFrame+1)}
	var err error
	if e.opus, err = gopus.NewEncoder(gopus.EncoderConfig{
		SampleRate: RateOpus, Channels: 2,
		Application: gopus.ApplicationAudio,
	}); err == nil {
		err = e.opus.SetBitrate(musicBitrate)
	}
	if err != nil {
		return nil, fmt.Errorf("encode music with Opus: %w", err)
	}
	return e, nil
}

// Encode returns one packet of at most 20 ms of samples. Fewer are filled up with silence.
func (e *OpusEncoder) Encode(samples []int16) ([]byte, error) {
	size := e.rate / 50
	if len(samples) > size {
		return nil, fmt.Errorf("encode Opus: %d samples are more than the %d of one packet", len(samples), size)
	}
	if len(samples) < size {
		samples = append(slices.Clone(samples), make([]int16, size-len(samples))...)
	}
	if e.resample != nil {
		e.pending = append(e.pending, e.resample.Write(samples)...)
		if short := e.frame - len(e.pending); short > 0 { // 20 ms are no whole number of samples at this rate
			e.pending = append(e.pending, make([]int16, short)...)
		}
		samples = e.pending[:e.frame]
		defer func() { e.pending = slices.Delete(e.pending, 0, e.frame) }()
	}
	n, err := e.opus.EncodeInt16(samples, e.buf)
	if err != nil {
		return nil, fmt.Errorf("encode Opus: %w", err)
	}
	if n == 0 {
		return slices.Clone(OpusSilence[:]), nil
	}
	return slices.Clone(e.buf[:n]), nil
}

// OpusPacker cuts a stream of samples, which come in pieces of any size, into Opus packets of 20 ms. It is not safe for
// concurrent use.
type OpusPacker struct {
	encoder *OpusEncoder
	rest    []int16
}

// NewOpusPacker returns a packer of mono samples at rate, from 8 to 192 kHz.
func NewOpusPacker(rate int) (*OpusPacker, error) {
	e, err := NewOpusEncoder(rate)
	if err != nil {
		return nil, err
	}
	return &OpusPacker{encoder: e}, nil
}

// Write appends samples and returns the packets that are complete.
func (p *OpusPacker) Write(samples []int16) ([][]byte, error) {
	p.rest = append(p.rest, samples...)
	size := p.encoder.rate / 50
	var packets [][]byte
	used := 0
	for len(p.rest)-used >= size {
		packet, err := p.encoder.Encode(p.rest[used : used+size])
		if err != nil {
			return packets, err
		}
		packets, used = append(packets, packet), used+size
	}
	p.rest = slices.Delete(p.rest, 0, used)
	return packets, nil
}

// Flush returns a packet with the remaining samples, padded with silence, or nil if there are none. The packer can be
// used again.
func (p *OpusPacker) Flush() ([]byte, error) {
	if len(p.rest) == 0 {
		return nil, nil
	}
	packet, err := p.encoder.Encode(p.rest)
	p.rest = p.rest[:0]
	return packet, err
}

// Limits of one Opus packet (RFC 6716, sections 3.2 and 3.4).
const (
	maxOpusFrame    = 1275                     // bytes
	maxOpusDuration = 120 * time.Millisecond   // of one packet
	maxOpusPacket   = 48*(maxOpusFrame+2) + 64 // bytes, with some room for padding
)

// OpusShape is what the first bytes of an Opus packet declare.
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
		return [4]time.Duration{
			10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond,
			60 * time.Millisecond,
		}[config&3]
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

// frameLength reads a length as defined in section 3.2.1, and returns the number of bytes that it used.
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

// OpusSilence is the Opus packet that clients send when they fall silent: 20 ms of silence. Five of them end an
// utterance.
var OpusSilence = [3]byte{0xF8, 0xFF, 0xFE}

// IsOpusSilence reports whether a packet is [OpusSilence].
func IsOpusSilence(opus []byte) bool {
	return len(opus) == len(OpusSilence) && [3]byte(opus) == OpusSilence
}

// Level returns the loudness of samples: the largest absolute value and the root mean square, both from 0 to 1.
func Level(samples []int16) (peak, rms float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	var top, sum float64
	for _, s := range samples {
		v := float64(s) / 32768
		sum += v * v
		top = max(top, math.Abs(v))
	}
	return top, math.Sqrt(sum / float64(len(samples)))
}
