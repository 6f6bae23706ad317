package cancel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Reason says why work was cancelled.
type Reason string

// The reasons work is cancelled.
const (
	Stopped      Reason = "stopped"       // by a person
	Superseded   Reason = "superseded"    // replaced by newer work
	BudgetSpent  Reason = "budget_spent"  // the next call could exceed a limit
	TimedOut     Reason = "timed_out"     // it exceeded its time limit
	ShuttingDown Reason = "shutting_down" // the program is ending
	Gone         Reason = "gone"          // nobody waits for it any more
)

// Cause is the error that [context.Cause] returns for cancelled work. Its text is meant for people.
type Cause struct { //nolint:errname // read with context.Cause; not a failure
	Reason Reason
	By     string // display name of the person who stopped it, if any
	Detail string // what ran out or replaced it; may be empty
}

// Error implements error.
func (c *Cause) Error() string {
	var s string
	switch c.Reason {
	case Stopped:
		switch {
		case c.By != "" && c.Detail != "":
			return fmt.Sprintf("stopped by %s: %v", c.By, c.Detail)
		case c.By != "":
			return fmt.Sprintf("stopped by %s", c.By) //nolint:perfsprint // the translations contain the format
		}
		s = "stopped"
	case Superseded:
		s = "superseded by a newer request"
	case BudgetSpent:
		s = "budget spent"
	case TimedOut:
		s = "ran out of time"
	case ShuttingDown:
		s = "shutting down"
	case Gone:
		s = "nobody is waiting for it any more"
	default:
		s = string(c.Reason)
	}
	if c.Detail != "" {
		s += ": " + c.Detail
	}
	return s
}

// CauseOf returns the Cause in err's chain or of ctx, or nil. Either argument may be nil.
func CauseOf(ctx context.Context, err error) *Cause {
	var c *Cause
	if errors.As(err, &c) {
		return c
	}
	if ctx != nil && errors.As(context.Cause(ctx), &c) {
		return c
	}
	return nil
}

// Linger returns a context that ends when limit has passed, or grace after the end of ctx. It is for what must not be
// cut off in the middle, such as a message on a connection.
func Linger(ctx context.Context, limit, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}

// Sleep waits for d. If ctx ends first, it returns the cause of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// WaitFor waits for wg. If ctx ends first, it returns the cause of ctx.
func WaitFor(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
