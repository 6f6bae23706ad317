package talk

import (
	"context"
	"errors"

	"clank/llm"
	"clank/sessions"
)

// account has what is done under ctx put down to p, or to nobody in the call if p is nil.
func (c *call) account(ctx context.Context, p *person, purpose string) context.Context {
	if c.Account == nil {
		return ctx
	}
	o := sessions.Origin{Kind: c.Place.Kind, Guild: c.Place.Guild, Channel: c.Place.Channel}
	if p != nil {
		o = c.origin(p)
	}
	return llm.WithAccount(ctx, c.Account(o, purpose))
}

// spentBy is the kind of warning that p, or nobody in particular, may spend no more.
func spentBy(p *person) string {
	if p == nil {
		return "spent"
	}
	return "spent " + p.ID
}

// spent reports whether err tells that no more may be spent, for p or in the call. That is said once, until it has been possible again.
func (c *call) spent(p *person, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrSpent {
		return false
	}
	if c.warned[spentBy(p)] {
		return true
	}
	c.warned[spentBy(p)] = true
	c.log.Info("budget spent in a call", "error", err)
	written, spoken := c.able().Spent(e)
	c.write(Message{Text: written})
	c.say(&part{to: p, sentences: []string{spoken}})
	return true
}
