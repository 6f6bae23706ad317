package sessions

import (
	"context"
	"slices"
	"time"

	"clank/llm"
)

// Store stores sessions, tasks and steps. Its methods are safe for concurrent use and obey their context.
// [sessionstest.TestStore] defines its behaviour; missing things are [ErrNotFound].
//
// [sessionstest.TestStore]: https://pkg.go.dev/clank/internal/test/sessionstest#TestStore
type Store interface {
	SessionStore
	TaskStore
	StepStore
	HistoryStore
}

// SessionStore stores sessions.
type SessionStore interface {
	// SaveSession inserts the session or replaces the one with its ID.
	SaveSession(ctx context.Context, s Session) error
	Session(ctx context.Context, id string) (Session, error)
	// Sessions returns the sessions that match q, last used first.
	Sessions(ctx context.Context, q SessionQuery) ([]Session, error)
}

// TaskStore stores tasks and their outcomes. Queue positions are not stored.
type TaskStore interface {
	// SaveTask inserts the record or replaces the one with its ID, and saves its session, both or neither.
	SaveTask(ctx context.Context, r TaskRecord, s Session) error
	Task(ctx context.Context, id string) (TaskRecord, error)
	// Tasks returns the tasks that match q, newest first, without the pictures of their answers.
	Tasks(ctx context.Context, q TaskQuery) ([]TaskRecord, error)
	// Recover cleans up after programs that were not shut down properly, this one's predecessor or another one that
	// shares the store; it leaves alone what another running program works on. Tasks that are not final become
	// interrupted with this reason, ended at now; sessions that are idle or running become parked and no longer
	// shared. It returns how many of each it changed.
	Recover(ctx context.Context, reason string, now time.Time) (tasks, sessions int, err error)
	// Prune deletes the oldest final tasks with their steps and pictures, at most limit in one call: those asked
	// before the given time, and those beyond the newest keep (0 = any number). Then it deletes parked and closed
	// sessions without tasks that were last used before that time, also at most limit. It returns how many tasks it
	// deleted.
	Prune(ctx context.Context, before time.Time, keep, limit int) (int, error)
}

// StepStore stores steps.
type StepStore interface {
	// SaveStep inserts the step or replaces the one with its number, and saves the task and the session in their
	// state after it, all or nothing. It stores the step's View, if any, and drops all but the newest views of the
	// task. The pictures of an answer are not stored with the step; they belong to the task.
	SaveStep(ctx context.Context, r TaskRecord, s Session, step Step, views int) error
	// Redact masks secrets in all that is stored of a session, its tasks and their steps, including remnants of
	// earlier versions in the database file.
	Redact(ctx context.Context, sessionID string, secrets Secrets) error
	// Steps returns the steps of a task by number; none for an unknown task. The View of a step has its media type
	// but no data.
	Steps(ctx context.Context, taskID string) ([]Step, error)
	// View returns the stored screenshot of a step.
	View(ctx context.Context, taskID string, n int) (llm.Image, error)
}

// HistoryStore answers queries about stored tasks for display.
type HistoryStore interface {
	// TaskFacets returns the values to filter tasks by, of the tasks that by can see.
	TaskFacets(ctx context.Context, by *Sight) (TaskFacets, error)
	// LastSteps returns the last step of each task; tasks without steps are missing.
	LastSteps(ctx context.Context, tasks []string) (map[string]LastStep, error)
}

// SessionQuery selects sessions. Zero fields do not restrict it.
type SessionQuery struct {
	Of     *Origin // same kind, guild, channel and user as this one
	Kind   OriginKind
	Guild  string
	SeenBy *Sight // nil sees all
	States []SessionState
	Limit  int // at most; 0 = [DefaultLimit]
}

// TaskQuery selects tasks. Zero fields do not restrict it.
type TaskQuery struct {
	Session string
	Kind    OriginKind
	SeenBy  *Sight // nil sees all
	Guild   string
	Channel string
	User    string
	Runtime string
	Model   string
	MinUSD  float64 // the least that its model calls cost
	// Words must all occur, as whole words or prefixes: in the prompt or the answer, or in a step's label or page.
	// Private tasks are not found by words.
	Words  string
	States []TaskState
	Since  time.Time // asked then or later
	Before time.Time // asked before then
	Limit  int       // at most; 0 = [DefaultLimit]
}

// TaskFacets are the values to filter tasks by, most recent first.
type TaskFacets struct {
	Guilds, Runtimes, Models []string
	People                   []Person
}

// Person is a person who has asked for tasks.
type Person struct{ ID, Name string }

// LastStep is the last step of a task, for display.
type LastStep struct {
	Label string // of the last step
	View  int    // number of the last step with a stored screenshot; 0 = none
}

// Sight limits what a person on Discord can see: everything in these channels that is not private, and their own
// tasks on these servers and in direct messages. A nil Sight is the operator's, who sees everything.
type Sight struct {
	User             string
	Guilds, Channels []string
}

// Includes reports whether tasks and sessions from o can be seen.
func (s *Sight) Includes(o Origin) bool {
	switch {
	case s == nil:
		return true
	case o.Kind != FromDiscord || s.User == "":
		return false
	case o.User == s.User:
		return o.Guild == "" || slices.Contains(s.Guilds, o.Guild)
	}
	return !o.Private && o.Guild != "" && slices.Contains(s.Channels, o.Channel)
}

// DefaultLimit is how many rows a query without a limit returns.
const DefaultLimit = 100
