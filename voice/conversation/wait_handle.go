package conversation

import (
	"context"
	"crypto/rand"
	"slices"

	"clank/cancel"
)

// waitHandle is how a request is stopped from outside while it waits for its turn, as what runs can be: somebody may write "stop".
type waitHandle struct {
	handle  *cancel.Handle
	stopped func() bool // it was stopped
}

func (c *call) newWaitHandle(ctx context.Context, r request) waitHandle {
	held, handle := c.beginWork(ctx, r)
	context.AfterFunc(held, handle.End)
	return waitHandle{handle, func() bool { return cancel.CauseOf(held, nil) != nil }}
}

// beginWork makes r work that can be stopped.
func (c *call) beginWork(ctx context.Context, r request) (context.Context, *cancel.Handle) {
	return c.Scopes.Begin(ctx, c.workScopes.Current(), cancel.Work{ID: rand.Text(), Owner: r.by.ID, Label: taskLabel(r.text)})
}

// dropStopped forgets what was stopped while it waited.
func (c *call) dropStopped() {
	c.waiting = slices.DeleteFunc(c.waiting, func(r request) bool { return r.wait.stopped() })
}
