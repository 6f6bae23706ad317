// Package breaker keeps a browser that cannot start from being started over and over. Its user says what counts as such
// a failure. It starts nothing.
package breaker

import (
	"fmt"
	"time"

	"clank/browsermgr/fault"
)

// The breaker opens after so many failures in a row, for so long.
const (
	Failures = 3
	Pause    = 30 * time.Second
)

// Breaker is closed when zero. One goroutine at a time uses it.
type Breaker struct {
	failures int
	until    time.Time
	last     error
}

// Check is an *[OpenError] while the breaker is open.
func (b *Breaker) Check(profile string) error {
	if b.last == nil || time.Now().After(b.until) {
		return nil
	}
	return &OpenError{Profile: profile, Failures: b.failures, Until: b.until, Err: b.last}
}

// Failed counts a failure.
func (b *Breaker) Failed(err error) {
	b.failures++
	if b.failures >= Failures {
		b.last, b.until = err, time.Now().Add(Pause)
	}
}

// Hold opens the breaker at once: trying again would bother a person.
func (b *Breaker) Hold(err error) {
	b.failures, b.last, b.until = max(b.failures, 1), err, time.Now().Add(Pause)
}

// Close forgets all failures.
func (b *Breaker) Close() { *b = Breaker{} }

// OpenError says that a browser is not started now because that has failed several times in a row. It wraps
// [fault.ErrUnavailable] and the last failure.
type OpenError struct {
	Profile  string
	Failures int
	Until    time.Time
	Err      error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("the browser of profile %q has failed to start %d times in a row, and is not tried again for %s; the last time: %v",
		e.Profile, e.Failures, max(time.Until(e.Until), time.Second).Round(time.Second), e.Err)
}

// Unwrap lets errors.Is find what it wraps.
func (e *OpenError) Unwrap() []error { return []error{fault.ErrUnavailable, e.Err} }
