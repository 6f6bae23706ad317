package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"clank/llm"

	client "github.com/sashabaranov/go-openai"
)

// explain turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
func (m *Model) explain(err error) (told *llm.Error, transient bool) {
	var (
		status    *statusError
		inStream  *streamError
		cut       *cutError
		malformed *malformedError
	)
	e := &llm.Error{Model: m.Name(), Err: err}
	switch {
	case errors.Is(err, errTimeout):
		e.Kind, e.Message = llm.ErrTimeout, fmt.Sprintf("no complete answer within %v", m.opts.Timeout)
		e.Hint = "the server may be slow or overloaded; ask again or allow more time"
	case errors.Is(err, errIdle):
		e.Kind, e.Message = llm.ErrTimeout, fmt.Sprintf("the answer stalled: nothing came for %v", m.opts.IdleTimeout)
		e.Hint = "ask again"
	case errors.As(err, &status):
		transient = m.explainStatus(e, status)
	case errors.As(err, &inStream):
		m.explainStream(e, inStream)
	case errors.As(err, &cut):
		e.Kind, e.Message, e.Hint = llm.ErrCutOff, "the answer was cut off in the middle", "ask again"
	case errors.Is(err, errNotEvents):
		e.Kind, e.Message = llm.ErrMalformed, m.shown+" answered with a web page"
		e.Hint = "check the server's address; most end in /v1"
	case errors.As(err, &malformed), errors.Is(err, errLineTooLong):
		e.Kind, e.Message = llm.ErrMalformed, "the answer could not be understood"
		e.Hint = "check that " + m.shown + " speaks the " + string(m.opts.API) + " API"
	case errors.Is(err, client.ErrReasoningToolsRequireResponses):
		e.Kind, e.Message = llm.ErrRejected, "this model uses tools only through the Responses API"
		e.Hint = "set its API to responses"
	case isLibraryRefusal(err):
		e.Kind, e.Message = llm.ErrRejected, err.Error()
	default:
		transient = m.explainNetwork(e, err)
	}
	return e, transient
}

// isLibraryRefusal says whether the client library refused before it sent
// anything.
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

func (m *Model) explainStatus(e *llm.Error, s *statusError) (transient bool) {
	e.Status, e.RetryAfter = s.status, s.retryAfter
	e.Message = fmt.Sprintf("%s answered %d: %s", m.host, s.status, orElse(s.message, http.StatusText(s.status)))
	code := strings.ToLower(s.code)
	switch {
	case s.status < http.StatusBadRequest:
		e.Kind, e.Message = llm.ErrRejected, fmt.Sprintf("%s redirects to %s", m.shown, orElse(s.location, "somewhere else"))
		e.Hint = "set the base URL to the address meant"
	case s.status == http.StatusUnauthorized, code == "invalid_api_key", code == "authentication_error",
		s.status == http.StatusBadRequest && strings.Contains(s.message, "API key"):
		e.Kind = llm.ErrAuth
		e.Message, e.Hint = "the key was not accepted by "+m.host, "set "+m.opts.KeyEnv+" to a valid key and start clank again"
		if m.opts.Key == "" {
			e.Message, e.Hint = m.host+" wants a key", "set "+m.opts.KeyEnv
		}
	case s.status == http.StatusForbidden:
		e.Kind, e.Hint = llm.ErrAuth, "the key in "+m.opts.KeyEnv+" may not use this model or this address"
	case code == "insufficient_quota", s.status == http.StatusPaymentRequired:
		e.Kind = llm.ErrRateLimited
		e.Message, e.Hint = "the account at "+m.host+" has no credit left", "check its plan and billing"
	case isModelMissing(s):
		e.Kind, e.Message = llm.ErrNotFound, fmt.Sprintf("there is no model %q at %s", m.opts.Model, m.shown)
		e.Hint = "check the name; it may have been retired, or must be downloaded there first"
	case s.status == http.StatusNotFound, s.status == http.StatusMethodNotAllowed:
		e.Kind, e.Message = llm.ErrNotFound, fmt.Sprintf("%s has no %s API", m.shown, m.opts.API)
		e.Hint = "check the server's address; most end in /v1"
	case s.status == http.StatusTooManyRequests:
		e.Kind, transient = llm.ErrRateLimited, true
		e.Message, e.Hint = "too many requests at "+m.host+": "+orElse(s.message, "no reason given"), "wait a little"
		if s.retryAfter > 0 {
			e.Hint = fmt.Sprintf("it asks to wait %v", s.retryAfter.Round(100*time.Millisecond))
		}
	case s.status == http.StatusRequestTimeout:
		e.Kind, e.Hint = llm.ErrTimeout, "ask again"
	case s.status >= http.StatusInternalServerError:
		e.Kind, e.Hint = llm.ErrUnavailable, "the trouble is on the server's side; try again later"
		transient = isPassing(s.status)
	default:
		e.Kind = llm.ErrRejected
		if code == "context_length_exceeded" || s.status == http.StatusRequestEntityTooLarge {
			e.Hint = "the conversation is too long for this model; start a new one"
		}
	}
	return transient
}

// isPassing names the statuses after which a repeated call may succeed.
func isPassing(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func isModelMissing(s *statusError) bool {
	if s.status != http.StatusNotFound && s.status != http.StatusBadRequest {
		return false
	}
	said := strings.ToLower(s.message)
	return s.code == "model_not_found" || strings.Contains(said, "not a valid model") ||
		s.status == http.StatusNotFound && strings.Contains(said, "model")
}

func (m *Model) explainStream(e *llm.Error, s *streamError) {
	s.message = m.clean(s.message)
	e.Kind, e.Hint = llm.ErrUnavailable, "ask again"
	e.Message = m.host + " broke off its answer: " + orElse(s.message, "no reason given")
	switch s.code {
	case "rate_limit_exceeded", "429":
		e.Kind = llm.ErrRateLimited
	case "insufficient_quota":
		e.Kind, e.Hint = llm.ErrRateLimited, "check plan and billing"
	case "invalid_prompt", "context_length_exceeded", "invalid_image", "400":
		e.Kind, e.Hint = llm.ErrRejected, ""
	}
}

func (m *Model) explainNetwork(e *llm.Error, err error) (transient bool) {
	e.Kind = llm.ErrUnavailable
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		host x509.HostnameError
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message, e.Hint = "nothing answers at "+m.host, "is the server running?"
		return true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message, e.Hint = m.host+" closed the connection without an answer", "ask again"
		return true
	case errors.As(err, &dns):
		e.Message, e.Hint = "there is no host "+dns.Name, "check the server's address and the network"
	case errors.As(err, &cert), errors.As(err, &host):
		e.Message, e.Hint = "the certificate of "+m.host+" is not valid", "check the base URL, or the clock of this computer"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Message, e.Hint = m.host+" does not speak TLS", "use http:// in the base URL"
	default:
		e.Message, e.Hint = m.host+" cannot be reached", "check the server's address and the network"
	}
	return false
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
