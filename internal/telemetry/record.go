package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"clank/sessions"
	"clank/sessions/approval"
)

// Kind is the type of a [Record].
type Kind string

// Kinds of records. The first four are part of the API contract and derived from tasks and steps; the others form the
// audit log of what people did to the installation.
const (
	KindBrowseCall   Kind = "browser_browse_call"        // a task was answered, limited or stopped
	KindBrowseFailed Kind = "browser_browse_failed"      // a task failed, or was interrupted by a shutdown
	KindToolStep     Kind = "browser_tool_step"          // a tool was used
	KindSessionTurn  Kind = "browser_agent_session_turn" // the local agent started a task

	KindSettings Kind = "settings_changed" // data: changes, by key with from and to; added by the store of settings
	KindKey      Kind = "key_kept"         // data: name, forgotten
	KindConsent  Kind = "consent_decided"  // data: source, class, origin, allowed, forSession, by, byID, reason
	KindSignIn   Kind = "signed_in"        // data: with ("link", "token" or "discord"), from (an address)
	KindSignOut  Kind = "signed_out"       // sign-ins were ended from elsewhere; data: by, whose, whoseIDs, from
	KindExport   Kind = "exported"         // data: what ("run", "download")
)

// Kinds lists all kinds.
var Kinds = []Kind{
	KindBrowseCall, KindBrowseFailed, KindToolStep, KindSessionTurn, KindSettings, KindKey, KindConsent, KindSignIn,
	KindSignOut, KindExport,
}

// Record is an event. Data is a JSON object; for a private task it contains nothing of pages and messages.
type Record struct {
	At      time.Time       `json:"ts"`
	Kind    Kind            `json:"kind"`
	Guild   string          `json:"guild_id,omitempty"`
	Channel string          `json:"channel_id,omitempty"`
	User    string          `json:"user_id,omitempty"`
	Session string          `json:"session,omitempty"`
	Task    string          `json:"task,omitempty"`
	Data    json.RawMessage `json:"metadata,omitempty"`
}

// Query selects records. Zero fields do not restrict it.
type Query struct {
	Kinds  []Kind
	Guild  string
	Task   string
	Since  time.Time // inclusive
	Before time.Time
	Limit  int // 0 means [DefaultLimit]
}

// DefaultLimit is the number of records that a query without a limit returns, and MaxLimit the maximum.
const (
	DefaultLimit = 100
	MaxLimit     = 10_000
)

// Store stores records. Package sqlite implements it, and derives the records of tasks and steps from these.
type Store interface {
	// AddRecord adds a record to the audit log.
	AddRecord(ctx context.Context, r Record) error
	// Records returns the records that q selects, newest first.
	Records(ctx context.Context, q Query) ([]Record, error)
	// PruneRecords deletes records of the audit log before a time.
	PruneRecords(ctx context.Context, before time.Time) error
}

// Recorder stores and logs records. Set its fields before first use; its methods are safe for concurrent use.
type Recorder struct {
	Store   Store
	Metrics *Metrics
	Tracer  *Tracer      // nil disables traces
	Logger  *slog.Logger // receives each record at level Info

	mu   sync.Mutex
	open map[string]sessions.TaskState // tasks that are not final, by id
}

// Audit adds a record to the audit log. If that fails the record is still logged.
func (r *Recorder) Audit(ctx context.Context, rec Record, data map[string]any) {
	rec.At = time.Now()
	rec.Data, _ = json.Marshal(data) // strings, numbers and booleans always marshal
	if err := r.Store.AddRecord(context.WithoutCancel(ctx), rec); err != nil {
		r.Logger.Warn("a record of the audit log is not kept", "kind", rec.Kind, "err", err)
	}
	r.log(ctx, rec)
}

