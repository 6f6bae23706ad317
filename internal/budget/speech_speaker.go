package budget

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
	"unicode/utf8"

	"clank/llm"
	"clank/voice"
)

// maxTimePerChar is the maximum duration of speech per character; fast speech has about twenty characters per second.
const maxTimePerChar = time.Second / 8

// LimitedSpeaker is a [voice.Synthesizer] limited by the budget.
type LimitedSpeaker struct {
	Speaker  voice.Synthesizer
	Enforcer *Enforcer
	Model    AudioModel

	// Fallback is a free synthesizer that speaks when the budget is exhausted. If it is nil, Speak fails with an
	// [*llm.Error] of the kind [llm.ErrBudgetSpent].
	Fallback voice.Synthesizer

	// OnSpent is called when Fallback takes over, with the reason. It may be nil.
	OnSpent func(err error)
}

var _ voice.Synthesizer = (*LimitedSpeaker)(nil)

// errListenerGone means that the listener stopped before the end. The speech may be charged all the same.
var errListenerGone = errors.New("the rest is not wanted")

// Speak implements [voice.Synthesizer].
func (s *LimitedSpeaker) Speak(ctx context.Context, text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		longest := time.Duration(utf8.RuneCountInString(text)+8) * maxTimePerChar
		e := Estimate{Model: s.Model.ledgerName(), Usage: s.Model.speechUsage(text, longest), Time: longest}
		err := s.Enforcer.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
			n := 0
			length := func() time.Duration { return time.Duration(n) * voice.FrameTime }
			for packet, err := range s.Speaker.Speak(ctx, text) {
				if err != nil {
					return s.failedUsage(text, n), length(), err
				}
				n++
				if !yield(packet, nil) {
					return llm.Usage{}, length(), errListenerGone
				}
			}
			return s.Model.speechUsage(text, length()), length(), nil
		})
		var spent *llm.Error
		switch {
		case err == nil, errors.Is(err, errListenerGone):
		case s.Fallback != nil && errors.As(err, &spent) && spent.Kind == llm.ErrBudgetSpent:
			if s.OnSpent != nil {
				s.OnSpent(err)
			}
			s.Fallback.Speak(ctx, text)(yield)
		default:
			yield(nil, err)
		}
	}
}

// failedUsage returns the known usage of speech that failed after n packets.
func (s *LimitedSpeaker) failedUsage(text string, n int) llm.Usage {
	if n == 0 {
		return llm.Usage{}
	}
	return s.Model.speechUsage(text, time.Duration(n)*voice.FrameTime)
}

// LimitedTranscriber is a [voice.Transcriber] limited by the budget. When it is exhausted nothing is sent, and the
// error is an [*llm.Error] of the kind [llm.ErrBudgetSpent].
type LimitedTranscriber struct {
	voice.Transcriber

	Enforcer *Enforcer
	Model    AudioModel
}

// Transcribe implements [voice.Transcriber].
func (t *LimitedTranscriber) Transcribe(ctx context.Context, u voice.Utterance) (said voice.Transcript, err error) {
	if !u.Loud || len(u.Packets) == 0 { // nothing is sent
		return t.Transcriber.Transcribe(ctx, u)
	}
	length := max(u.Ended.Sub(u.Began), time.Duration(len(u.Packets))*voice.FrameTime)
	took := t.Model.transcriptionUsage(length)
	e := Estimate{Model: t.Model.ledgerName(), Usage: took, Time: length}
	err = t.Enforcer.Spend(ctx, e, func(ctx context.Context) (llm.Usage, time.Duration, error) {
		said, err = t.Transcriber.Transcribe(ctx, u)
		return took, length, err
	})
	return said, err
}

// MaxSpokenAnswer is the maximum length, in tokens, of an answer in a [SpeechConversation].
const MaxSpokenAnswer = 4096

// maxNewSpeech is the estimated speech of people before a response, in tokens: a minute and a half.
const maxNewSpeech = 900

// SpeechResponse is the usage of one response of a realtime model. Usage includes the audio tokens.
type SpeechResponse struct {
	llm.Usage

	AudioInput, AudioCached, AudioOutput int
}

