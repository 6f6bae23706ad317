package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"clank/llm/wire"
	"clank/voice"
	"clank/voice/audio"
)

const (
	speakTimeout = 60 * time.Second
	mostText     = 4096 // characters of one request
	ratePCM      = 24000
)

// Format is what the server sends of speech.
type Format string

// The formats. Opus is passed on as it is where its packets have the length that calls want.
const (
	Opus Format = "opus"
	PCM  Format = "pcm" // 24 kHz, 16 bits, mono
	WAV  Format = "wav"
)

// SpeakerOptions say who turns words into speech.
type SpeakerOptions struct {
	Server       Server
	Model        string
	Voice        string
	Instructions string  // how to speak; not for every model
	Speed        float64 // from 0.25 to 4; 0 for the usual
	Format       Format  // [Opus] if empty
	FormatChosen string  // where the format is chosen, for messages; "the settings" if empty
}

// Speaker is a [voice.Speaker], safe for concurrent use.
type Speaker struct {
	o    SpeakerOptions
	call *caller
}

var _ voice.Speaker = (*Speaker)(nil)

// NewSpeaker checks o and makes a speaker. Nothing is asked yet.
func NewSpeaker(o SpeakerOptions) (*Speaker, error) {
	if o.Format == "" {
		o.Format = Opus
	}
	switch {
	case o.Format != Opus && o.Format != PCM && o.Format != WAV:
		return nil, fmt.Errorf("set up speech: the format %q is none of opus, pcm, wav", o.Format)
	case o.Speed != 0 && (o.Speed < 0.25 || o.Speed > 4):
		return nil, fmt.Errorf("set up speech: the speed %g is not from 0.25 to 4", o.Speed)
	case o.Voice == "":
		return nil, errors.New("set up speech: the voice is not set")
	}
	c, err := newCaller(o.Server, "audio/speech", "speech API", o.Model, speakTimeout)
	if err != nil {
		return nil, fmt.Errorf("set up speech: %w", err)
	}
	return &Speaker{o: o, call: c}, nil
}

// Speak implements [voice.Speaker]. Packets come while the server still speaks. A failure is not repeated: part of it may have been
// said. Errors are of [llm.Error], or the cause of ctx.
func (s *Speaker) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, piece := range pieces(text) {
			goOn, err := s.piece(ctx, piece, yield)
			if err != nil {
				yield(nil, fmt.Errorf("speak: %w", err))
				return
			}
			if !goOn {
				return
			}
		}
	}
}

