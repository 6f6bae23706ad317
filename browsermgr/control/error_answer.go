package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
)

// StatusError is an error that knows how it is told to a client.
type StatusError struct {
	Status  int    // of HTTP
	Code    string // ACT_…; "" for none
	Reason  string // stable word for the cause; "" for none
	Details any    // written as WriteJSON; nil for none
	Err     error  // what is told, without the credentials in it; not nil
}

func (f *StatusError) Error() string { return f.Err.Error() }

// Unwrap gives what the failure is about.
func (f *StatusError) Unwrap() error { return f.Err }

// ErrServerClosing ends the requests of a server that closes.
var ErrServerClosing = errors.New("the control server is closing")

// errorStatuses says how the errors that packages below can be told apart by are answered. The first that fits counts.
var errorStatuses = []struct {
	err    error
	status int
}{
	{page.ErrInvalid, http.StatusBadRequest},
	{page.ErrSecret, http.StatusConflict},
	{profile.ErrNotFound, http.StatusNotFound},
	{profile.ErrTabNotFound, http.StatusNotFound},
	{profile.ErrAmbiguousTab, http.StatusConflict},
	{profile.ErrExists, http.StatusConflict},
	{browsermgr.ErrNotRunning, http.StatusConflict},
	{browsermgr.ErrUnavailable, http.StatusConflict},
	{browsermgr.ErrDisabled, http.StatusServiceUnavailable},
	{profile.ErrNoPort, http.StatusInsufficientStorage},
	{files.ErrOtherDocument, http.StatusConflict},
	{files.ErrNotCaptured, http.StatusNotImplemented},
	{browsermgr.ErrClosed, http.StatusServiceUnavailable},
	{page.ErrBrowserGone, http.StatusConflict},
	{ErrServerClosing, http.StatusServiceUnavailable},
}

// errorReasons are stable words for causes, for programs that choose by them. The first that fits counts.
var errorReasons = []struct {
	err    error
	reason string
}{
	{page.ErrUnknownRef, "unknown_ref"},
	{page.ErrNotInteractable, "not_interactable"},
	{page.ErrSecret, "secret_held"},
	{page.ErrTabCrashed, "tab_crashed"},
	{context.DeadlineExceeded, "timeout"},
}

// reasonLaunchPaused is the reason while a browser that does not start is not tried again.
const reasonLaunchPaused = "launch_paused"

// ClassifyError finds out how an error is answered: as it says itself, or by what it wraps; otherwise with 500.
func ClassifyError(err error) StatusError {
	if f, ok := errors.AsType[*StatusError](err); ok {
		out := *f
		out.Err = err
		return out
	}
	f := classifyByCause(err)
	for _, r := range errorReasons {
		if f.Reason == "" && errors.Is(err, r.err) {
			f.Reason = r.reason
		}
	}
	return f
}

// classifyByCause classifies errors that do not carry their own status.
func classifyByCause(err error) StatusError {
	if _, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		return StatusError{Status: http.StatusConflict, Reason: reasonLaunchPaused, Err: err}
	}
	if f, ok := classifyNoDisplay(err); ok {
		return f
	}
	switch {
	case errors.Is(err, chrome.ErrForbiddenByAdmin):
		return StatusError{Status: http.StatusForbidden, Reason: "native_policy_blocked", Err: err}
	case errors.Is(err, profile.ErrEndpointBlocked):
		return StatusError{Status: http.StatusBadRequest, Err: err}
	case errors.Is(err, page.ErrTabGone):
		err = fmt.Errorf("%w: %w", profile.ErrTabNotFound, err)
	}
	for _, s := range errorStatuses {
		if errors.Is(err, s.err) {
			return StatusError{Status: s.status, Err: err}
		}
	}
	return StatusError{Status: http.StatusInternalServerError, Err: err}
}

// classifyNoDisplay tells why a browser with a window cannot be started here.
func classifyNoDisplay(err error) (StatusError, bool) {
	e, ok := errors.AsType[*browsermgr.NoDisplayError](err)
	if !ok {
		return StatusError{}, false
	}
	return StatusError{Status: http.StatusConflict, Reason: "no_display_for_headed_profile", Err: err, Details: map[string]any{
		"profile": e.Profile, "requestedHeadless": false, "headlessSource": e.HeadlessSource, "displayPresent": false,
	}}, true
}
