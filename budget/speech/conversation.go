package speech

import (
	"context"
	"time"

	"clank/budget"
	"clank/llm"
)

// MostAnswer is the longest answer that a model in a [Conversation] may be let give, in tokens.
const MostAnswer = 4096

// mostNew is what people may say before a response, in tokens: a minute and a half of speech.
const mostNew = 900

// Response is what one response of a model took that hears and speaks. The tokens of sound are among those of Usage.
type Response struct {
	llm.Usage

	AudioInput, AudioCached, AudioOutput int
}

// Conversation holds a conversation with a model that hears and speaks within the budget. As it begins to answer by itself, the most
// that its next response can take is always held: Begin, then Used after each response, then End. Its methods are called by one
// goroutine at a time.
type Conversation struct {
	Keeper *budget.Keeper
	Model  Model
	Prompt int // characters of what it is told beforehand, tools included

	hold *budget.Hold
	last Response
}

// Begin holds what a first response may take. Its error says what is spent.
func (c *Conversation) Begin(ctx context.Context) (err error) {
	c.hold, err = c.Keeper.Hold(ctx, c.next())
	return err
}

// May reports by an error, as Begin does, that a response is more than the account of ctx may spend.
func (c *Conversation) May(ctx context.Context) error { return c.Keeper.May(ctx, c.next()) }

// Used counts a response for the account of by, and holds what the next one may take, for that of ctx. With its error the conversation
// has to end.
func (c *Conversation) Used(ctx, by context.Context, r Response) error {
	lasted := time.Duration(r.AudioOutput) * saidToken
	switch {
	case c.hold != nil:
		c.hold.Settle(by, c.priced(r), lasted)
		c.hold = nil
	case r.InputTokens > 0: // it ends already, as no more may be spent
		c.Keeper.Note(by, budget.Estimate{Model: c.Model.ledger(), Usage: c.priced(r), Time: lasted}, true)
	default:
		c.Keeper.Note(by, c.next(), false)
	}
	if r.InputTokens > 0 {
		c.last = r
	}
	return c.Begin(ctx)
}

// Heard counts that somebody's speech was put into words beside the conversation, by the model named. Its error says that it may not
// be done again.
func (c *Conversation) Heard(ctx context.Context, model string, length time.Duration) error {
	m := Model{Name: model, URL: c.Model.URL}
	took := m.hearing(length)
	e := budget.Estimate{Model: m.ledger(), Usage: took, Time: length}
	c.Keeper.Note(ctx, e, true)
	return c.Keeper.May(ctx, e)
}

// End lets go of what is held.
func (c *Conversation) End(ctx context.Context) {
	if c.hold != nil {
		c.hold.Release(ctx)
		c.hold = nil
	}
}

// next is the most that the next response may take: it reads the conversation anew, with what it was told beforehand.
func (c *Conversation) next() budget.Estimate {
	before := Response{Usage: llm.Usage{InputTokens: c.Prompt/2 + 1}}
	if c.last.InputTokens > 0 {
		before = c.last
	}
	sound := before.AudioInput + before.OutputTokens + mostNew
	r := Response{
		Usage:      llm.Usage{InputTokens: before.InputTokens + before.OutputTokens + mostNew, OutputTokens: MostAnswer},
		AudioInput: sound, AudioOutput: MostAnswer,
	}
	return budget.Estimate{Model: c.Model.ledger(), Usage: c.priced(r), Time: MostAnswer * saidToken}
}

// priced is r with its list price.
func (c *Conversation) priced(r Response) llm.Usage {
	p, known := find(conversing, c.Model.Name)
	sound := llm.Usage{InputTokens: r.AudioInput, CachedTokens: min(r.AudioCached, r.AudioInput), OutputTokens: r.AudioOutput}
	text := llm.Usage{
		InputTokens: max(0, r.InputTokens-r.AudioInput), OutputTokens: max(0, r.OutputTokens-r.AudioOutput),
	}
	text.CachedTokens = min(max(0, r.CachedTokens-r.AudioCached), text.InputTokens)
	u := llm.Usage{InputTokens: r.InputTokens, CachedTokens: r.CachedTokens, OutputTokens: r.OutputTokens}
	return c.Model.priced(u, p.Audio.Cost(sound)+p.Text.Cost(text), known)
}