// piece has one request's worth of text spoken. It says whether the consumer wants more.
func (s *Speaker) piece(outer context.Context, text string, yield func([]byte, error) bool) (bool, error) {
	body, err := json.Marshal(request{
		Model: s.o.Model, Input: text, Voice: s.o.Voice, Instructions: s.o.Instructions, Speed: s.o.Speed, Format: s.o.Format,
	})
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeoutCause(outer, s.call.patience.Timeout, wire.ErrTimeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	fail := func(err error) error {
		if outer.Err() != nil {
			return context.Cause(outer)
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return s.explain(err)
	}
	resp, kind, done, err := s.call.send(ctx, cancel, "application/json", body)
	if err != nil {
		return false, fail(err)
	}
	defer done()
	defer func() { _ = resp.Body.Close() }()
	if strings.HasSuffix(kind, "json") || strings.HasPrefix(kind, "text/") {
		return false, fail(&wire.MalformedError{Err: fmt.Errorf("the answer is %s, not sound", kind)})
	}
	goOn := true
	err = decode(s.o.Format, resp.Body, func(packet []byte) bool {
		goOn = ctx.Err() == nil && yield(packet, nil)
		return goOn
	})
	if err != nil || ctx.Err() != nil {
		return false, fail(err)
	}
	return goOn, nil
}

// explain says what went wrong, and what to do where it is the format.
func (s *Speaker) explain(err error) error {
	told, _ := s.call.explain(err)
	var (
		other   *otherFormatError
		refused *wire.StatusError
	)
	asked := string(s.o.Format)
	switch {
	case errors.As(err, &other):
		told.Message = fmt.Sprintf("%s was asked for speech as %s, and sent something else", s.call.place.Host, asked)
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError && strings.Contains(strings.ToLower(refused.Message), "format"):
	default:
		return told
	}
	told.Hint = "it may not make " + asked + ": choose another format (opus, wav, pcm) in " + cmp.Or(s.o.FormatChosen, "the settings")
	return told
}

// otherFormatError is sound of another format than was asked for.
type otherFormatError struct{ err error }

func (e *otherFormatError) Error() string { return e.err.Error() }
func (e *otherFormatError) Unwrap() error { return e.err }

// otherFormat is what is told of it.
func otherFormat(err error) error { return &wire.MalformedError{Err: &otherFormatError{err}} }

// request is the body of a call.
type request struct {
	Model        string  `json:"model"`
	Input        string  `json:"input"`
	Voice        string  `json:"voice"`
	Instructions string  `json:"instructions,omitempty"`
	Speed        float64 `json:"speed,omitempty"`
	Format       Format  `json:"response_format"`
}

// decode makes packets of what a server sends, as it comes.
func decode(f Format, body io.Reader, take func([]byte) bool) error {
	switch f {
	case PCM:
		body, err := samplesOnly(body)
		if err != nil {
			return err
		}
		return pack(ratePCM, pcmReader(body), take)
	case WAV:
		r, err := audio.NewWAVReader(body)
		if err != nil {
			return otherFormat(err)
		}
		return pack(r.Rate, func() ([]int16, error) { return r.Read(r.Rate / 10) }, take)
	default:
		return relay(body, take)
	}
}

// samplesOnly is body unless it begins as a file of another format does, which would be heard as noise.
func samplesOnly(body io.Reader) (io.Reader, error) {
	r := bufio.NewReader(body)
	begin, _ := r.Peek(4) // what keeps it from being read is told by who reads on
	for _, of := range []string{"RIFF", "OggS", "fLaC", "ID3", "\xff\xfb", "\xff\xf3"} {
		if bytes.HasPrefix(begin, []byte(of)) {
			return nil, otherFormat(fmt.Errorf("the answer begins with %q, as no samples do", of))
		}
	}
	return r, nil
}

// relay passes Opus on, and encodes it anew if its packets do not last 20 ms.
func relay(body io.Reader, take func([]byte) bool) error {
	ogg, err := audio.NewOggReader(body)
	if err != nil {
		return otherFormat(err)
	}
	first, err := ogg.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return &wire.CutError{Err: err}
	}
	shape, err := audio.Inspect(first)
	if err != nil {
		return otherFormat(err)
	}
	next := func() ([]byte, error) {
		if p := first; p != nil {
			first = nil
			return p, nil
		}
		return ogg.Next()
	}
	if shape.Duration() != voice.FrameTime {
		return again(next, take)
	}
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &wire.CutError{Err: err}
		}
		if s, err := audio.Inspect(p); err != nil || s.Duration() != voice.FrameTime {
			continue // the last one may be shorter
		}
		if !take(p) {
			return nil
		}
	}
}

// again decodes packets of any length and encodes them in ours.
func again(next func() ([]byte, error), take func([]byte) bool) error {
	decoder, err := audio.NewDecoder(voice.RateOpus)
	if err != nil {
		return err
	}
	return pack(voice.RateOpus, func() ([]int16, error) {
		p, err := next()
		if err != nil {
			return nil, err
		}
		return decoder.Decode(p)
	}, take)
}

// pack encodes samples as they come, until io.EOF.
func pack(rate int, read func() ([]int16, error), take func([]byte) bool) error {
	packer, err := audio.NewPacker(rate)
	if err != nil {
		return err
	}
	for {
		samples, readErr := read()
		packets, err := packer.Write(samples)
		if err != nil {
			return err
		}
		for _, p := range packets {
			if !take(p) {
				return nil
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return &wire.CutError{Err: readErr}
		}
	}
	last, err := packer.Flush()
	if err == nil && last != nil {
		take(last)
	}
	return err
}

// pcmReader reads samples as they come. A sample may be cut between two reads.
func pcmReader(r io.Reader) func() ([]int16, error) {
	var half []byte
	buffer := make([]byte, 4800)
	return func() ([]int16, error) {
		n, err := r.Read(buffer)
		b := append(half, buffer[:n]...)
		whole := len(b) &^ 1
		samples := audio.PCM(b[:whole])
		half = append([]byte(nil), b[whole:]...)
		return samples, err
	}
}

// pieces cuts text into what one request may hold, at spaces where there are any.
func pieces(text string) []string {
	var all []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if utf8.RuneCountInString(text) <= mostText {
			return append(all, text)
		}
		end, n := 0, 0
		for i := range text {
			if n == mostText {
				end = i
				break
			}
			n++
		}
		if space := strings.LastIndexByte(text[:end], ' '); space > 0 {
			end = space
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}
