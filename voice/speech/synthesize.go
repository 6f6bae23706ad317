package speech

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

	"clank/llm/transport"
	"clank/voice"
)

const (
	speakTimeout  = 60 * time.Second
	maxSpeechText = 4096 // characters of one request
	pcmRate       = 24000
)

// Format names what the server sends of speech.
type Format string

// The formats. Opus is passed on unchanged if its packets have the length that calls need.
const (
	Opus Format = "opus"
	PCM  Format = "pcm" // 24 kHz, 16 bits, mono
	WAV  Format = "wav"
)

// SynthesizerOptions are the server, model and voice that turn text into speech.
type SynthesizerOptions struct {
	Server        RemoteServer
	Model         string
	Voice         string
	Format        Format // [Opus] if empty
	FormatSetting string // where the format is chosen, for messages; "the settings" if empty
}

// Synthesizer is a [voice.Synthesizer], safe for concurrent use.
type Synthesizer struct {
	o    SynthesizerOptions
	call *apiCaller
}

var _ voice.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer checks o and returns a synthesizer. It sends no request yet.
func NewSynthesizer(o SynthesizerOptions) (*Synthesizer, error) {
	o.Format = cmp.Or(o.Format, Opus)
	switch {
	case o.Format != Opus && o.Format != PCM && o.Format != WAV:
		return nil, fmt.Errorf("set up speech: the format %q is none of opus, pcm, wav", o.Format)
	case o.Voice == "":
		return nil, errors.New("set up speech: the voice is not set")
	}
	c, err := newAPICaller(o.Server, "audio/speech", "speech API", o.Model, speakTimeout)
	if err != nil {
		return nil, fmt.Errorf("set up speech: %w", err)
	}
	return &Synthesizer{o: o, call: c}, nil
}

// Speak implements [voice.Synthesizer]. Packets come while the server still speaks. A failure is not repeated: part of
// it may have been said. Errors are of [llm.Error], or the cause of ctx.
func (s *Synthesizer) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, piece := range splitText(text) {
			goOn, err := s.speakPiece(ctx, piece, yield)
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

// speakPiece synthesizes the text of one request. It reports whether the consumer wants more.
func (s *Synthesizer) speakPiece(outer context.Context, text string, yield func([]byte, error) bool) (bool, error) {
	body, err := json.Marshal(speechRequest{Model: s.o.Model, Input: text, Voice: s.o.Voice, Format: s.o.Format})
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeoutCause(outer, s.call.patience.Timeout, transport.ErrTimeout)
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
		return false, fail(&transport.MalformedError{Err: fmt.Errorf("the answer is %s, not sound", kind)})
	}
	goOn, err := decodeSpeech(s.o.Format, resp.Body, func(packet []byte) bool {
		return ctx.Err() == nil && yield(packet, nil)
	})
	if err != nil || ctx.Err() != nil {
		return false, fail(err)
	}
	return goOn, nil
}

// explain returns what went wrong, and what to do if the format is the reason.
func (s *Synthesizer) explain(err error) error {
	failure, _ := s.call.explain(err)
	var (
		other   *formatError
		refused *transport.StatusError
	)
	asked := string(s.o.Format)
	switch {
	case errors.As(err, &other):
		failure.Message = fmt.Sprintf("%s was asked for speech as %s, and sent something else", s.call.place.Host, asked)
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError &&
		strings.Contains(strings.ToLower(refused.Message), "format"):
	default:
		return failure
	}
	failure.Hint = "it may not make " + asked + ": choose another format (opus, wav, pcm) in " +
		cmp.Or(s.o.FormatSetting, "the settings")
	return failure
}

// formatError is sound of another format than was asked for.
type formatError struct{ err error }

func (e *formatError) Error() string { return e.err.Error() }
func (e *formatError) Unwrap() error { return e.err }

// newFormatError returns err as the error for an answer in the wrong format.
func newFormatError(err error) error { return &transport.MalformedError{Err: &formatError{err}} }

// speechRequest is the body of a call.
type speechRequest struct {
	Model  string `json:"model"`
	Input  string `json:"input"`
	Voice  string `json:"voice"`
	Format Format `json:"response_format"`
}

