package transport

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"clank/llm"
)

// Causes that end a call from inside.
var (
	ErrTimeout = errors.New("the call took too long")
	ErrIdle    = errors.New("the answer stalled")
)

// What applies where a [RetryPolicy] leaves it open.
const (
	defaultTimeout = 10 * time.Minute
	defaultIdle    = 90 * time.Second
	defaultBackoff = 500 * time.Millisecond
)

const (
	maxTries = 3
	maxWait  = 30 * time.Second // a server that asks for more is not waited for
)

// RetryPolicy says how long to wait, and whom to tell about it.
type RetryPolicy struct {
	Timeout time.Duration    // of a whole call, repeated tries included; 10 min if 0
	Idle    time.Duration    // between two bytes of an answer that has begun; 90 s if 0
	Backoff time.Duration    // before the second try, unless the server says; doubled for the third; 0.5 s if 0
	Logger  *slog.Logger     // nil: no log
	OnRetry func(RetryEvent) // called before each repeated try, on the goroutine of the call; may be nil
}

// RetryEvent describes a failed try that is about to be repeated.
type RetryEvent struct {
	Try  int           // the one that failed, from 1
	Wait time.Duration // until the next
	Err  error         // why, an [*llm.Error]
}

// WithDefaults fills in what p leaves open.
func (p RetryPolicy) WithDefaults() RetryPolicy {
	span := func(field *time.Duration, value time.Duration) {
		if *field <= 0 {
			*field = value
		}
	}
	span(&p.Timeout, defaultTimeout)
	span(&p.Idle, defaultIdle)
	span(&p.Backoff, defaultBackoff)
	p.Logger = cmp.Or(p.Logger, slog.New(slog.DiscardHandler))
	return p
}

// ExplainFunc turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
type ExplainFunc func(error) (failure *llm.Error, transient bool)

// CallWithRetry makes a call of a model by once, which is tried up to three times as explain allows. When ctx ends it
// returns [context.Cause] of ctx; other failures are those of explain. Once must not fail with a passing error after
// it has delivered anything.
func CallWithRetry[T any](ctx context.Context, p RetryPolicy, explain ExplainFunc,
	once func(context.Context) (T, error),
) (T, error) {
	var none T
	callCtx, cancel := context.WithTimeoutCause(ctx, p.Timeout, ErrTimeout)
	defer cancel()
	for try := 1; ; try++ {
		got, err := once(callCtx)
		if ctx.Err() != nil {
			return none, context.Cause(ctx)
		}
		if err == nil {
			return got, nil
		}
		failure, transient := explain(err)
		if !transient || try == maxTries {
			return none, failure
		}
		wait, ok := p.wait(callCtx, try, failure)
		if !ok {
			return none, failure
		}
		p.Logger.Info("model call failed, trying again", "model", failure.Model, "try", try, "wait", wait,
			"kind", failure.Kind, "status", failure.Status, "reason", failure.Message)
		if p.OnRetry != nil {
			p.OnRetry(RetryEvent{Try: try, Wait: wait, Err: failure})
		}
		if !waitFor(callCtx, wait) {
			if ctx.Err() != nil {
				return none, context.Cause(ctx)
			}
			return none, failure
		}
		if err := llm.ApproveRetry(callCtx, failure); err != nil {
			return none, err
		}
	}
}

// wait returns how long to wait before the next try; false if that is longer than we wait or than the call may take.
func (p RetryPolicy) wait(ctx context.Context, try int, e *llm.Error) (time.Duration, bool) {
	wait := cmp.Or(e.RetryAfter, backoff(p.Backoff, try))
	if wait > maxWait {
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return 0, false
	}
	return wait, true
}

// backoff doubles with each try and varies by half either way, so that many callers do not come back at once.
func backoff(first time.Duration, try int) time.Duration {
	base := min(first<<(try-1), maxWait/2)
	return base/2 + rand.N(base)
}

// waitFor waits; false if ctx ended first.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.After(d)
	select {
	case <-timer:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// WithPrice puts a price to what one call used: as the server told (u.USD), else by the table of package llm. What
// was not counted has no known price.
func WithPrice(model string, u llm.Usage) llm.Usage {
	counted := u.InputTokens+u.OutputTokens > 0
	u.Calls = 1
	switch {
	case u.USD > 0:
	case counted:
		u = llm.WithListPrice(model, u)
	default:
		u.Unpriced = true
	}
	return u
}
