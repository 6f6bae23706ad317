package transport

import (
	"cmp"
	"compress/flate"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"clank/llm"
)

// DescribeError fills e with what can be said of err without knowing the vendor: waiting, cut or malformed answers,
// statuses by their number, the network. It says whether the same call may well succeed if it is made again.
func DescribeError(e *llm.Error, err error, at Endpoint, p RetryPolicy) (transient bool) {
	var (
		status    *StatusError
		cut       *TruncatedError
		malformed *MalformedError
		inStream  *StreamError
		unpacked  flate.CorruptInputError
	)
	switch {
	case errors.Is(err, ErrTimeout):
		e.Kind, e.Message = llm.ErrTimeout, fmt.Sprintf("no complete answer within %v", p.Timeout)
		e.Hint = "the server may be slow or overloaded; ask again or allow more time"
	case errors.Is(err, ErrIdle):
		e.Kind, e.Message = llm.ErrTimeout, fmt.Sprintf("the answer stalled: nothing came for %v", p.Idle)
		e.Hint = "ask again"
	case errors.As(err, &status):
		return describeStatus(e, status, at)
	case errors.As(err, &inStream):
		e.Kind, e.Hint = llm.ErrUnavailable, "ask again"
		e.Message = at.Host + " broke off its answer: " + cmp.Or(inStream.Message, "no reason given")
	case errors.Is(err, errEmpty):
		e.Kind, e.Message, e.Hint = llm.ErrCutOff, at.DisplayURL+" answered with nothing", "ask again, or "+at.addressHint()
	case errors.As(err, &cut):
		e.Kind, e.Message, e.Hint = llm.ErrCutOff, "the answer was cut off in the middle", "ask again"
	case errors.Is(err, errWebPage):
		e.Kind, e.Message, e.Hint = llm.ErrMalformed, at.DisplayURL+" answered with a web page", at.addressHint()
	case errors.Is(err, ErrTooLong):
		e.Kind, e.Message, e.Hint = llm.ErrMalformed, ErrTooLong.Error(), "choose another model, or check "+at.DisplayURL
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &unpacked):
		e.Kind, e.Message, e.Hint = llm.ErrMalformed, at.Host+" sent a broken answer: it cannot be decompressed", "ask again"
	case errors.Is(err, errNotEvents), errors.As(err, &malformed):
		e.Kind, e.Message = llm.ErrMalformed, "the answer could not be understood"
		e.Hint = "check that " + at.DisplayURL + " speaks the " + at.API
	default:
		return describeNetwork(e, err, at.Host)
	}
	return false
}

func describeStatus(e *llm.Error, s *StatusError, at Endpoint) (transient bool) {
	e.Status, e.RetryAfter = s.Status, s.RetryAfter
	e.Message = fmt.Sprintf("%s answered %d: %s", at.Host, s.Status,
		cmp.Or(s.Message, cmp.Or(http.StatusText(s.Status), "no reason given")))
	said := strings.ToLower(s.Message)
	switch {
	case s.Status < http.StatusBadRequest:
		e.Kind, e.Message = llm.ErrRejected,
			fmt.Sprintf("%s redirects to %s", at.DisplayURL, cmp.Or(s.Location, "somewhere else"))
		e.Hint = "set the base URL to the address meant"
	case s.Status == http.StatusUnauthorized:
		e.Kind = llm.ErrAuth
		e.Message, e.Hint = "the key was not accepted by "+at.Host, "set "+at.KeyEnv+" to a valid key and start clank again"
		if !at.HasKey {
			e.Message, e.Hint = at.Host+" wants a key", "set "+at.KeyEnv
		}
	case s.Status == http.StatusForbidden:
		e.Kind, e.Hint = llm.ErrAuth, "the key in "+at.KeyEnv+" may not use this model or this address"
	case s.Status == http.StatusPaymentRequired:
		e.Kind = llm.ErrRateLimited
		e.Message, e.Hint = "the account at "+at.Host+" has no credit left", "check its plan and billing"
	case s.Status == http.StatusNotFound && strings.Contains(said, "model"):
		e.Kind, e.Message = llm.ErrNotFound, fmt.Sprintf("there is no model %q at %s", at.Model, at.DisplayURL)
		e.Hint = at.otherModelHint()
	case s.Status == http.StatusNotFound, s.Status == http.StatusMethodNotAllowed:
		e.Kind, e.Message, e.Hint = llm.ErrNotFound, fmt.Sprintf("%s has no %s", at.DisplayURL, at.API), at.addressHint()
	case s.Status == http.StatusTooManyRequests:
		e.Kind, transient = llm.ErrRateLimited, true
		e.Message, e.Hint = "too many requests at "+at.Host+": "+cmp.Or(s.Message, "no reason given"), "wait a little"
		if s.RetryAfter > 0 {
			e.Hint = fmt.Sprintf("it asks to wait %v", s.RetryAfter.Round(100*time.Millisecond))
		}
	case s.Status == http.StatusRequestTimeout:
		e.Kind, e.Hint = llm.ErrTimeout, "ask again"
	case s.Status >= http.StatusInternalServerError:
		e.Kind, e.Hint = llm.ErrUnavailable, "the trouble is on the server's side; try again later"
		transient = s.Status <= http.StatusGatewayTimeout && s.Status != http.StatusNotImplemented ||
			s.Status == statusOverloaded
	default:
		e.Kind = llm.ErrRejected
		if s.Status == http.StatusRequestEntityTooLarge {
			e.Hint = "the conversation is too long for this model; start a new one"
		}
	}
	return transient
}

// statusOverloaded is what some vendors answer when they have too much to do.
const statusOverloaded = 529

func describeNetwork(e *llm.Error, err error, at string) (transient bool) {
	e.Kind = llm.ErrUnavailable
	var (
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		host x509.HostnameError
	)
	switch {
	case errors.Is(err, errRefused):
		e.Message, e.Hint = "nothing answers at "+at, "is the server running?"
		return true
	case errors.Is(err, errReset), errors.Is(err, errClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Message, e.Hint = at+" closed the connection without an answer", "ask again"
		return true
	case errors.As(err, &dns):
		e.Message, e.Hint = "there is no host "+dns.Name, "check the server's address and the network"
	case errors.As(err, &cert), errors.As(err, &host):
		e.Message, e.Hint = "the certificate of "+at+" is not valid", "check the base URL, or the clock of this computer"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		e.Message, e.Hint = at+" does not speak TLS", "use http:// in the base URL"
	default:
		e.Message, e.Hint = at+" cannot be reached", "check the server's address and the network"
	}
	return false
}