func (r *Recorder) log(ctx context.Context, rec Record) {
	r.Logger.LogAttrs(ctx, slog.LevelInfo, "record",
		slog.Time("ts", rec.At), slog.String("kind", string(rec.Kind)), slog.String("guild_id", rec.Guild),
		slog.String("channel_id", rec.Channel), slog.String("user_id", rec.User), slog.String("session", rec.Session),
		slog.String("task", rec.Task), slog.Any("metadata", rec.Data))
}

// SessionStore returns s wrapped so that changes of tasks are logged and counted.
func (r *Recorder) SessionStore(s sessions.Store) sessions.Store { return &observedStore{s, r} }

type observedStore struct {
	sessions.Store
	recorder *Recorder
}

func (s *observedStore) SaveTask(ctx context.Context, t sessions.TaskRecord, of sessions.Session) error {
	err := s.Store.SaveTask(ctx, t, of)
	if err == nil {
		s.recorder.observeTask(ctx, t)
	}
	return err
}

func (s *observedStore) SaveStep(
	ctx context.Context, t sessions.TaskRecord, of sessions.Session, step sessions.Step, views int,
) error {
	err := s.Store.SaveStep(ctx, t, of, step, views)
	if err != nil {
		return err
	}
	s.recorder.observeTask(ctx, t)
	if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseDone {
		s.recorder.logNew(ctx, Query{Kinds: []Kind{KindToolStep}, Task: t.ID, Limit: 1})
	}
	return nil
}

func (s *observedStore) Prune(ctx context.Context, before time.Time, keep, limit int) (int, error) {
	if !before.IsZero() {
		if err := s.recorder.Store.PruneRecords(ctx, before); err != nil {
			return 0, err
		}
	}
	return s.Store.Prune(ctx, before, keep, limit)
}

// FollowConsents records the answers to approval questions until ctx ends.
func (r *Recorder) FollowConsents(ctx context.Context, q *approval.Queue) {
	f := q.Follow(func(approval.Question) bool { return false })
	defer f.Close()
	for {
		ev, err := f.Next(ctx)
		if err != nil {
			return
		}
		if ev.Resolved {
			asked, a := ev.Question, ev.Answer
			if asked.Private {
				asked.Origin = ""
			}
			r.Audit(ctx, Record{
				Kind: KindConsent, Guild: asked.Guild, Channel: asked.Channel, User: asked.User, Session: asked.Session,
			}, map[string]any{
				"source": asked.Source, "class": asked.Class, "origin": asked.Origin, "allowed": a.Allowed,
				"forSession": a.ForSession, "by": a.By, "byID": a.ByID, "reason": a.Reason,
			})
		}
	}
}

// observeTask logs and counts a changed task.
func (r *Recorder) observeTask(ctx context.Context, t sessions.TaskRecord) {
	r.mu.Lock()
	before, known := r.open[t.ID]
	switch {
	case !t.State.Final():
		if r.open == nil {
			r.open = make(map[string]sessions.TaskState)
		}
		r.open[t.ID] = t.State
	case known:
		delete(r.open, t.ID)
	}
	r.mu.Unlock()
	switch {
	case t.State == sessions.TaskRunning && before != sessions.TaskRunning:
		r.Tracer.begin(t)
		r.logNew(ctx, Query{Kinds: []Kind{KindSessionTurn}, Task: t.ID, Limit: 1})
	case t.State.Final() && known:
		r.Metrics.endTask(t)
		r.Tracer.end(t)
		r.logNew(ctx, Query{Kinds: []Kind{KindBrowseCall, KindBrowseFailed}, Task: t.ID, Limit: 1})
	}
}

// logNew logs the record that the store has just created, if that log level is enabled.
func (r *Recorder) logNew(ctx context.Context, q Query) {
	if !r.Logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	list, err := r.Store.Records(context.WithoutCancel(ctx), q)
	if err != nil {
		r.Logger.Warn("a record is not logged", "kinds", q.Kinds, "task", q.Task, "err", err)
		return
	}
	for _, rec := range list {
		r.log(ctx, rec)
	}
}