// decodeSpeech decodes a server's response as it arrives and passes packets to take.
func decodeSpeech(f Format, body io.Reader, take func([]byte) bool) (wanted bool, err error) {
	switch f {
	case PCM:
		body, err := skipWAVHeader(body)
		if err != nil {
			return true, err
		}
		return packSamples(pcmRate, pcmReader(body), take)
	case WAV:
		r, err := voice.NewWAVReader(body)
		if err != nil {
			return true, newFormatError(err)
		}
		return packSamples(r.Rate, func() ([]int16, error) { return r.Read(r.Rate / 10) }, take)
	default:
		return relayOpus(body, take)
	}
}

// skipWAVHeader returns body, or an error if body begins like a file of another format, which would be heard as
// noise.
func skipWAVHeader(body io.Reader) (io.Reader, error) {
	r := bufio.NewReader(body)
	begin, _ := r.Peek(4) // an error is returned by the next read
	for _, of := range []string{"RIFF", "OggS", "fLaC", "ID3", "\xff\xfb", "\xff\xf3"} {
		if bytes.HasPrefix(begin, []byte(of)) {
			return nil, newFormatError(fmt.Errorf("the answer begins with %q, as no samples do", of))
		}
	}
	return r, nil
}

// relayOpus passes Opus packets to take, and encodes them again if they do not last 20 ms.
func relayOpus(body io.Reader, take func([]byte) bool) (wanted bool, err error) {
	ogg, err := voice.NewOggReader(body)
	if err != nil {
		return true, newFormatError(err)
	}
	p, err := ogg.Next()
	if err == nil {
		shape, err := voice.InspectOpus(p)
		if err != nil {
			return true, newFormatError(err)
		}
		if shape.Duration() != voice.FrameTime {
			return reencode(p, ogg, take)
		}
	}
	for ; err == nil; p, err = ogg.Next() {
		if s, err := voice.InspectOpus(p); err != nil || s.Duration() != voice.FrameTime {
			continue // the last one may be shorter
		}
		if !take(p) {
			return false, nil
		}
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return true, &transport.TruncatedError{Err: err}
}

// reencode decodes packets of any length, p and the following ones, and encodes them as packets of 20 ms.
func reencode(p []byte, rest *voice.OggReader, take func([]byte) bool) (wanted bool, err error) {
	decoder, err := voice.NewOpusDecoder(voice.RateOpus)
	if err != nil {
		return true, err
	}
	return packSamples(voice.RateOpus, func() ([]int16, error) {
		samples, err := decoder.Decode(p)
		if err == nil {
			p, err = rest.Next()
		}
		return samples, err
	}, take)
}

// packSamples encodes samples as they arrive, until io.EOF or until take returns false. It reports whether take wanted
// all of them.
func packSamples(rate int, read func() ([]int16, error), take func([]byte) bool) (wanted bool, err error) {
	packer, err := voice.NewOpusPacker(rate)
	if err != nil {
		return true, err
	}
	for {
		samples, readErr := read()
		packets, err := packer.Write(samples)
		if err != nil {
			return true, err
		}
		for _, p := range packets {
			if !take(p) {
				return false, nil
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return true, &transport.TruncatedError{Err: readErr}
		}
	}
	last, err := packer.Flush()
	if err != nil || last == nil {
		return true, err
	}
	return take(last), nil
}

// pcmReader returns a function that reads samples as they arrive. A sample may be split between two reads.
func pcmReader(r io.Reader) func() ([]int16, error) {
	var half []byte
	buffer := make([]byte, 4800)
	return func() ([]int16, error) {
		n, err := r.Read(buffer)
		b := append(half, buffer[:n]...)
		whole := len(b) &^ 1
		samples := voice.ParsePCM(b[:whole])
		half = append([]byte(nil), b[whole:]...)
		return samples, err
	}
}

// splitText splits text into pieces for one request each, at spaces if possible.
func splitText(text string) []string {
	var all []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if utf8.RuneCountInString(text) <= maxSpeechText {
			return append(all, text)
		}
		end, n := 0, 0
		for i := range text {
			if n == maxSpeechText {
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
