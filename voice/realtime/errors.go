package realtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/llm"
)

// refusedError is an answer to the handshake other than a connection.
type refusedError struct {
	status int
	wait   time.Duration
	err    error
}

func (e *refusedError) Error() string { return "status " + strconv.Itoa(e.status) }
func (e *refusedError) Unwrap() error { return e.err }

// serverError is a failure that the server reported.
type serverError struct{ failure }

func (e *serverError) Error() string { return cmp.Or(e.Message, e.Code, e.Type, "no reason given") }

// errResponseStalled ends a connection on which a response has stalled.
var errResponseStalled = errors.New("the response stalled")

const retryHint = "it is tried again"

// explain returns what a failure means and what to do. Its text does not contain the key.
func (s *Session) explain(err error) *llm.Error {
	e := &llm.Error{Model: s.model(), Err: err, Kind: llm.ErrUnavailable, Hint: retryHint}
	var refused *refusedError
	var failed *serverError
	switch {
	case errors.As(err, &refused):
		e.Status, e.RetryAfter = refused.status, refused.wait
		e.Message = fmt.Sprintf("the realtime server answered %d %s", refused.status, http.StatusText(refused.status))
		switch {
		case refused.status == http.StatusUnauthorized, refused.status == http.StatusForbidden:
			e.Kind, e.Hint = llm.ErrAuth, "check the key"
		case refused.status == http.StatusNotFound:
			e.Kind, e.Hint = llm.ErrNotFound, "check the address, and the model in interaction.voice.realtime.model"+
				s.deprecationHint()+"; not every server has realtime conversations"
		case refused.status == http.StatusTooManyRequests:
			e.Kind, e.Hint = llm.ErrRateLimited, "wait a moment, or look at the account's limits"
		case refused.status < http.StatusInternalServerError:
			e.Kind, e.Hint = llm.ErrRejected, "check the address and the model"
		}
	case errors.As(err, &failed):
		e.Message = "the realtime server says: " + s.clean(failed.Error())
		e.Kind, e.Hint = kindOf(failed.failure)
		if e.Kind == llm.ErrNotFound {
			e.Hint += s.deprecationHint()
		}
	case errors.Is(err, errResponseStalled), errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Message = llm.ErrTimeout, "the realtime server did not answer in time"
	default:
		e.Message = "the connection to the realtime server broke"
		if err != nil {
			e.Message += ": " + s.clean(err.Error())
		}
	}
	return e
}

// deprecationHint returns when OpenAI shuts down the model, if known.
func (s *Session) deprecationHint() string {
	if r, ok := llm.DeprecationOf(s.model()); ok {
		return " (" + r.String() + ")"
	}
	return ""
}

// clean removes the key from a text, in case a server repeats it.
func (s *Session) clean(text string) string {
	if s.Key != "" {
		text = strings.ReplaceAll(text, s.Key, "[key]")
	}
	return untrusted.ShortenLine(text, 300)
}

// kindOf classifies a failure by code or type, and returns what to do about it.
func kindOf(f failure) (llm.ErrorKind, string) {
	switch f.Code {
	case "invalid_api_key":
		return llm.ErrAuth, "check the key"
	case "model_not_found":
		return llm.ErrNotFound, "choose another model in interaction.voice.realtime.model"
	case "rate_limit_exceeded":
		return llm.ErrRateLimited, "wait a moment"
	case "insufficient_quota":
		return llm.ErrRateLimited, "the account has no credit left; see to it at the vendor's"
	case "session_expired":
		return llm.ErrCutOff, "the conversation goes on in a new one"
	}
	switch f.Type {
	case "authentication_error", "permission_error":
		return llm.ErrAuth, "check the key"
	case "rate_limit_error", "tokens", "requests":
		return llm.ErrRateLimited, "wait a moment"
	case "invalid_request_error":
		return llm.ErrRejected, "the server does not take what it was sent"
	}
	return llm.ErrUnavailable, "it may work in a moment"
}

// isFinal reports whether trying again cannot help.
func isFinal(e *llm.Error) bool {
	var failed *serverError
	if errors.As(e.Err, &failed) && failed.Code == "insufficient_quota" {
		return true
	}
	return e.Kind == llm.ErrAuth || e.Kind == llm.ErrNotFound || e.Kind == llm.ErrRejected
}
