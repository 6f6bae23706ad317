package frame

import (
	"context"
	"sync"
	"time"
)

const (
	// framesAtOnce is how many frames of a page are read at a time: all at once, on a page with hundreds of them, none
	// would be done within its limit.
	framesAtOnce = 16
	// frameTurn is after what time the next one begins, so that frames without an answer block few others.
	frameTurn = time.Second
)

// Turns bounds how many frames of other processes are read at a time.
type Turns chan struct{}

// NewTurns returns turns for reading one page.
func NewTurns() Turns { return make(Turns, framesAtOnce) }

// Begin waits for a turn, which the caller ends. The error is the cause of ctx.
func (t Turns) Begin(ctx context.Context) (end func(), err error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	free := sync.OnceFunc(func() { <-t })
	late := time.AfterFunc(frameTurn, free)
	return func() { late.Stop(); free() }, nil
}

// HalfOf returns a context for half of the time left in ctx, an hour if that has no deadline: what frames do not answer
// by then is left out.
func HalfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := time.Hour
	if end, ok := ctx.Deadline(); ok {
		limit = time.Until(end) / 2
	}
	return context.WithTimeout(ctx, limit)
}
