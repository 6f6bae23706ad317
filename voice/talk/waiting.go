package talk

import (
	"context"
	"crypto/rand"
	"slices"

	"clank/cancel"
)

// hold is how a request is stopped from outside while it waits for its turn, as what runs can be: somebody may write "stop".
type hold struct {
	handle *cancel.Handle
	gone   func() bool // it was stopped
}

func (c *call) hold(ctx context.Context, r request) hold {
	held, handle := c.Scopes.Begin(ctx, c.scopes[0], cancel.Work{ID: rand.Text(), Owner: r.by.ID, Label: label(r.text)})
	context.AfterFunc(held, handle.End)
	return hold{handle, func() bool { return held.Err() != nil }}
}

// dropStopped forgets what was stopped while it waited.
func (c *call) dropStopped() {
	c.waiting = slices.DeleteFunc(c.waiting, func(r request) bool { return r.held.gone() })
}
