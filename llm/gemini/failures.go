package gemini

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// statusError is an answer with a status other than 2xx.
type statusError struct {
	status     int
	told       toldError // its message without secrets, one line
	location   string    // where a redirect points
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return "status " + http.StatusText(e.status) + ": " + e.told.message
}

func newStatusError(resp *http.Response, body []byte, clean func(string) string) *statusError {
	told := readErrorBody(body)
	told.message = clean(told.message)
	return &statusError{
		status: resp.StatusCode, told: told,
		location:   clean(oneLine(resp.Header.Get("Location"))),
		retryAfter: retryAfter(resp.Header, told, time.Now()),
	}
}

// streamError is an error told inside an answer that began well.
type streamError struct{ told toldError }

func (e *streamError) Error() string { return "error in the stream: " + e.told.message }

// cutError is a stream that ended before its answer did.
type cutError struct{ err error }

func (e *cutError) Error() string {
	if e.err == nil {
		return "the stream ended early"
	}
	return "the stream ended early: " + e.err.Error()
}

func (e *cutError) Unwrap() error { return e.err }

// malformedError is an answer that is not what the API promises.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return e.err.Error() }
func (e *malformedError) Unwrap() error { return e.err }

// toldError is google.rpc.Status, as the API tells of failures.
type toldError struct {
	status     string // such as RESOURCE_EXHAUSTED
	reason     string // of google.rpc.ErrorInfo, such as API_KEY_INVALID
	message    string
	retryDelay string // of google.rpc.RetryInfo, such as "34.5s"
}

// readErrorBody finds what a server has to say: {"error":{…}}, an array of it,
// a bare message, or text that is not JSON at all.
func readErrorBody(body []byte) toldError {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var wrapped struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &wrapped) != nil {
		return toldError{message: plainText(body)}
	}
	var status struct {
		Status  string            `json:"status"`
		Message string            `json:"message"`
		Details []json.RawMessage `json:"details"`
	}
	if json.Unmarshal(wrapped.Error, &status) != nil {
		return toldError{message: oneLine(orElse(wrapped.Message, plainText(wrapped.Error)))}
	}
	told := toldError{status: status.Status, message: oneLine(status.Message)}
	for _, raw := range status.Details {
		var detail struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		}
		if json.Unmarshal(raw, &detail) != nil {
			continue
		}
		told.reason = orElse(detail.Reason, told.reason)
		told.retryDelay = orElse(detail.RetryDelay, told.retryDelay)
	}
	return told
}

// plainText is what text of unknown kind says; nothing if it is a page of a
// proxy, of no use to a reader.
func plainText(body []byte) string {
	s := string(body)
	var quoted string
	if json.Unmarshal(body, &quoted) == nil {
		s = quoted
	}
	if lower := strings.ToLower(s); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
		return ""
	}
	return oneLine(s)
}

// maxTold bounds what is repeated of a server's words.
const maxTold = 300

// oneLine makes foreign text fit for one line of a message.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if utf8.RuneCountInString(s) > maxTold {
		s = string([]rune(s)[:maxTold]) + "…"
	}
	return s
}

// keyLike is what keys look like, masked or not.
var keyLike = regexp.MustCompile(`\b(?:(?:sk|gsk|xai|hf)[-_]|AIza|AQ\.)[A-Za-z0-9_*\-.]{8,}`)

// minSecret keeps placeholders ("none") from being cut out of plain words.
const minSecret = 8

// cleaner removes the key, a password in the base URL, and what looks like a
// key from text of a server.
func cleaner(key string, u *url.URL) func(string) string {
	var secrets []string
	if len(key) >= minSecret {
		secrets = append(secrets, key)
	}
	if password, ok := u.User.Password(); ok && len(password) >= minSecret {
		secrets = append(secrets, password, url.QueryEscape(password))
	}
	return func(s string) string {
		for _, secret := range secrets {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
		return keyLike.ReplaceAllString(s, "[key]")
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
