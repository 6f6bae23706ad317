package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"clank/dashboard/api"
	"clank/internal/telemetry"
	"clank/sessions"
)

// ready tells whether tasks can be done, for those who start and watch services.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if err := s.Ready(r.Context()); err != nil {
		return refuse(http.StatusServiceUnavailable, "clank is not ready: %v", err)
	}
	return writeJSON(w, http.StatusOK, api.Health{OK: true, Version: s.Version})
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.Telemetry.Metrics.Handler().ServeHTTP(w, r)
	return nil
}

// listRecords answers with the records that the query asks for: kind (may be there several times), guild, task, since
// and before (RFC 3339), limit.
func (s *Server) listRecords(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query := telemetry.Query{Guild: q.Get("guild"), Task: q.Get("task")}
	for _, text := range q["kind"] {
		kind := telemetry.Kind(text)
		if !slices.Contains(telemetry.Kinds, kind) {
			return refuse(http.StatusBadRequest, "there is no kind %q: kind is one of %v", text, telemetry.Kinds)
		}
		query.Kinds = append(query.Kinds, kind)
	}
	for name, to := range map[string]*time.Time{"since": &query.Since, "before": &query.Before} {
		if text := q.Get(name); text != "" {
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return refuse(http.StatusBadRequest, "%s must be a time as in RFC 3339", name)
			}
			*to = at
		}
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > telemetry.MaxLimit {
			return refuse(http.StatusBadRequest, "limit must be from 1 to %d", telemetry.MaxLimit)
		}
		query.Limit = n
	}
	list, err := s.Telemetry.Store.Records(r.Context(), query)
	return writeResult(w, http.StatusOK, "read the records", list, err)
}

// auditExport keeps that something of a task left clank.
func (s *Server) auditExport(r *http.Request, t sessions.TaskRecord, what string) {
	o := t.Origin
	s.Telemetry.Audit(r.Context(), telemetry.Record{
		Kind: telemetry.KindExport, Guild: o.Guild, Channel: o.Channel, User: o.User, Session: t.SessionID, Task: t.ID,
	}, map[string]any{"what": what})
}
