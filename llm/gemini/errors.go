package gemini

import (
	"errors"
	"net/http"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

// explain turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
func (m *Model) explain(err error) (reported *llm.Error, transient bool) {
	var (
		status   *transport.StatusError
		inStream *transport.StreamError
		rejected *rejectedError
	)
	e := &llm.Error{Model: m.Name(), Err: err}
	switch {
	case errors.As(err, &status):
		transient = m.explainStatus(e, status)
	case errors.As(err, &inStream):
		m.explainStream(e, inStream)
	case errors.As(err, &rejected):
		e.Kind, e.Message = llm.ErrRejected, rejected.Error()
	default:
		transient = m.Describe(e, err)
	}
	return e, transient
}

// rejectedError is a request that we do not send.
type rejectedError struct{ what string }

func (e *rejectedError) Error() string { return e.what }

func (m *Model) explainStatus(e *llm.Error, s *transport.StatusError) (transient bool) {
	meant := *s
	said := strings.ToLower(s.Message)
	if s.Reason == "API_KEY_INVALID" || s.Reason == "API_KEY_EXPIRED" ||
		s.Status == http.StatusBadRequest && strings.Contains(said, "api key") {
		meant.Status = http.StatusUnauthorized
	}
	transient = m.Describe(e, &meant)
	e.Status = s.Status
	switch {
	case e.Kind == llm.ErrRateLimited && s.RetryAfter == 0:
		e.Hint = "wait a little, or check the plan's quota"
	case e.Kind == llm.ErrRejected && strings.Contains(said, "token count") && strings.Contains(said, "exceed"):
		e.Hint = "the conversation is too long for this model; start a new one"
	case e.Kind == llm.ErrRejected && s.Code == "FAILED_PRECONDITION":
		e.Hint = "the vendor may not serve this place or plan; check its terms and billing"
	}
	return transient
}

func (m *Model) explainStream(e *llm.Error, s *transport.StreamError) {
	s.Message = m.Clean(s.Message)
	m.Describe(e, s)
	switch s.Code {
	case "RESOURCE_EXHAUSTED":
		e.Kind, e.RetryAfter = llm.ErrRateLimited, s.RetryAfter
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION":
		e.Kind, e.Hint = llm.ErrRejected, ""
	case "DEADLINE_EXCEEDED":
		e.Kind = llm.ErrTimeout
	}
}
