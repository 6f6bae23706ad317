package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"clank/browsermgr"
	"clank/browsermgr/profile"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/access"
	"clank/sessions/approval"
)

// writeError answers with an error message for people.
func writeError(w http.ResponseWriter, status int, format string, args ...any) {
	_ = writeJSON(w, status, api.ErrorResponse{Error: fmt.Sprintf(format, args...)}) // a string always marshals
}

// writeJSON answers with v as JSON.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return failed("write the answer down", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // fails only if the client has gone
	return nil
}

// readJSON decodes the request's body into v. Unknown fields are refused, so that a misspelt field is not ignored
// silently.
func readJSON(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if !errors.As(err, new(*http.MaxBytesError)) {
			err = errors.New("there is more than one JSON value")
		}
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(http.StatusRequestEntityTooLarge, "too much was sent: at most %d bytes are taken", large.Limit)
	}
	return refuse(http.StatusBadRequest, "the request was not understood: %v", err)
}

// writeResult answers with v, or with the error of act.
func writeResult(w http.ResponseWriter, status int, act string, v any, err error) error {
	if err != nil {
		return failed(act, err)
	}
	return writeJSON(w, status, v)
}

// writeDone answers that act succeeded, or with its error.
func writeDone(w http.ResponseWriter, act string, err error) error {
	if err != nil {
		return failed(act, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// writeStarted answers that a task was accepted, or with the error of act.
func writeStarted(w http.ResponseWriter, act string, t sessions.TaskRecord, err error) error {
	return writeResult(w, http.StatusAccepted, act, api.TaskStarted{
		TaskID: t.ID, SessionID: t.SessionID, State: t.State, Position: t.Position,
	}, err)
}

// setDownload makes the response a file for download under a name of letters, digits, hyphens and dots.
func setDownload(w http.ResponseWriter, mediaType, name string) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "private, no-store")
}

// refusal is an error whose text is for people.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// failure is an error of a component behind the dashboard.
type failure struct {
	act string
	error
}

func (e *failure) Unwrap() error { return e.error }

func failed(act string, err error) error { return &failure{act, err} }

func (s *Server) answerWith(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.writeFailure(w, r, err)
		}
	}
}

// statuses are the HTTP statuses of errors that are shown to people as they are.
var statuses = []struct {
	err    error
	status int
}{
	{sessions.ErrFileTooLarge, http.StatusRequestEntityTooLarge},
	{sessions.ErrNoRoom, http.StatusInsufficientStorage},
	{sessions.ErrBadTask, http.StatusBadRequest},
	{sessions.ErrDisabled, http.StatusForbidden},
	{sessions.ErrNotFound, http.StatusNotFound},
	{sessions.ErrNotOwner, http.StatusForbidden},
	{sessions.ErrForbidden, http.StatusForbidden},
	{sessions.ErrSessionClosed, http.StatusConflict},
	{sessions.ErrQueueFull, http.StatusTooManyRequests},
	{sessions.ErrBudgetSpent, http.StatusTooManyRequests},
	{sessions.ErrShuttingDown, http.StatusServiceUnavailable},
	{watches.ErrTooMany, http.StatusTooManyRequests},
	{watches.ErrForbidden, http.StatusForbidden},
	{watches.ErrNotFound, http.StatusNotFound},
	{watches.ErrAlreadyEnded, http.StatusConflict},
	{approval.ErrNotPending, http.StatusConflict},
	{settings.ErrConflict, http.StatusConflict},
	{access.ErrTokenNotFound, http.StatusNotFound},
	{browsermgr.ErrInvalid, http.StatusBadRequest},
	{browsermgr.ErrUnavailable, http.StatusConflict},
	{browsermgr.ErrDisabled, http.StatusForbidden},
	{profile.ErrNotFound, http.StatusNotFound},
	{profile.ErrExists, http.StatusConflict},
	{profile.ErrNoPort, http.StatusConflict},
}

// writeFailure answers with an error and logs the parts that are not for people.
func (s *Server) writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	if no, ok := errors.AsType[*refusal](err); ok {
		writeError(w, no.status, "%s", no.text)
		return
	}
	for _, known := range statuses {
		if errors.Is(err, known.err) {
			writeError(w, known.status, "%v", err)
			return
		}
	}
	if r.Context().Err() != nil {
		return // the client is gone
	}
	act := "answer"
	if f, ok := errors.AsType[*failure](err); ok {
		act = f.act
	}
	s.Logger.Error("request failed", "act", act, "error", err)
	if full, ok := errors.AsType[*sessions.StoreError](err); ok {
		writeError(w, http.StatusInsufficientStorage, "clank could not %s: %s", act, full.Text)
		return
	}
	writeError(w, http.StatusInternalServerError, "clank could not %s; its log says why", act)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, api.Health{OK: true, Version: s.Version})
}
