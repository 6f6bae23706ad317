package openai

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
	code       string // of the error object, or its type
	message    string // without secrets, one line
	location   string // where a redirect points
	retryAfter time.Duration
}

func (e *statusError) Error() string {
	return "status " + http.StatusText(e.status) + ": " + e.message
}

func newStatusError(resp *http.Response, body []byte, clean func(string) string) *statusError {
	told := readErrorBody(body)
	return &statusError{
		status: resp.StatusCode, code: told.code, message: clean(told.message),
		location:   clean(resp.Header.Get("Location")),
		retryAfter: retryAfter(resp.Header, time.Now()),
	}
}

// streamError is an error told inside an answer that began well.
type streamError struct{ code, message string }

func (e *streamError) Error() string { return "error in the stream: " + e.message }

func newStreamError(raw json.RawMessage) *streamError {
	told := readErrorBody(raw)
	return &streamError{code: told.code, message: told.message}
}

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

type toldError struct{ code, message string }

// maxTold bounds what is repeated of a server's words.
const maxTold = 300

// readErrorBody finds what a server has to say. Servers wrap it differently:
// {"error":{"message","code","type"}}, {"error":"text"}, {"message"},
// {"detail"}, a bare string, or text that is not JSON at all.
func readErrorBody(body []byte) toldError { return readWrapped(body, 3) }

// readWrapped looks through as many layers of {"error": …} as are left.
func readWrapped(body []byte, layers int) toldError {
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		var s string
		if json.Unmarshal(body, &s) != nil {
			s = string(body)
		}
		if strings.Contains(s, "<html") || strings.Contains(s, "<!DOCTYPE") || strings.Contains(s, "<!doctype") {
			s = "" // a page of a proxy, of no use to a reader
		}
		return toldError{message: oneLine(s)}
	}
	if inner, ok := o["error"]; ok && isSet(inner) && layers > 0 {
		told := readWrapped(inner, layers-1)
		if told.code == "" {
			told.code = scalar(o["code"])
		}
		return told
	}
	told := toldError{code: scalar(o["code"])}
	if told.code == "" {
		told.code = scalar(o["type"])
	}
	for _, key := range []string{"message", "detail", "error_description"} {
		if told.message = oneLine(scalar(o[key])); told.message != "" {
			break
		}
	}
	return told
}

// scalar is a JSON string or number as text, anything else as it stands.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

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

// keyLike is what OpenAI's and others' keys look like, masked or not.
var keyLike = regexp.MustCompile(`\b(?:(?:sk|gsk|xai|hf)[-_]|AIza)[A-Za-z0-9_*\-.]{8,}`)

// minSecret keeps placeholders ("none", "ollama") from being cut out of plain
// words.
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
