package cancel

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Reason says why work was cancelled.
type Reason string

// The reasons work is cancelled.
const (
	Stopped      Reason = "stopped"       // a person said so
	Superseded   Reason = "superseded"    // newer work took its place
	BudgetSpent  Reason = "budget_spent"  // the next call could pass a limit
	TimedOut     Reason = "timed_out"     // it took longer than it may
	ShuttingDown Reason = "shutting_down" // the program is ending
	Gone         Reason = "gone"          // whoever waited for it went away
)

// Cause is the error that [context.Cause] returns for cancelled work. Its text
// is meant for people.
type Cause struct { //nolint:errname // a cause is no failure, and is read as context.Cause
	Reason Reason
	By     string // display name of the person who stopped it, if one did
	Detail string // what exactly ran out or took over; may be empty
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
			return fmt.Sprintf("stopped by %s", c.By) //nolint:perfsprint // the catalogue of texts knows the format
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

// CauseOf returns the Cause in err's chain or behind ctx, or nil. Either may be
// nil.
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

// WaitFor waits for wg, or until ctx ends, whose cause it then returns.
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
