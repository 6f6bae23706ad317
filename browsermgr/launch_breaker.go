package browsermgr

import (
	"fmt"
	"time"

	"clank/browsermgr/fault"
)

// The breaker opens after so many failures in a row, for so long.
const (
	BreakerFailures = 3
	BreakerPause    = 30 * time.Second
)

// LaunchBreaker is closed when zero. One goroutine at a time uses it.
type LaunchBreaker struct {
	failures int
	until    time.Time
	last     error
}

// Check is an *[BreakerError] while the breaker is open.
func (b *LaunchBreaker) Check(profile string) error {
	if b.last == nil || time.Now().After(b.until) {
		return nil
	}
	return &BreakerError{Profile: profile, Failures: b.failures, Until: b.until, Err: b.last}
}

// RecordFailure counts a failure.
func (b *LaunchBreaker) RecordFailure(err error) {
	b.failures++
	if b.failures >= BreakerFailures {
		b.last, b.until = err, time.Now().Add(BreakerPause)
	}
}

// Open opens the breaker at once: trying again would bother a person.
func (b *LaunchBreaker) Open(err error) {
	b.failures, b.last, b.until = max(b.failures, 1), err, time.Now().Add(BreakerPause)
}

// Close forgets all failures.
func (b *LaunchBreaker) Close() { *b = LaunchBreaker{} }

// BreakerError says that a browser is not started now because that has failed several times in a row. It wraps
// [fault.ErrUnavailable] and the last failure.
type BreakerError struct {
	Profile  string
	Failures int
	Until    time.Time
	Err      error
}

func (e *BreakerError) Error() string {
	return fmt.Sprintf("the browser of profile %q has failed to start %d times in a row, and is not tried again for %s; the last time: %v",
		e.Profile, e.Failures, max(time.Until(e.Until), time.Second).Round(time.Second), e.Err)
}

// Unwrap lets errors.Is find what it wraps.
func (e *BreakerError) Unwrap() []error { return []error{fault.ErrUnavailable, e.Err} }
