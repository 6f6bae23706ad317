package talk

import (
	"context"
	"crypto/rand"
	"slices"

	"clank/cancel"
	"clank/voice/talk/words"
)

// hold is how a request is stopped from outside while it waits for its turn, as what runs can be: somebody may write "stop".
type hold struct {
	handle *cancel.Handle
	gone   func() bool // it was stopped
}

func (c *call) hold(ctx context.Context, r request) hold {
	held, handle := c.begin(ctx, r)
	context.AfterFunc(held, handle.End)
	return hold{handle, func() bool { return cancel.CauseOf(held, nil) != nil }}
}

// begin makes r work that can be stopped.
func (c *call) begin(ctx context.Context, r request) (context.Context, *cancel.Handle) {
	return c.Scopes.Begin(ctx, c.reach.Here(), cancel.Work{ID: rand.Text(), Owner: r.by.ID, Label: words.Label(r.text)})
}

// dropStopped forgets what was stopped while it waited.
func (c *call) dropStopped() {
	c.waiting = slices.DeleteFunc(c.waiting, func(r request) bool { return r.held.gone() })
}
