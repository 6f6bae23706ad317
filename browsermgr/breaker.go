package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The breaker opens after so many failures in a row, for so long.
const (
	breakerFailures = 3
	breakerPause    = 30 * time.Second
)

// breaker keeps a browser that cannot start from being started over and over. Whoever has the profile's turn uses it.
type breaker struct {
	failures int
	until    time.Time
	last     error
}

// check is the error while the breaker is open.
func (b *breaker) check(profile string) error {
	if b.last == nil || time.Now().After(b.until) {
		return nil
	}
	return &BreakerError{Profile: profile, Failures: b.failures, Until: b.until, Err: b.last}
}

// note counts the outcome of a start. What the caller asked for wrongly, or gave up, is no failure of the browser's.
func (b *breaker) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		*b = breaker{}
		return
	case ctx.Err() != nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrClosed):
		return
	}
	if _, noDisplay := errors.AsType[*NoDisplayError](err); noDisplay {
		return
	}
	b.failures++
	if b.failures >= breakerFailures {
		b.last, b.until = err, time.Now().Add(breakerPause)
	}
}

// hold opens the breaker at once: trying again would bother a person.
func (b *breaker) hold(err error) {
	b.failures, b.last, b.until = max(b.failures, 1), err, time.Now().Add(breakerPause)
}

// unavailable marks a failure to start or reach a browser.
func unavailable(profile string, err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("profile %q: %w: %w", profile, ErrUnavailable, err)
}
