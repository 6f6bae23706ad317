package anthropic

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

// streamError is an error reported inside an answer that began well.
type streamError struct {
	reported transport.ServerError
	early    bool // nothing of the answer has come
}

// isTransient says whether the same call may well succeed if it is made again: the
// vendor is busy, and nothing has been delivered.
func (e *streamError) isTransient() bool {
	return e.early && (e.reported.Code == "overloaded_error" || e.reported.Code == "api_error")
}

func (e *streamError) Error() string { return "error in the stream: " + e.reported.Message }

// explain turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
func (m *Model) explain(err error) (reported *llm.Error, transient bool) {
	e := &llm.Error{Model: m.Name(), Err: err}
	if inStream, ok := errors.AsType[*streamError](err); ok {
		m.explainStream(e, inStream.reported)
		return e, inStream.isTransient()
	}
	transient = m.Describe(e, err)
	if status, ok := errors.AsType[*transport.StatusError](err); ok && status.Status == http.StatusBadRequest {
		m.explainRefused(e, status)
	}
	return e, transient
}

// explainRefused tells apart the reasons that all come with status 400.
func (m *Model) explainRefused(e *llm.Error, s *transport.StatusError) {
	said := strings.ToLower(s.Message)
	switch {
	case strings.Contains(said, "credit balance"):
		e.Kind = llm.ErrRateLimited
		e.Message, e.Hint = "the account at "+m.Endpoint.Host+" has no credit left", "check its plan and billing"
	case strings.Contains(said, "prompt is too long"), strings.Contains(said, "exceed context limit"):
		e.Hint = "the conversation is too long for this model; start a new one"
	case strings.Contains(said, "does not support") && strings.Contains(said, "tool"), strings.Contains(said, "tool type"):
		e.Hint = "this model does not work a screen with these tools; choose another model or other tools"
	}
}

func (m *Model) explainStream(e *llm.Error, reported transport.ServerError) {
	said := cmp.Or(m.Clean(reported.Message), "no reason given")
	e.Kind, e.Hint = llm.ErrUnavailable, "ask again"
	e.Message = m.Endpoint.Host + " broke off its answer: " + said
	switch reported.Code {
	case "rate_limit_error":
		e.Kind = llm.ErrRateLimited
	case "billing_error":
		e.Kind, e.Hint = llm.ErrRateLimited, "check plan and billing"
	case "authentication_error", "permission_error":
		e.Kind, e.Hint = llm.ErrAuth, "check the key in "+m.Endpoint.KeyEnv
	case "timeout_error":
		e.Kind = llm.ErrTimeout
	case "invalid_request_error", "request_too_large":
		e.Kind, e.Hint = llm.ErrRejected, ""
	}
}
