package reply

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"clank/browsermgr"
)

// IOLimit bounds how long a client takes to send its request or to take its answer.
const IOLimit = 30 * time.Second

// Done is the answer of what has no more to say; other answers begin with it.
type Done struct {
	OK bool `json:"ok"`
}

// Target is the answer of what happened to a tab.
type Target struct {
	Done

	TargetID string `json:"targetId"`
}

// Located is the answer of what was found out about a tab.
type Located struct {
	Target

	URL string `json:"url"`
}

// Problem is how an error is told.
type Problem struct {
	Error   string `json:"error"`
	Code    string `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Details any    `json:"details,omitempty"`
}

// Error answers with what [Classify] says of an error, without the credentials in it.
func Error(w http.ResponseWriter, err error) {
	f := Classify(err)
	if pause, ok := errors.AsType[*browsermgr.BreakerError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Until(pause.Until), 0)/time.Second)+1))
	}
	JSON(w, f.Status, Problem{Error: Redact(f.Err.Error()), Code: f.Code, Reason: f.Reason, Details: f.Details})
}

// JSON answers with a value. What cannot be written as JSON is told as an error.
func JSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(IOLimit))
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that does not take it has gone
}

// List is the list, which is written as one also when there is nothing in it.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
