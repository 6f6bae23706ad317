package budget

import (
	"context"
	"time"

	"clank/llm"
)

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
