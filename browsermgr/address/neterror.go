package address

import (
	"fmt"
	"net/url"
	"strings"
)

// netErrorTexts explains Chromium's network errors, and what to do.
var netErrorTexts = map[string]string{
	"ERR_NAME_NOT_RESOLVED":          "no such host %s: check the spelling",
	"ERR_NAME_RESOLUTION_FAILED":     "the name %s could not be looked up: is there a network?",
	"ERR_CONNECTION_REFUSED":         "%s refused the connection: nothing listens there",
	"ERR_CONNECTION_RESET":           "%s broke off the connection: try again",
	"ERR_CONNECTION_CLOSED":          "%s closed the connection without an answer: try again",
	"ERR_EMPTY_RESPONSE":             "%s closed the connection without an answer: try again",
	"ERR_CONNECTION_TIMED_OUT":       "%s does not answer: try again later",
	"ERR_TIMED_OUT":                  "%s does not answer: try again later",
	"ERR_ADDRESS_UNREACHABLE":        "%s cannot be reached from here",
	"ERR_ADDRESS_INVALID":            "%s is no address that can be connected to",
	"ERR_INTERNET_DISCONNECTED":      "there is no network to reach %s",
	"ERR_NETWORK_CHANGED":            "the network changed while loading %s: try again",
	"ERR_TOO_MANY_REDIRECTS":         "%s redirects in a circle",
	"ERR_INVALID_REDIRECT":           "%s redirects to an address that is malformed",
	"ERR_UNSAFE_REDIRECT":            "%s redirects to an address that may not be opened",
	"ERR_SSL_PROTOCOL_ERROR":         "%s does not speak https properly: try http://",
	"ERR_CERT_AUTHORITY_INVALID":     "the certificate of %s is not from a known authority",
	"ERR_CERT_COMMON_NAME_INVALID":   "the certificate of %s is for another name",
	"ERR_CERT_DATE_INVALID":          "the certificate of %s is out of date",
	"ERR_PROXY_CONNECTION_FAILED":    "the proxy on the way to %s does not answer",
	"ERR_TUNNEL_CONNECTION_FAILED":   "the proxy refused the way to %s: a policy may forbid it",
	"ERR_BLOCKED_BY_CLIENT":          "loading %s was blocked by a rule in this browser",
	"ERR_BLOCKED_BY_ADMINISTRATOR":   "loading %s was blocked by the administrator's policy",
	"ERR_BLOCKED_BY_RESPONSE":        "%s forbids being shown here",
	"ERR_UNSAFE_PORT":                "the port of %s is one that browsers refuse",
	"ERR_INVALID_AUTH_CREDENTIALS":   "%s refused the user name or password",
	"ERR_HTTP_RESPONSE_CODE_FAILURE": "%s answered with an error and no page",
	"ERR_INVALID_RESPONSE":           "%s sent an answer that is not HTTP",
	"ERR_INVALID_HTTP_RESPONSE":      "%s sent an answer that is not HTTP",
	"ERR_HTTP2_PROTOCOL_ERROR":       "%s broke the HTTP/2 protocol: try again",
	"ERR_ABORTED": "loading %s was broken off: it may be a download, another load took its place, or " +
		"the browser's network process ended",
}

// NetError says why an address did not load.
type NetError struct {
	Address string
	// Code is Chromium's name of the error, such as ERR_NAME_NOT_RESOLVED.
	Code string
}

// NewNetError returns the [NetError] for Chromium's errorText of a failed load.
func NewNetError(address, errorText string) error {
	return &NetError{address, strings.TrimPrefix(errorText, "net::")}
}

// Error names the host, what happened, and what to do.
func (e *NetError) Error() string {
	host := e.Address
	if u, err := url.Parse(e.Address); err == nil && u.Host != "" {
		host = u.Host
		if strings.Contains(e.Code, "NAME_") {
			host = u.Hostname()
		}
	}
	words, ok := netErrorTexts[e.Code]
	if !ok {
		if !strings.HasPrefix(e.Code, "ERR_CERT_") && !strings.HasPrefix(e.Code, "ERR_SSL_") {
			return fmt.Sprintf("%s cannot be loaded (%s)", host, e.Code)
		}
		words = "the secure connection to %s failed"
	}
	return fmt.Sprintf(words+" (%s)", host, e.Code)
}
