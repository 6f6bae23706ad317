package control

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"clank/browsermgr"
)

// ioTimeout bounds how long a client takes to send its request or to take its answer.
const ioTimeout = 30 * time.Second

// OKAnswer is the answer of what has no more to say; other answers begin with it.
type OKAnswer struct {
	OK bool `json:"ok"`
}

// TargetAnswer is the answer of what happened to a tab.
type TargetAnswer struct {
	OKAnswer

	TargetID string `json:"targetId"`
}

// LocatedAnswer is the answer of what was found out about a tab.
type LocatedAnswer struct {
	TargetAnswer

	URL string `json:"url"`
}

// errorAnswer is how an error is told.
type errorAnswer struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Details any    `json:"details,omitempty"`
}

// WriteError answers with what [ClassifyError] says of an error, without the credentials in it.
func WriteError(w http.ResponseWriter, err error) {
	f := ClassifyError(err)
	if pause, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Until(pause.Until), 0)/time.Second)+1))
	}
	WriteJSON(w, f.Status, errorAnswer{Error: RedactCredentials(f.Err.Error()), Code: f.Code, Reason: f.Reason, Details: f.Details})
}

// WriteJSON answers with a value. What cannot be written as WriteJSON is told as an error.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ioTimeout))
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that does not take it has gone
}

// NonNilList returns the list, which is written as one also when there is nothing in it.
func NonNilList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

var (
	userInfoPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b((?:wss?|https?)://)[^/@\s"']+@`) })
	secretQueryPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([?&](?:[a-z_-]*(?:token|key|secret|password|auth|credential|signature))=)[^&\s"'#]+`)
	})
)

// RedactCredentials takes credentials out of the addresses in a text.
func RedactCredentials(text string) string {
	return secretQueryPattern().ReplaceAllString(userInfoPattern().ReplaceAllString(text, "${1}[redacted]@"), "${1}[redacted]")
}
