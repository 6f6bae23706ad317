package browsermgr

import (
	"errors"
	"fmt"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
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
	// may wrap a *[chrome.PortError], a *[chrome.LockedError], a *[chrome.NotFoundError], an *[profile.ConnectError] or an
	// *[profile.RateLimitError].
	ErrUnavailable = fault.ErrUnavailable
	// ErrNavigationBlocked says that what a page asked for may not be reached. The text around it says what, and the way out.
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
