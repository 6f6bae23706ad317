package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"clank/browsermgr/cdp"
)

// ErrEndpointBlocked says that a rule of ours forbids to connect there.
var ErrEndpointBlocked = errors.New("browser endpoint blocked by policy")

var errNoWebSocket = errors.New("the answer names no WebSocket (webSocketDebuggerUrl): this is not a browser's DevTools")

var errNoResponse = errors.New("it accepts connections, but answers no command: it is stopped, or hangs")

// Layer is a step on the way to a browser.
type Layer string

// The layers, from the outside in.
const (
	LayerDiscovery Layer = "discovery" // GET /json/version
	LayerWebSocket Layer = "websocket" // the LayerWebSocket and the first command over it
)

// ConnectAttempt is one step that failed.
type ConnectAttempt struct {
	Layer   Layer
	Address string // the address, redacted
	Err     error
}

// ConnectError says that a browser could not be reached, and at which layer.
type ConnectError struct {
	Endpoint string           // redacted
	Attempts []ConnectAttempt // of the last round
	Rounds   int
}

func (e *ConnectError) Error() string {
	parts := make([]string, 0, len(e.Attempts))
	for _, t := range e.Attempts {
		parts = append(parts, fmt.Sprintf("%s at %s: %v", t.Layer, t.Address, t.Err))
	}
	text := fmt.Sprintf("no browser at %s: %s", e.Endpoint, strings.Join(parts, "; "))
	if e.Rounds > 1 {
		text += fmt.Sprintf(" (tried %d times)", e.Rounds)
	}
	return text
}

// Unwrap lets errors.Is and errors.As look into the tries.
func (e *ConnectError) Unwrap() []error {
	errs := make([]error, 0, len(e.Attempts))
	for _, t := range e.Attempts {
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

// presentableError makes an error of the network fit to be shown: without the address, which may hold a secret, and
// short.
func presentableError(ctx context.Context, host string, err error) error {
	if status, ok := errors.AsType[*cdp.StatusError](err); ok {
		return statusError(host, status.Code)
	}
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		err = withURL.Err
	}
	switch text := err.Error(); {
	case errors.Is(err, errNoResponse):
		return err
	case errors.Is(err, cdp.ErrNoAnswer):
		return errNoResponse
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return fmt.Errorf("no answer in time: what listens there is silent, or the way to it is slow: %w", cmp.Or(context.Cause(ctx), err))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "first record does not look like a TLS handshake"):
		return errors.New("it does not speak TLS: use http:// or ws://")
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "readLoopPeekFailLocked"): // the latter: it spoke first
		return errors.New("what answers there does not speak HTTP")
	default:
		return err
	}
}

func statusError(host string, code int) error {
	if code == http.StatusTooManyRequests {
		return &RateLimitError{Host: host}
	}
	return &cdp.StatusError{Code: code}
}

// isFinal reports whether trying again is of no use.
func isFinal(err error) bool {
	if _, limited := errors.AsType[*RateLimitError](err); limited || errors.Is(err, ErrEndpointBlocked) {
		return true
	}
	status, ok := errors.AsType[*cdp.StatusError](err)
	return ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}
