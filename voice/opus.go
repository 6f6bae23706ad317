package voice

import (
	"errors"
	"fmt"
	"slices"

	"github.com/thesyncim/gopus"
)

// opusBitrate of what we say, in bits per second: transparent for one voice.
const opusBitrate = 48000

// OpusDecoder decodes the Opus packets of one stream. It is a [Decoder].
type OpusDecoder struct {
	rate int
	opus *gopus.Decoder
	last int // samples of the packet before, which is how long a lost one is taken to be
	buf  []int16
}

var _ Decoder = (*OpusDecoder)(nil)

// NewOpusDecoder makes a decoder of one stream to mono samples at rate: 48, 24, 16, 12 or 8 kHz. Stereo is mixed down.
func NewOpusDecoder(rate int) (*OpusDecoder, error) {
	d, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(rate, 1))
	if err != nil {
		return nil, fmt.Errorf("decode Opus to %d Hz: %w", rate, err)
	}
	return &OpusDecoder{rate: rate, opus: d, last: rate / 50, buf: make([]int16, rate*12/100)}, nil
}

// Rate implements [Decoder].
func (d *OpusDecoder) Rate() int { return d.rate }

// Decode implements [Decoder]: the samples of one packet, or what may have been in one that was lost, for as long
// as the packet before it. A packet that is none is an error and leaves the decoder usable.
func (d *OpusDecoder) Decode(opus []byte) (samples []int16, err error) {
	// The packets are anybody's in the call, and the library is young: what it cannot take must not end the program.
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

// OpusEncoder encodes speech. It is a [Encoder].
type OpusEncoder struct {
	rate     int
	opus     *gopus.Encoder
	resample *Resampler // nil where the library takes the rate itself
	pending  []int16    // resampled, not yet encoded
	frame    int        // samples of 20 ms at the rate of the library
	buf      []byte
}

var _ Encoder = (*OpusEncoder)(nil)

// NewOpusEncoder makes an encoder of mono samples at rate, which may be any from 8 to 192 kHz.
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
	e.opus, err = gopus.NewEncoder(gopus.EncoderConfig{SampleRate: native, Channels: 1, Application: gopus.ApplicationVoIP})
	if err != nil {
		return nil, fmt.Errorf("encode Opus from %d Hz: %w", rate, err)
	}
	if err := errors.Join(e.opus.SetBitrate(opusBitrate), e.opus.SetSignal(gopus.SignalVoice)); err != nil {
		return nil, fmt.Errorf("encode Opus from %d Hz: %w", rate, err)
	}
	e.frame = native / 50
	return e, nil
}

// Rate implements [Encoder].
func (e *OpusEncoder) Rate() int { return e.rate }

// Encode implements [Encoder]: one packet of at most 20 ms of samples. Fewer are filled up with silence.
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
