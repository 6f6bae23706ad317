package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
	"clank/sessions/approval"
)

// ioTimeout bounds reading a request from a client and writing the response.
const ioTimeout = 30 * time.Second

// OKAnswer is the minimal answer; other answers embed it.
type OKAnswer struct {
	OK bool `json:"ok"`
}

// TargetAnswer is the answer of an operation on a tab.
type TargetAnswer struct {
	OKAnswer

	TargetID string `json:"targetId"`
}

// LocatedAnswer is a TargetAnswer with the tab's address.
type LocatedAnswer struct {
	TargetAnswer

	URL string `json:"url"`
}

// errorAnswer is the JSON form of an error.
type errorAnswer struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Details any    `json:"details,omitempty"`
}

// WriteError writes the answer that [ClassifyError] returns for an error, without credentials.
func WriteError(w http.ResponseWriter, err error) {
	f := ClassifyError(err)
	if pause, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Until(pause.Until), 0)/time.Second)+1))
	}
	WriteJSON(w, f.Status, errorAnswer{
		Error: RedactCredentials(f.Err.Error()), Code: f.Code, Reason: f.Reason,
		Details: f.Details,
	})
}

// WriteJSON writes a value as JSON. If it cannot be encoded, an error is written instead.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ioTimeout))
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // if it fails, the client has gone
}

// NonNilList returns list, or an empty one for nil, so that JSON has [] instead of null.
func NonNilList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

var (
	userInfoPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b((?:wss?|https?)://)[^/@\s"']+@`)
	})
	secretQueryPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([?&](?:[a-z_-]*(?:token|key|secret|password|auth|credential|signature))=)[^&\s"'#]+`)
	})
)

// RedactCredentials removes credentials from URLs in a text.
func RedactCredentials(text string) string {
	return secretQueryPattern().ReplaceAllString(userInfoPattern().ReplaceAllString(text, "${1}[redacted]@"),
		"${1}[redacted]")
}

// StatusError is an error with its HTTP answer.
type StatusError struct {
	Status  int    // HTTP status
	Code    string // ACT_…; "" for none
	Reason  string // stable identifier of the cause; "" for none
	Details any    // encoded as JSON; nil for none
	Err     error  // its text is sent, without credentials; not nil
}

func (f *StatusError) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *StatusError) Unwrap() error { return f.Err }

// ErrServerClosing is the cause of requests cancelled because the server closes.
var ErrServerClosing = errors.New("the control server is closing")

// errorStatuses maps sentinel errors to HTTP statuses. The first match counts.
var errorStatuses = []struct {
	err    error
	status int
}{
	{page.ErrInvalid, http.StatusBadRequest},
	{page.ErrSecret, http.StatusConflict},
	{page.ErrForeignClipboard, http.StatusConflict},
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

// errorReasons maps errors to stable identifiers for programs. The first match counts.
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

// reasonLaunchPaused is the reason while the breaker for starting a browser is open.
const reasonLaunchPaused = "launch_paused"

// ClassifyError returns the HTTP answer of an error: its own if it is a StatusError, otherwise by the errors it wraps,
// otherwise status 500.
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
	if _, ok := errors.AsType[*approval.DeniedError](err); ok {
		return StatusError{Status: http.StatusForbidden, Reason: ReasonConsentRefused, Err: err}
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

// classifyNoDisplay answers that a visible browser cannot be started here.
func classifyNoDisplay(err error) (StatusError, bool) {
	e, ok := errors.AsType[*browsermgr.NoDisplayError](err)
	if !ok {
		return StatusError{}, false
	}
	return StatusError{
		Status: http.StatusConflict, Reason: "no_display_for_headed_profile", Err: err,
		Details: map[string]any{
			"profile": e.Profile, "requestedHeadless": false, "headlessSource": e.HeadlessSource, "displayPresent": false,
		},
	}, true
}
