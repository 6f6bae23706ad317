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

// Errors that callers tell apart. Those of this package wrap them.
var (
	// ErrClosed says that the Manager was closed.
	ErrClosed = errors.New("the browser manager is closed")
	// ErrDisabled says that the settings allow no browser.
	ErrDisabled = errors.New("the browser is switched off in the settings")
	// ErrInvalid says that the request itself was wrong: a bad name, colour, driver or address, or an act that the
	// profile is not made for.
	ErrInvalid = fault.ErrInvalid
	// ErrNotRunning says that the profile's browser does not run, and was not to be started.
	ErrNotRunning = errors.New("browser not running")
	// ErrUnavailable says that the profile's browser could not be started or reached. The text around it says why; it
	// may wrap a *[chrome.PortError], a *[chrome.LockedError], a *[chrome.NotFoundError], an *[profile.ConnectError] or
	// an *[profile.RateLimitError].
	ErrUnavailable = fault.ErrUnavailable
	// ErrNavigationBlocked says that what a page asked for may not be reached. The text around it says what, and the
	// way out.
	ErrNavigationBlocked = errors.New("navigation blocked by policy")
)

func errNotLaunchedByUs(profile string) error {
	return fault.Invalidf("profile %q joins a browser that runs already: headless or not is not ours to say", profile)
}

// NoDisplayError says that a browser with a window was asked for where none can be shown. It wraps [ErrUnavailable] and
// [chrome.ErrNoDisplay].
type NoDisplayError struct {
	Profile        string
	HeadlessSource string // who asked for the window
}

func (e *NoDisplayError) Error() string {
	return fmt.Sprintf("profile %q is to have a window (%s): %v", e.Profile, e.HeadlessSource, chrome.ErrNoDisplay)
}

// Unwrap lets errors.Is find what it wraps.
func (e *NoDisplayError) Unwrap() []error { return []error{ErrUnavailable, chrome.ErrNoDisplay} }

// wrapUnavailable marks a failure to start or reach a browser.
func wrapUnavailable(profile string, err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("profile %q: %w: %w", profile, ErrUnavailable, err)
}

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
		e.Profile, e.Failures, sessions.DurationText(max(time.Until(e.Until), time.Second)), e.Err)
}

// Unwrap lets errors.Is find what it wraps.
func (e *BreakerError) Unwrap() []error { return []error{fault.ErrUnavailable, e.Err} }

// UseCounter counts the operations that run in a browser, and lets it end once. It is safe for concurrent use.
type UseCounter struct {
	mu     sync.Mutex
	ending chan struct{}
	ended  bool
	count  int
	last   time.Time
}

// NewUseCounter returns a counter for a browser whose use starts now.
func NewUseCounter() *UseCounter { return &UseCounter{ending: make(chan struct{}), last: time.Now()} }

// Acquire begins an operation; false if the browser is ending. The caller ends it with Leave, or with Away.
func (u *UseCounter) Acquire() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false
	}
	u.count++
	return true
}

// Release ends an operation.
func (u *UseCounter) Release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.last = time.Now()
}

// ReleaseUnused ends an operation that only looked: it keeps nobody from being idle.
func (u *UseCounter) ReleaseUnused() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
}

// TryEnd keeps new operations out. It is false if somebody else has begun to end the browser, or if idle is more than
// zero and the browser is in use or was used within that time.
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

// IsIdle reports whether the browser is not being ended, is not in use and was not used for so long.
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

// Ending returns a channel that is closed when the browser starts to end.
func (u *UseCounter) Ending() <-chan struct{} { return u.ending }
