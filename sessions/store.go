package sessions

import (
	"context"
	"slices"
	"time"

	"clank/llm"
)

// Store remembers sessions, tasks and steps. Its methods are safe for concurrent use and obey their context.
// [sessionstest.TestStore] is the definition; a thing that is not there is [ErrNotFound].
//
// [sessionstest.TestStore]: https://pkg.go.dev/clank/sessions/sessionstest#TestStore
type Store interface {
	SessionStore
	TaskStore
	StepStore
	HistoryStore
}

// SessionStore remembers sessions.
type SessionStore interface {
	// SaveSession inserts the session or replaces the one with its ID.
	SaveSession(ctx context.Context, s Session) error
	Session(ctx context.Context, id string) (Session, error)
	// Sessions returns those that q asks for, last used first.
	Sessions(ctx context.Context, q SessionQuery) ([]Session, error)
}

// TaskStore remembers tasks and what has become of them. A task's place in line is not stored.
type TaskStore interface {
	// SaveTask inserts the record or replaces the one with its ID, and saves
	// the session it belongs to, both or neither.
	SaveTask(ctx context.Context, r TaskRecord, s Session) error
	Task(ctx context.Context, id string) (TaskRecord, error)
	// Tasks returns those that q asks for, last asked first, without the pictures of their answers.
	Tasks(ctx context.Context, q TaskQuery) ([]TaskRecord, error)
	// Recover tidies up after programs that ended without doing so, this one's predecessor or another one that shares
	// the store, and leaves alone what a living other program works at. Tasks that are not final become interrupted,
	// with this reason, ended at now; sessions that are idle or running become parked and are not shared any more. It
	// returns how many.
	Recover(ctx context.Context, reason string, now time.Time) (tasks, sessions int, err error)
	// Prune deletes the oldest final tasks with all that belongs to them, at most limit in one call: those asked
	// before the given time, and those beyond the newest keep (0 = keep any number). Then it deletes parked and
	// closed sessions without tasks that were last used before that time, at most limit too. It returns how many
	// tasks it deleted.
	Prune(ctx context.Context, before time.Time, keep, limit int) (int, error)
}

// StepStore remembers steps.
type StepStore interface {
	// SaveStep inserts the step or replaces the one with its number, and saves the task and the session as they are
	// after it, all or nothing. If the step has a View it is kept, and those before the newest views of the task are
	// dropped. The pictures of an answer are not kept with the step; they belong to the task.
	SaveStep(ctx context.Context, r TaskRecord, s Session, step Step, views int) error
	// Redact takes what was typed into password fields out of all that is stored of a session, its tasks and their
	// steps, also out of what the file still holds of earlier versions.
	Redact(ctx context.Context, sessionID string, secrets Secrets) error
	// Steps returns the steps of a task by number. A step whose View is kept
	// has it with its media type and no data. No such task, no steps.
	Steps(ctx context.Context, taskID string) ([]Step, error)
	// View returns the picture that is kept of a step.
	View(ctx context.Context, taskID string, n int) (llm.Image, error)
}

// HistoryStore tells people what is kept.
type HistoryStore interface {
	// TaskFacets returns what the tasks that are kept, and that by sees, differ in.
	TaskFacets(ctx context.Context, by *Sight) (TaskFacets, error)
	// LastSteps returns by task how far it has come; a task without steps has none.
	LastSteps(ctx context.Context, tasks []string) (map[string]LastStep, error)
}

// SessionQuery asks for sessions. Fields that are zero do not restrict it.
type SessionQuery struct {
	Of     *Origin // of the same kind, guild, channel and user as this one
	Kind   OriginKind
	Guild  string
	SeenBy *Sight // nil sees all
	States []SessionState
	Limit  int // how many at most; 0 = 100
}

// TaskQuery asks for tasks. Fields that are zero do not restrict it.
type TaskQuery struct {
	Session string
	Kind    OriginKind
	SeenBy  *Sight // nil sees all
	Guild   string
	Channel string
	User    string
	Runtime string
	Model   string
	MinUSD  float64 // that its models cost, at least
	// Words must all be there, or words that begin with them: in what was asked or answered, or in what a step did and
	// on which page. Private tasks are not found by words.
	Words  string
	States []TaskState
	Since  time.Time // asked then or later
	Before time.Time // asked before then
	Limit  int       // how many at most; 0 = 100
}

// TaskFacets are the values that fields of tasks have, of those that were asked last the first.
type TaskFacets struct {
	Guilds, Runtimes, Models []string
	People                   []Person
}

// Person is somebody who asks for tasks.
type Person struct{ ID, Name string }

// LastStep is how far a task has come.
type LastStep struct {
	Label string // of the last step
	View  int    // the number of the last step whose picture is kept; 0 = none
}

// Sight bounds what a person on Discord sees of what was asked for there: all that is not private in these channels,
// and their own on these servers and in direct messages. A nil Sight is the operator's, who sees all.
type Sight struct {
	User             string
	Guilds, Channels []string
}

// Includes reports whether what was asked for from o is seen.
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

// DefaultLimit is how many rows a query returns that does not say.
const DefaultLimit = 100
