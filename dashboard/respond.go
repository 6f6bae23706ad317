package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"clank/dashboard/api"
	"clank/sessions"
)

// writeError answers with an error for people.
func writeError(w http.ResponseWriter, status int, format string, args ...any) {
	writeJSON(w, status, api.ErrorResponse{Error: fmt.Sprintf(format, args...)})
}

// writeJSON answers with v as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written down"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever asked went away: nothing to do
}

// readJSON decodes the request's body into v. What is not understood is refused: a
// misspelt field must not be dropped in silence.
func readJSON(w http.ResponseWriter, r *http.Request, v any) bool {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return true
		}
		err = errors.Join(errors.New("there is more than one JSON value"), sizeError(err))
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		writeError(w, http.StatusRequestEntityTooLarge, "too much was sent: at most %d bytes are taken", large.Limit)
		return false
	}
	writeError(w, http.StatusBadRequest, "the request was not understood: %v", err)
	return false
}

// sizeError keeps of err only that too much was sent.
func sizeError(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return large
	}
	return nil
}

// writeManagerError answers with what the Manager said, and logs what is not for people.
func (s *Server) writeManagerError(w http.ResponseWriter, r *http.Request, act string, err error) {
	for _, known := range []struct {
		err    error
		status int
	}{
		{sessions.ErrBadTask, http.StatusBadRequest},
		{sessions.ErrDisabled, http.StatusForbidden},
		{sessions.ErrNotFound, http.StatusNotFound},
		{sessions.ErrNotOwner, http.StatusForbidden},
		{sessions.ErrForbidden, http.StatusForbidden},
		{sessions.ErrSessionClosed, http.StatusConflict},
		{sessions.ErrQueueFull, http.StatusTooManyRequests},
		{sessions.ErrBudgetSpent, http.StatusTooManyRequests},
		{sessions.ErrShuttingDown, http.StatusServiceUnavailable},
	} {
		if errors.Is(err, known.err) {
			writeError(w, known.status, "%v", err)
			return
		}
	}
	if r.Context().Err() != nil {
		return // nobody reads the answer
	}
	s.Logger.Error("request failed", "act", act, "error", err)
	writeError(w, http.StatusInternalServerError, "clank could not %s; its log says why", act)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, api.Health{OK: true, Version: s.Version})
}
