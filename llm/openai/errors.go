package openai

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"clank/llm"
	"clank/llm/transport"

	client "github.com/sashabaranov/go-openai"
)

// explain turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
func (m *Model) explain(err error) (reported *llm.Error, transient bool) {
	var (
		status   *transport.StatusError
		inStream *transport.StreamError
	)
	e := &llm.Error{Model: m.Name(), Err: err}
	switch {
	case errors.As(err, &status):
		transient = m.explainStatus(e, status)
	case errors.As(err, &inStream):
		transient = m.explainStream(e, inStream)
	case errors.Is(err, client.ErrReasoningToolsRequireResponses):
		e.Kind, e.Message = llm.ErrRejected, "this model uses tools only through the Responses API"
		e.Hint = "set its API to responses"
	case isLibraryRefusal(err):
		e.Kind, e.Message = llm.ErrRejected, err.Error()
	default:
		transient = m.Describe(e, err)
	}
	return e, transient
}

// isLibraryRefusal says whether the client library refused before it sent anything.
func isLibraryRefusal(err error) bool {
	for _, known := range []error{
		client.ErrReasoningModelMaxTokensDeprecated, client.ErrReasoningEffortUnsupported,
		client.ErrReasoningSamplingUnsupported, client.ErrChatCompletionInvalidModel, client.ErrContentFieldsMisused,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// explainStatus goes by the code first: servers that speak this language give the same status for different things.
func (m *Model) explainStatus(e *llm.Error, s *transport.StatusError) (transient bool) {
	meant := *s
	code := strings.ToLower(s.Code)
	switch {
	case code == "invalid_api_key", code == "authentication_error",
		s.Status == http.StatusBadRequest && strings.Contains(s.Message, "API key"):
		meant.Status = http.StatusUnauthorized
	case code == "insufficient_quota":
		meant.Status = http.StatusPaymentRequired
	}
	transient = m.Describe(e, &meant)
	e.Status = s.Status
	switch {
	case meant.Status == s.Status && isModelMissing(s):
		e.Kind, e.Message = llm.ErrNotFound, fmt.Sprintf("there is no model %q at %s", m.Model, m.Endpoint.DisplayURL)
		e.Hint = "check the name; it may have been retired, or must be downloaded there first"
	case e.Kind == llm.ErrRejected && code == "context_length_exceeded":
		e.Hint = "the conversation is too long for this model; start a new one"
	}
	return transient
}

func isModelMissing(s *transport.StatusError) bool {
	if s.Status != http.StatusNotFound && s.Status != http.StatusBadRequest {
		return false
	}
	said := strings.ToLower(s.Message)
	return s.Code == "model_not_found" || strings.Contains(said, "not a valid model") ||
		s.Status == http.StatusNotFound && strings.Contains(said, "model")
}

// waitAsked is how long to wait, as the text of an error says it: a stream that has begun has no header for that.
var waitAsked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)try again in ([0-9]+[0-9hms.]*[ms])`)
})

// explainStream is explain for an error inside an answer.
func (m *Model) explainStream(e *llm.Error, s *transport.StreamError) (transient bool) {
	s.Message = m.Clean(s.Message)
	m.Describe(e, s)
	switch s.Code {
	case "server_error", "server_is_overloaded":
		return s.Early
	case "rate_limit_exceeded", "429":
		e.Kind = llm.ErrRateLimited
		if said := waitAsked().FindStringSubmatch(s.Message); said != nil {
			wait, _ := time.ParseDuration(said[1]) // in no form that we know: as if it were not said
			e.RetryAfter = transport.SecondsDuration(wait.Seconds())
		}
		return s.Early
	case "insufficient_quota":
		e.Kind, e.Hint = llm.ErrRateLimited, "check plan and billing"
	case "invalid_prompt", "context_length_exceeded", "invalid_image", "400":
		e.Kind, e.Hint = llm.ErrRejected, ""
	}
	return false
}
