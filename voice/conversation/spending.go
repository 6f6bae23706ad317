package conversation

import (
	"context"
	"errors"

	"clank/llm"
	"clank/sessions"
)

// withAccount has what is done under ctx put down to p, or to nobody in the call if p is nil.
func (c *call) withAccount(ctx context.Context, p *person, purpose string) context.Context {
	if c.Account == nil {
		return ctx
	}
	o := sessions.Origin{Kind: c.Location.Kind, Guild: c.Location.Guild, Channel: c.Location.Channel}
	if p != nil {
		o = c.origin(p)
	}
	return llm.WithAccount(ctx, c.Account(o, purpose))
}

// spentKey returns the kind of warning that p, or nobody in particular, may spend no more.
func spentKey(p *person) string {
	if p == nil {
		return "spent"
	}
	return "spent " + p.ID
}

// reportSpent reports whether err tells that no more may be spent, for p or in the call. That is said once, until it has been possible again.
func (c *call) reportSpent(p *person, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrBudgetSpent {
		return false
	}
	if c.warned[spentKey(p)] {
		return true
	}
	c.warned[spentKey(p)] = true
	c.log.Info("budget spent in a call", "error", err)
	written, spoken := c.capabilities().BudgetSpentTexts(e)
	c.write(Message{Text: written})
	c.say(&speechItem{to: p, sentences: []string{spoken}})
	return true
}
