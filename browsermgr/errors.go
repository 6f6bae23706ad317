package browsermgr

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/sessions"
)

// Errors for use with [errors.Is].
var (
	// ErrClosed is returned after the Manager was closed.
	ErrClosed = errors.New("the browser manager is closed")
	// ErrDisabled is returned if the settings disable browsers.
	ErrDisabled = errors.New("the browser is switched off in the settings")
	// ErrInvalid is wrapped by errors in the request itself: a bad name, colour, driver or address, or an operation
	// that the profile does not support.
	ErrInvalid = fault.ErrInvalid
	// ErrNotRunning is returned if the profile's browser is not running and was not to be started.
	ErrNotRunning = errors.New("browser not running")
	// ErrUnavailable is wrapped if the profile's browser could not be started or reached. The text around it says why;
	// it may wrap a *[chrome.PortError], a *[chrome.LockedError], a *[chrome.NotFoundError], a *[profile.ConnectError]
	// or a *[profile.RateLimitError].
	ErrUnavailable = fault.ErrUnavailable
	// ErrNavigationBlocked is wrapped if policy refuses what a page requests. The text around it says what, and how to
	// allow it.
	ErrNavigationBlocked = errors.New("navigation blocked by policy")
)

func errNotLaunchedByUs(profile string) error {
	return fault.Invalidf("profile %q joins a browser that runs already: headless or not is not ours to say", profile)
}

// NoDisplayError says that a visible browser was requested where no display is available. It wraps [ErrUnavailable] and
// [chrome.ErrNoDisplay].
type NoDisplayError struct {
	Profile        string
	HeadlessSource string // what requested a visible browser
}

func (e *NoDisplayError) Error() string {
	return fmt.Sprintf("profile %q is to have a window (%s): %v", e.Profile, e.HeadlessSource, chrome.ErrNoDisplay)
}

// Unwrap returns the wrapped errors.
func (e *NoDisplayError) Unwrap() []error { return []error{ErrUnavailable, chrome.ErrNoDisplay} }

// wrapUnavailable adds the profile's name and [ErrUnavailable] to a failure to start or reach its browser.
func wrapUnavailable(profile string, err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("profile %q: %w: %w", profile, ErrUnavailable, err)
}

// The breaker opens for BreakerPause after BreakerFailures failures in a row.
const (
	BreakerFailures = 3
	BreakerPause    = 30 * time.Second
)

// LaunchBreaker is a circuit breaker for starting a browser. The zero value is closed. It is not safe for concurrent
// use.
type LaunchBreaker struct {
	failures int
	until    time.Time
	last     error
}

// Check returns a *[BreakerError] while the breaker is open.
func (b *LaunchBreaker) Check(profile string) error {
	if b.last == nil || time.Now().After(b.until) {
		return nil
	}
	return &BreakerError{Profile: profile, Failures: b.failures, Until: b.until, Err: b.last}
}

// RecordFailure counts a failure, and opens the breaker if there were too many.
func (b *LaunchBreaker) RecordFailure(err error) {
	b.failures++
	if b.failures >= BreakerFailures {
		b.last, b.until = err, time.Now().Add(BreakerPause)
	}
}

// Open opens the breaker at once, for failures where trying again would disturb a person.
func (b *LaunchBreaker) Open(err error) {
	b.failures, b.last, b.until = max(b.failures, 1), err, time.Now().Add(BreakerPause)
}

// Close closes the breaker and resets its count.
func (b *LaunchBreaker) Close() { *b = LaunchBreaker{} }

// BreakerError says that a browser is not started now because starting it has failed several times in a row. It wraps
// [fault.ErrUnavailable] and the last failure.
type BreakerError struct {
	Profile  string
	Failures int
	Until    time.Time
	Err      error
}

func (e *BreakerError) Error() string {
	return fmt.Sprintf("the browser of profile %q has failed to start %d times in a row, and is not tried again for %s; "+
		"the last time: %v",
		e.Profile, e.Failures, sessions.DurationText(max(time.Until(e.Until), time.Second)), e.Err)
}

// Unwrap returns the wrapped errors.
func (e *BreakerError) Unwrap() []error { return []error{fault.ErrUnavailable, e.Err} }

// UseCounter counts the operations in progress in a browser and decides when it may be ended. It is safe for concurrent
// use.
type UseCounter struct {
	mu     sync.Mutex
	ending chan struct{}
	ended  bool
	count  int
	last   time.Time
}

// NewUseCounter returns a counter whose last use is now.
func NewUseCounter() *UseCounter { return &UseCounter{ending: make(chan struct{}), last: time.Now()} }

// Acquire begins an operation; it returns false if the browser is ending. The caller calls Release or ReleaseUnused.
func (u *UseCounter) Acquire() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false
	}
	u.count++
	return true
}

// Release ends an operation and counts it as use.
func (u *UseCounter) Release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.last = time.Now()
}

// ReleaseUnused ends an operation without counting it as use.
func (u *UseCounter) ReleaseUnused() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
}

// TryEnd begins to end the browser; later calls of Acquire fail. It returns false if the browser is ending already, or
// if idle is positive and the browser is in use or was used within that time.
func (u *UseCounter) TryEnd(idle time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || idle > 0 && (u.count > 0 || time.Since(u.last) < idle) {
		return false
	}
	u.ended = true
	close(u.ending)
	return true
}

// IsIdle reports whether the browser is not ending, is not in use and was not used for at least idle.
func (u *UseCounter) IsIdle(idle time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return !u.ended && u.count == 0 && time.Since(u.last) >= idle
}

// LastUse returns when the last operation ended.
func (u *UseCounter) LastUse() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

// Ending returns a channel that is closed when the browser begins to end.
func (u *UseCounter) Ending() <-chan struct{} { return u.ending }
