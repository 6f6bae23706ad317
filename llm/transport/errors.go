package transport

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// StatusError is an answer with a status other than 2xx. Its texts hold no secret and are one line each.
type StatusError struct {
	Status     int
	Code       string // of the error object, or its type
	Reason     string // finer than the code, where the server gives one
	Message    string
	Location   string        // where a redirect points
	RetryAfter time.Duration // 0 if the server does not say
}

func (e *StatusError) Error() string {
	return "status " + strconv.Itoa(e.Status) + ": " + e.Message
}

func newStatusError(resp *http.Response, body []byte, clean func(string) string) *StatusError {
	e := ParseServerError(body)
	return &StatusError{
		Status: resp.StatusCode, Code: e.Code, Reason: e.Reason, Message: clean(e.Message),
		Location:   clean(OneLine(resp.Header.Get("Location"))),
		RetryAfter: cmp.Or(ParseRetryAfter(resp.Header, time.Now()), e.RetryAfter),
	}
}

// TruncatedError is a stream that ended before its answer did.
type TruncatedError struct{ Err error }

func (e *TruncatedError) Error() string {
	if e.Err == nil {
		return "the stream ended early"
	}
	return "the stream ended early: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *TruncatedError) Unwrap() error { return e.Err }

// MalformedError is an answer that is not what the API promises.
type MalformedError struct{ Err error }

func (e *MalformedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *MalformedError) Unwrap() error { return e.Err }

// StreamError is an error reported inside an answer that began well.
type StreamError struct {
	ServerError

	Early bool // nothing of the answer has been delivered
}

func (e *StreamError) Error() string { return "error in the stream: " + e.Message }

// ServerError is what a server says of an error.
type ServerError struct {
	Code       string        // or status, or type
	Message    string        // one line
	Reason     string        // of google.rpc.ErrorInfo
	RetryAfter time.Duration // of google.rpc.RetryInfo
}

// ParseServerError finds what a server has to say. Servers and the gateways before them wrap it differently:
// {"error":{"type","code","status","message"}}, {"error":"text"}, {"message"}, {"detail"}, a list of one such object,
// a bare string, or text that is not JSON at all.
func ParseServerError(body []byte) ServerError { return readWrapped(body, 4) }

func readWrapped(body []byte, layers int) ServerError {
	var list []json.RawMessage
	if layers > 0 && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return readWrapped(list[0], layers-1)
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		text := scalarText(body)
		if lower := strings.ToLower(text); strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype") {
			text = "" // a page of a proxy, of no use to a reader
		}
		return ServerError{Message: OneLine(text)}
	}
	if inner, ok := o["error"]; ok && string(inner) != "null" && layers > 0 {
		e := readWrapped(inner, layers-1)
		e.Code = cmp.Or(e.Code, scalarText(o["code"]))
		return e
	}
	e := ServerError{
		Code:    firstField(o, "status", "code", "type"),
		Message: OneLine(firstField(o, "message", "detail", "error_description")),
	}
	e.readDetails(o["details"])
	return e
}

// readDetails reads those of google.rpc.Status, which Google's servers send.
func (t *ServerError) readDetails(raw json.RawMessage) {
	var details []json.RawMessage
	if json.Unmarshal(raw, &details) != nil {
		return
	}
	for _, raw := range details {
		var detail struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		}
		if json.Unmarshal(raw, &detail) != nil {
			continue
		}
		t.Reason = cmp.Or(detail.Reason, t.Reason)
		if d, err := time.ParseDuration(detail.RetryDelay); err == nil {
			t.RetryAfter = SecondsDuration(d.Seconds())
		}
	}
}

// firstField returns the first of the fields that says something.
func firstField(o map[string]json.RawMessage, keys ...string) string {
	for _, key := range keys {
		if s := scalarText(o[key]); s != "" && s != "null" {
			return s
		}
	}
	return ""
}

// scalarText returns a JSON string as text, anything else as it stands.
func scalarText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// maxServerText bounds what is repeated of a server's words.
const maxServerText = 300

// OneLine makes foreign text fit for one line of a message.
func OneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if utf8.RuneCountInString(s) > maxServerText {
		s = string([]rune(s)[:maxServerText]) + "…"
	}
	return s
}

// ParseRetryAfter reads how long a server asks to wait: retry-after-ms, or Retry-After in seconds or as a date (RFC
// 9110, section 10.2.3). 0 if it does not say, or says it wrongly.
func ParseRetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return SecondsDuration(ms / 1000)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return SecondsDuration(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// SecondsDuration converts, taking nonsense for 0 and more than a day for a day.
func SecondsDuration(s float64) time.Duration {
	const day = 24 * time.Hour
	switch {
	case math.IsNaN(s), s <= 0:
		return 0
	case s > day.Seconds():
		return day
	}
	return time.Duration(s * float64(time.Second))
}

// keyLike is what vendors' keys look like, masked or not.
var keyLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:(?:sk|gsk|xai|hf)[-_]|AIza|AQ\.)[A-Za-z0-9_*\-.]{8,}`)
})

// minSecret keeps placeholders ("none", "local") from being cut out of plain words.
const minSecret = 8

// SecretRemover removes the key, a password in the base URL, and what looks like a key from text of a server.
func SecretRemover(key string, u *url.URL) func(string) string {
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
		return keyLike().ReplaceAllString(s, "[key]")
	}
}
