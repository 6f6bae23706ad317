package gemini

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
)

// explain turns what went wrong into what a person reads, and says whether the
// same call may well succeed if it is made again.
func (m *Model) explain(err error) (told *llm.Error, transient bool) {
	var (
		status    *statusError
		inStream  *streamError
		cut       *cutError
		malformed *malformedError
		rejected  *rejectedError
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
		e.Hint = "check the server's address"
	case errors.As(err, &malformed), errors.Is(err, errLineTooLong):
		e.Kind, e.Message = llm.ErrMalformed, "the answer could not be understood"
		e.Hint = "check that " + m.shown + " speaks the Gemini API"
	case errors.As(err, &rejected):
		e.Kind, e.Message = llm.ErrRejected, rejected.Error()
	default:
		transient = m.explainNetwork(e, err)
	}
	return e, transient
}

// rejectedError is a request that we do not send.
type rejectedError struct{ what string }

func (e *rejectedError) Error() string { return e.what }

func (m *Model) explainStatus(e *llm.Error, s *statusError) (transient bool) {
	e.Status, e.RetryAfter = s.status, s.retryAfter
	e.Message = fmt.Sprintf("%s answered %d: %s", m.host, s.status, orElse(s.told.message, http.StatusText(s.status)))
	said := strings.ToLower(s.told.message)
	switch {
	case s.status < http.StatusBadRequest:
		e.Kind, e.Message = llm.ErrRejected, fmt.Sprintf("%s redirects to %s", m.shown, orElse(s.location, "somewhere else"))
		e.Hint = "set the base URL to the address meant"
	case s.status == http.StatusUnauthorized, s.told.reason == "API_KEY_INVALID", s.told.reason == "API_KEY_EXPIRED",
		s.status == http.StatusBadRequest && strings.Contains(said, "api key"):
		e.Kind = llm.ErrAuth
		e.Message, e.Hint = "the key was not accepted by "+m.host, "set "+m.opts.KeyEnv+" to a valid key and start clank again"
		if m.opts.Key == "" {
			e.Message, e.Hint = m.host+" wants a key", "set "+m.opts.KeyEnv
		}
	case s.status == http.StatusForbidden:
		e.Kind, e.Hint = llm.ErrAuth, "the key in "+m.opts.KeyEnv+" may not use this model or this address"
	case s.status == http.StatusNotFound, s.status == http.StatusMethodNotAllowed:
		e.Kind, e.Hint = llm.ErrNotFound, "check the server's address"
		if strings.Contains(said, "model") {
			e.Message = fmt.Sprintf("there is no model %q at %s", m.opts.Model, m.shown)
			e.Hint = "check the name; it may have been retired"
		}
	case s.status == http.StatusTooManyRequests:
		e.Kind, transient = llm.ErrRateLimited, true
		e.Message, e.Hint = "too many requests at "+m.host+": "+orElse(s.told.message, "no reason given"), "wait a little, or check the plan's quota"
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
		e.Hint = rejectionHint(s, said)
	}
	return transient
}

// rejectionHint says what to do about a request that was refused as invalid.
func rejectionHint(s *statusError, said string) string {
	switch {
	case s.status == http.StatusRequestEntityTooLarge,
		strings.Contains(said, "token count") && strings.Contains(said, "exceed"):
		return "the conversation is too long for this model; start a new one"
	case s.told.status == "FAILED_PRECONDITION":
		return "the vendor may not serve this place or plan; check its terms and billing"
	}
	return ""
}

// isPassing names the statuses after which a repeated call may succeed.
func isPassing(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func (m *Model) explainStream(e *llm.Error, s *streamError) {
	e.Kind, e.Hint = llm.ErrUnavailable, "ask again"
	e.Message = m.host + " broke off its answer: " + orElse(m.clean(s.told.message), "no reason given")
	switch s.told.status {
	case "RESOURCE_EXHAUSTED":
		e.Kind, e.RetryAfter = llm.ErrRateLimited, retryAfter(nil, s.told, time.Time{})
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION":
		e.Kind, e.Hint = llm.ErrRejected, ""
	case "DEADLINE_EXCEEDED":
		e.Kind = llm.ErrTimeout
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
