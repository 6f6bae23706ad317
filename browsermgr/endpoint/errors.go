package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"clank/browsermgr/cdp"
)

// ErrBlocked says that a rule of ours forbids to connect there.
var ErrBlocked = errors.New("browser endpoint blocked by policy")

var errNoWebSocket = errors.New("the answer names no WebSocket (webSocketDebuggerUrl): this is not a browser's DevTools")

var errMute = errors.New("it accepts connections, but answers no command: it is stopped, or hangs")

// Layer is a step on the way to a browser.
type Layer string

// The layers, from the outside in.
const (
	Discovery Layer = "discovery" // GET /json/version
	WebSocket Layer = "websocket" // the WebSocket and the first command over it
)

// Try is one step that failed.
type Try struct {
	Layer Layer
	At    string // the address, redacted
	Err   error
}

// Error says that a browser could not be reached, and at which layer.
type Error struct {
	Endpoint string // redacted
	Tries    []Try  // of the last round
	Rounds   int
}

func (e *Error) Error() string {
	parts := make([]string, 0, len(e.Tries))
	for _, t := range e.Tries {
		parts = append(parts, fmt.Sprintf("%s at %s: %v", t.Layer, t.At, t.Err))
	}
	text := fmt.Sprintf("no browser at %s: %s", e.Endpoint, strings.Join(parts, "; "))
	if e.Rounds > 1 {
		text += fmt.Sprintf(" (tried %d times)", e.Rounds)
	}
	return text
}

// Unwrap lets errors.Is and errors.As look into the tries.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, len(e.Tries))
	for _, t := range e.Tries {
		errs = append(errs, t.Err)
	}
	return errs
}

// RateLimitError says that the provider of a hosted browser wants no further session now. It is not tried again.
type RateLimitError struct{ Host string }

func (e *RateLimitError) Error() string {
	way := "wait until another session has ended there, or raise the plan's limit"
	if e.Host == "browserbase.com" || strings.HasSuffix(e.Host, ".browserbase.com") {
		way = "Browserbase bounds the sessions of an account that run at once: end one in its dashboard, or raise the plan"
	}
	return fmt.Sprintf("%s refused with HTTP 429, its rate limit; do not retry at once: %s", e.Host, way)
}

// clean makes an error of the network fit to be shown: without the address, which may hold a secret, and short.
func clean(ctx context.Context, host string, err error) error {
	if status, ok := errors.AsType[*cdp.StatusError](err); ok {
		return statusError(host, status.Code)
	}
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		err = withURL.Err
	}
	switch text := err.Error(); {
	case errors.Is(err, errMute):
		return err
	case errors.Is(err, cdp.ErrNoAnswer):
		return errMute
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return fmt.Errorf("no answer in time: what listens there is silent, or the way to it is slow: %w", cause(ctx, err))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "first record does not look like a TLS handshake"):
		return errors.New("it does not speak TLS: use http:// or ws://")
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "readLoopPeekFailLocked"): // the latter: it spoke first
		return errors.New("what answers there does not speak HTTP")
	default:
		return err
	}
}

func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func statusError(host string, code int) error {
	if code == http.StatusTooManyRequests {
		return &RateLimitError{Host: host}
	}
	return &cdp.StatusError{Code: code}
}

// final reports whether trying again is of no use.
func final(err error) bool {
	if _, limited := errors.AsType[*RateLimitError](err); limited || errors.Is(err, ErrBlocked) {
		return true
	}
	status, ok := errors.AsType[*cdp.StatusError](err)
	return ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}
