package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/tabname"
	"clank/browsermgr/transfer"
)

// failure is an error that knows how it is told to a client.
type failure struct {
	status  int
	code    string // ACT_…; "" for none
	reason  string // stable word for the cause; "" for none
	details any
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// statuses says how the errors that packages below can be told apart by are answered. The first that fits counts.
var statuses = []struct {
	err    error
	status int
}{
	{page.ErrInvalid, http.StatusBadRequest},
	{browsermgr.ErrNoProfile, http.StatusNotFound},
	{tabname.ErrNotFound, http.StatusNotFound},
	{tabname.ErrAmbiguous, http.StatusConflict},
	{browsermgr.ErrProfileExists, http.StatusConflict},
	{browsermgr.ErrNotRunning, http.StatusConflict},
	{browsermgr.ErrUnavailable, http.StatusConflict},
	{browsermgr.ErrDisabled, http.StatusServiceUnavailable},
	{browsermgr.ErrNoPort, http.StatusInsufficientStorage},
	{transfer.ErrElsewhere, http.StatusConflict},
	{transfer.ErrNoCapture, http.StatusNotImplemented},
	{browsermgr.ErrClosed, http.StatusServiceUnavailable},
	{page.ErrBrowserGone, http.StatusConflict},
	{errClosing, http.StatusServiceUnavailable},
}

// reasons are stable words for causes, for programs that choose by them. The first that fits counts.
var reasons = []struct {
	err    error
	reason string
}{
	{page.ErrUnknownRef, "unknown_ref"},
	{page.ErrNotInteractable, "not_interactable"},
	{page.ErrTabCrashed, "tab_crashed"},
	{context.DeadlineExceeded, "timeout"},
}

// breakerOpen is the reason while a browser that does not start is not tried again.
const breakerOpen = "launch_paused"

// classify finds out how an error is answered.
func classify(err error) failure {
	if f, ok := errors.AsType[*failure](err); ok {
		out := *f
		out.err = err
		return out
	}
	f := classifyPlain(err)
	for _, r := range reasons {
		if f.reason == "" && errors.Is(err, r.err) {
			f.reason = r.reason
		}
	}
	return f
}

// classifyPlain is classify for errors that do not know it themselves.
func classifyPlain(err error) failure {
	if _, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		return failure{status: http.StatusConflict, reason: breakerOpen, err: err}
	}
	if f, ok := noDisplay(err); ok {
		return f
	}
	switch {
	case errors.Is(err, browsermgr.ErrPolicyBlocked):
		return failure{status: http.StatusForbidden, reason: "native_policy_blocked", err: err}
	case errors.Is(err, browsermgr.ErrEndpointBlocked):
		return failure{status: http.StatusBadRequest, err: fmt.Errorf("browser endpoint blocked by policy: %w", err)}
	case errors.Is(err, page.ErrTabGone):
		err = fmt.Errorf("%w: %w", tabname.ErrNotFound, err)
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return failure{status: s.status, err: err}
		}
	}
	return failure{status: http.StatusInternalServerError, err: err}
}

// problem is how an error is told.
type problem struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Details any    `json:"details,omitempty"`
}

func answerError(w http.ResponseWriter, err error) {
	f := classify(err)
	if pause, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Until(pause.Until), 0)/time.Second)+1))
	}
	answer(w, f.status, problem{Error: redact(f.err.Error()), Code: f.code, Reason: f.reason, Details: f.details})
}

func answer(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ioLimit))
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that does not take it has gone
}

// abandoned says whether nobody waits for the answer any more.
func abandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errClientGone) }

var (
	userInfo    = regexp.MustCompile(`(?i)\b((?:wss?|https?)://)[^/@\s"']+@`)
	secretQuery = regexp.MustCompile(`(?i)([?&](?:[a-z_-]*(?:token|key|secret|password|auth|credential|signature))=)[^&\s"'#]+`)
)

// redact takes credentials out of the addresses in a text.
func redact(text string) string {
	return secretQuery.ReplaceAllString(userInfo.ReplaceAllString(text, "${1}[redacted]@"), "${1}[redacted]")
}
