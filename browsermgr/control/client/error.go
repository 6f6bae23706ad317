package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"clank/internal/untrusted"
)

// Sentinels for calls that got no answer, or none that can be read.
var (
	// ErrNotListening says that no connection could be made: no server was started there.
	ErrNotListening = errors.New("no server listens")
	// ErrTimeout says that there was no answer in time.
	ErrTimeout = errors.New("no answer")
	// ErrBroken says that the connection ended before the answer did. What was asked may have been done.
	ErrBroken = errors.New("the connection broke before the answer was complete")
	// ErrBadAnswer says that something answered that does not speak the control API.
	ErrBadAnswer = errors.New("the answer cannot be read")
)

// Error is a refusal or failure that the server answered with.
type Error struct {
	Status  int             // HTTP status
	Code    string          // stable code, such as ACT_INVALID_REQUEST; may be ""
	Reason  string          // stable reason, such as navigation_blocked; may be ""
	Message string          // for a person; never empty
	Details json.RawMessage // a JSON object, or nil
}

func (e *Error) Error() string { return e.Message }

// errorIn returns what an answer says went wrong, or nil.
func errorIn(status int, data []byte) *Error {
	var answer struct {
		OK      *bool           `json:"ok"`
		Error   string          `json:"error"`
		Code    string          `json:"code"`
		Reason  string          `json:"reason"`
		Details json.RawMessage `json:"details"`
	}
	known := json.Unmarshal(data, &answer) == nil
	failed := status < 200 || status > 299
	if !failed && (!known || answer.OK == nil || *answer.OK || answer.Error == "") {
		return nil
	}
	e := &Error{Status: status, Code: answer.Code, Reason: answer.Reason, Message: answer.Error, Details: answer.Details}
	switch {
	case e.Message != "":
	case status >= 300 && status <= 399:
		e.Message = fmt.Sprintf("the server answered %d and points elsewhere, which is not followed; name the address itself with --url", status)
	case len(data) > 0:
		e.Message = excerpt(data)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the server answered %d %s and does not say why", status, http.StatusText(status))
	}
	return e
}

// badAnswer reports an answer of a successful status that cannot be understood.
func badAnswer(status int, data []byte, err error) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: it is empty (%d)", ErrBadAnswer, status)
	}
	return fmt.Errorf("%w (%d, %d bytes): %w: %s", ErrBadAnswer, status, len(data), err, excerpt(data))
}

// excerpt returns the beginning of a text, on one line.
func excerpt(data []byte) string {
	const most = 200
	text := strings.Join(strings.FieldsFunc(string(data[:min(len(data), 4*most)]), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError
	}), " ")
	return untrusted.Shorten(text, most)
}
