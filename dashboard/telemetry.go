package dashboard

import (
	"bytes"
	"cmp"
	"net/http"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/telemetry"
	"clank/sessions"
)

// ready reports whether tasks can run, for service managers and monitors.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if err := s.Host.Ready(r.Context()); err != nil {
		return refuse(http.StatusServiceUnavailable, "clank is not ready: %v", err)
	}
	return writeJSON(w, http.StatusOK, api.Health{OK: true, Version: s.Version})
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.Telemetry.Metrics.Handler().ServeHTTP(w, r)
	return nil
}

// profile serves a profile of the program for go tool pprof: "profile" samples the CPU for a number of seconds, the
// others are those of runtime/pprof.
func (s *Server) profile(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if name != "profile" {
		p := pprof.Lookup(name)
		if p == nil {
			return refuse(http.StatusNotFound, "there is no profile %q: take profile, heap, allocs, goroutine, block, mutex "+
				"or threadcreate", name)
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		return p.WriteTo(w, 0)
	}
	seconds, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("seconds"), "30"))
	if err != nil || seconds < 1 || seconds > 60 {
		return refuse(http.StatusBadRequest, "seconds must be from 1 to 60")
	}
	var data bytes.Buffer
	if err := pprof.StartCPUProfile(&data); err != nil {
		return refuse(http.StatusConflict, "another profile is being taken: wait until it is done")
	}
	_ = cancel.Sleep(r.Context(), time.Duration(seconds)*time.Second)
	pprof.StopCPUProfile()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, err = w.Write(data.Bytes())
	return err
}

// listRecords serves the records that the query selects: kind (repeatable), guild, task, since and before (RFC 3339),
// limit.
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

// auditExport records that data of a task left clank.
func (s *Server) auditExport(r *http.Request, t sessions.TaskRecord, what string) {
	o := t.Origin
	s.Telemetry.Audit(r.Context(), telemetry.Record{
		Kind: telemetry.KindExport, Guild: o.Guild, Channel: o.Channel, User: o.User, Session: t.SessionID, Task: t.ID,
	}, map[string]any{"what": what})
}
