package budget

import (
	"context"
	"errors"
	"iter"
	"time"
	"unicode/utf8"

	"clank/llm"
	"clank/voice"
)

// maxTimePerChar is how long speech takes for a character at most: quick speech has twenty in a second.
const maxTimePerChar = time.Second / 8

// LimitedSpeaker is a [voice.Synthesizer] within the budget.
type LimitedSpeaker struct {
	Speaker  voice.Synthesizer
	Enforcer *Enforcer
	Model    AudioModel

	// Fallback speaks where the budget is spent, for nothing; nil: nobody, and the error is an [*llm.Error] of the
	// kind [llm.ErrBudgetSpent].
	Fallback voice.Synthesizer

	// OnSpent is told when Instead speaks, and why. It may be nil.
	OnSpent func(err error)
}

var _ voice.Synthesizer = (*LimitedSpeaker)(nil)

// errListenerGone means that nobody wants to hear the rest. It may cost something all the same.
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

// failedUsage returns what is known of the usage of speech that failed after n packets.
func (s *LimitedSpeaker) failedUsage(text string, n int) llm.Usage {
	if n == 0 {
		return llm.Usage{}
	}
	return s.Model.speechUsage(text, time.Duration(n)*voice.FrameTime)
}

// LimitedTranscriber is a [voice.Transcriber] within the budget. Where that is spent nothing is sent, and the error
// is an [*llm.Error] of the kind [llm.ErrBudgetSpent].
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

// MaxSpokenAnswer is the longest answer that a model in a [SpeechConversation] may be let give, in tokens.
const MaxSpokenAnswer = 4096

// maxNewSpeech is what people may say before a response, in tokens: a minute and a half of speech.
const maxNewSpeech = 900

// SpeechResponse is what one response of a model took that hears and speaks. The tokens of sound are among those of
// Usage.
type SpeechResponse struct {
	llm.Usage

	AudioInput, AudioCached, AudioOutput int
}

// SpeechConversation holds a conversation with a model that hears and speaks within the budget. As it begins to
// answer by itself, the most that its next response can take is always held: Begin, then Used after each response,
// then End. Its methods are called by one goroutine at a time.
type SpeechConversation struct {
	Enforcer *Enforcer
	Model    AudioModel
	Prompt   int // characters of what it is told beforehand, tools included

	hold *Hold
	last SpeechResponse
}

// Begin holds what a first response may take. Its error says what is spent.
func (c *SpeechConversation) Begin(ctx context.Context) (err error) {
	c.hold, err = c.Enforcer.Hold(ctx, c.next())
	return err
}

// Check reports by an error, as Begin does, that a response is more than the account of ctx may spend.
func (c *SpeechConversation) Check(ctx context.Context) error { return c.Enforcer.Check(ctx, c.next()) }

// CountResponse counts a response for the account of by, and holds what the next one may take, for that of ctx. With
// its error the conversation has to end.
func (c *SpeechConversation) CountResponse(ctx, by context.Context, r SpeechResponse) error {
	lasted := time.Duration(r.AudioOutput) * spokenTokenTime
	switch {
	case c.hold != nil:
		c.hold.Settle(by, c.priced(r), lasted)
		c.hold = nil
	case r.InputTokens > 0: // it ends already, as no more may be spent
		c.Enforcer.Record(by, Estimate{Model: c.Model.ledgerName(), Usage: c.priced(r), Time: lasted}, true)
	default:
		c.Enforcer.Record(by, c.next(), false)
	}
	if r.InputTokens > 0 {
		c.last = r
	}
	return c.Begin(ctx)
}

// CountTranscription counts that somebody's speech was put into words beside the conversation, by the model named.
// Its error says that it may not be done again.
func (c *SpeechConversation) CountTranscription(ctx context.Context, model string, length time.Duration) error {
	m := AudioModel{Name: model, URL: c.Model.URL}
	took := m.transcriptionUsage(length)
	e := Estimate{Model: m.ledgerName(), Usage: took, Time: length}
	c.Enforcer.Record(ctx, e, true)
	return c.Enforcer.Check(ctx, e)
}

// End lets go of what is held.
func (c *SpeechConversation) End(ctx context.Context) {
	if c.hold != nil {
		c.hold.Release(ctx)
		c.hold = nil
	}
}

// next returns the most that the next response may take: it reads the conversation anew, with what it was told
// beforehand.
func (c *SpeechConversation) next() Estimate {
	before := SpeechResponse{Usage: llm.Usage{InputTokens: c.Prompt/2 + 1}}
	if c.last.InputTokens > 0 {
		before = c.last
	}
	sound := before.AudioInput + before.OutputTokens + maxNewSpeech
	r := SpeechResponse{
		Usage:      llm.Usage{InputTokens: before.InputTokens + before.OutputTokens + maxNewSpeech, OutputTokens: MaxSpokenAnswer},
		AudioInput: sound, AudioOutput: MaxSpokenAnswer,
	}
	return Estimate{Model: c.Model.ledgerName(), Usage: c.priced(r), Time: MaxSpokenAnswer * spokenTokenTime}
}

// priced returns the usage of r with its list price.
func (c *SpeechConversation) priced(r SpeechResponse) llm.Usage {
	p, known := findPrice(realtimePrices, c.Model.Name)
	sound := llm.Usage{InputTokens: r.AudioInput, CachedTokens: min(r.AudioCached, r.AudioInput), OutputTokens: r.AudioOutput}
	text := llm.Usage{
		InputTokens: max(0, r.InputTokens-r.AudioInput), OutputTokens: max(0, r.OutputTokens-r.AudioOutput),
	}
	text.CachedTokens = min(max(0, r.CachedTokens-r.AudioCached), text.InputTokens)
	u := llm.Usage{InputTokens: r.InputTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens}
	return c.Model.priced(u, p.Audio.Cost(sound)+p.Text.Cost(text), known)
}