// SpeechConversation charges a conversation with a realtime model to the budget. The model may start to answer at any
// time, so the maximum cost of its next response is always reserved: call Begin, then CountResponse after each
// response, then End, by one goroutine at a time.
type SpeechConversation struct {
	Enforcer *Enforcer
	Model    AudioModel

	hold *Hold

	mu     sync.Mutex // guards what next reads, as Check may be called at any time
	prompt int
	last   SpeechResponse
}

// Begin reserves the cost of the first response. The prompt is how many characters the instructions have, including
// tools. Its error names the exhausted budget.
func (c *SpeechConversation) Begin(ctx context.Context, prompt int) error {
	c.mu.Lock()
	c.prompt = prompt
	c.mu.Unlock()
	return c.reserve(ctx)
}

func (c *SpeechConversation) reserve(ctx context.Context) (err error) {
	c.hold, err = c.Enforcer.Hold(ctx, c.next())
	return err
}

// Check returns the same error as Begin if the account of ctx cannot afford a response. It is safe for concurrent use.
func (c *SpeechConversation) Check(ctx context.Context) error { return c.Enforcer.Check(ctx, c.next()) }

// CountResponse charges a response to the account of by, and reserves the next one for that of ctx. If it returns an
// error the conversation must end.
func (c *SpeechConversation) CountResponse(ctx, by context.Context, r SpeechResponse) error {
	lasted := time.Duration(r.AudioOutput) * spokenTokenTime
	switch {
	case c.hold != nil:
		c.hold.Settle(by, c.priced(r), lasted)
		c.hold = nil
	case r.InputTokens > 0: // the conversation is ending because the budget is exhausted
		c.Enforcer.Record(by, Estimate{Model: c.Model.ledgerName(), Usage: c.priced(r), Time: lasted}, true)
	default:
		c.Enforcer.Record(by, c.next(), false)
	}
	if r.InputTokens > 0 {
		c.mu.Lock()
		c.last = r
		c.mu.Unlock()
	}
	return c.reserve(ctx)
}

// CountTranscription charges the transcription of speech by the named model. Its error means that no further
// transcription is allowed.
func (c *SpeechConversation) CountTranscription(ctx context.Context, model string, length time.Duration) error {
	m := AudioModel{Name: model, URL: c.Model.URL}
	took := m.transcriptionUsage(length)
	e := Estimate{Model: m.ledgerName(), Usage: took, Time: length}
	c.Enforcer.Record(ctx, e, true)
	return c.Enforcer.Check(ctx, e)
}

// End releases the reservation.
func (c *SpeechConversation) End(ctx context.Context) {
	if c.hold != nil {
		c.hold.Release(ctx)
		c.hold = nil
	}
}

// next returns the maximum usage of the next response, which reads the whole conversation and the instructions again.
func (c *SpeechConversation) next() Estimate {
	c.mu.Lock()
	before := SpeechResponse{Usage: llm.Usage{InputTokens: c.prompt/2 + 1}}
	if c.last.InputTokens > 0 {
		before = c.last
	}
	c.mu.Unlock()
	sound := before.AudioInput + before.OutputTokens + maxNewSpeech
	r := SpeechResponse{
		Usage: llm.Usage{
			InputTokens:  before.InputTokens + before.OutputTokens + maxNewSpeech,
			OutputTokens: MaxSpokenAnswer,
		},
		AudioInput: sound, AudioOutput: MaxSpokenAnswer,
	}
	return Estimate{Model: c.Model.ledgerName(), Usage: c.priced(r), Time: MaxSpokenAnswer * spokenTokenTime}
}

// priced returns the usage of r with its list price.
func (c *SpeechConversation) priced(r SpeechResponse) llm.Usage {
	p, known := findPrice(realtimePrices, c.Model.Name)
	sound := llm.Usage{
		InputTokens: r.AudioInput, CachedTokens: min(r.AudioCached, r.AudioInput),
		OutputTokens: r.AudioOutput,
	}
	text := llm.Usage{
		InputTokens: max(0, r.InputTokens-r.AudioInput), OutputTokens: max(0, r.OutputTokens-r.AudioOutput),
	}
	text.CachedTokens = min(max(0, r.CachedTokens-r.AudioCached), text.InputTokens)
	u := llm.Usage{InputTokens: r.InputTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens}
	return c.Model.priced(u, p.Audio.Cost(sound)+p.Text.Cost(text), known)
}
