package sqlite

import (
	"encoding/json"
	"strings"
	"time"

	"clank/llm"
	"clank/sessions"
)

// toMicros converts a time to its stored form: microseconds since 1970, or 0 for the zero time.
func toMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

// upsert returns a statement that inserts a row, or updates the row with the same key.
func upsert(table, key, columns string) string {
	names := strings.Split(columns, ", ")
	set := make([]string, 0, len(names))
	for _, n := range names {
		set = append(set, n+" = excluded."+n)
	}
	return "INSERT INTO " + table + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")" +
		" ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(set, ", ")
}

const (
	originColumns = "kind, guild, channel, user, user_name, private"
	usageColumns  = "calls, input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usd, " +
		"unpriced"

	sessionColumns = "id, " + originColumns + ", runtime, profile, state, title, url, memory, others, shared, steps, " +
		usageColumns + ", created, last_used"
	taskColumns = "id, session, prompt, " + originColumns + ", runtime, model, max_steps, headed, state, answer, " +
		"closed, reason, steps, " +
		usageColumns + ", asked, started, ended, files, downloads, max_usd"
	stepColumns = "n, kind, phase, tool, input, label, text, failed, url, title, " + usageColumns +
		", limited_by, closed, at"
)

// Each of these functions returns pointers to the values of the columns above, in their order. They are used for both
// writing and reading a row.

func originFields(o *sessions.Origin) []any {
	return []any{&o.Kind, &o.Guild, &o.Channel, &o.User, &o.UserName, &o.Private}
}

func usageFields(u *llm.Usage) []any {
	return []any{
		&u.Calls, &u.InputTokens, &u.CachedTokens, &u.CacheWriteTokens, &u.OutputTokens, &u.ReasoningTokens,
		&u.USD, &u.Unpriced,
	}
}

func concatFields(groups ...[]any) []any {
	var all []any
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// sessionRow is a session with the fields that are stored in another form.
type sessionRow struct {
	sessions.Session
	memory, others    []byte
	created, lastUsed int64
}

func (r *sessionRow) fields() []any {
	return concatFields([]any{&r.ID}, originFields(&r.Origin),
		[]any{&r.Runtime, &r.Profile, &r.State, &r.Title, &r.URL, &r.memory, &r.others, &r.Shared, &r.Steps},
		usageFields(&r.Usage),
		[]any{&r.created, &r.lastUsed})
}

func newSessionRow(s sessions.Session) *sessionRow {
	r := &sessionRow{Session: s, memory: s.Memory, created: toMicros(s.Created), lastUsed: toMicros(s.LastUsed)}
	if len(s.Others) > 0 {
		memories := make(map[string][]byte, len(s.Others)) // as bytes: a backend's memory need not be valid JSON
		for runtime, memory := range s.Others {
			memories[runtime] = memory
		}
		r.others, _ = json.Marshal(memories) // strings and bytes always marshal
	}
	return r
}

func (r *sessionRow) session() sessions.Session {
	r.Memory, r.Created, r.LastUsed = r.memory, fromMicros(r.created), fromMicros(r.lastUsed)
	// If it cannot be read, lose the memory rather than the session.
	var memories map[string][]byte
	if json.Unmarshal(r.others, &memories) == nil && len(memories) > 0 {
		r.Others = make(map[string]json.RawMessage, len(memories))
		for runtime, memory := range memories {
			r.Others[runtime] = memory
		}
	}
	return r.Session
}

// taskRow is a task with the fields that are stored in another form.
type taskRow struct {
	sessions.TaskRecord
	asked, started, ended int64
	files, downloads      []byte
}

func (r *taskRow) fields() []any {
	return concatFields([]any{&r.ID, &r.SessionID, &r.Prompt}, originFields(&r.Origin),
		[]any{&r.Runtime, &r.Model, &r.MaxSteps, &r.Headed, &r.State, &r.Answer, &r.Closed, &r.Reason, &r.Steps},
		usageFields(&r.Usage), []any{&r.asked, &r.started, &r.ended, &r.files, &r.downloads, &r.MaxUSD})
}

func newTaskRow(r sessions.TaskRecord) *taskRow {
	row := &taskRow{TaskRecord: r, asked: toMicros(r.Asked), started: toMicros(r.Started), ended: toMicros(r.Ended)}
	row.files, _ = json.Marshal(r.Files) // strings and numbers always marshal
	row.downloads, _ = json.Marshal(r.Downloads)
	return row
}

func (r *taskRow) record() sessions.TaskRecord {
	r.Asked, r.Started, r.Ended = fromMicros(r.asked), fromMicros(r.started), fromMicros(r.ended)
	_ = json.Unmarshal(r.files, &r.Files) // a task is still valid without its files
	_ = json.Unmarshal(r.downloads, &r.Downloads)
	return r.TaskRecord
}

// stepRow is a step with the fields that are stored in another form.
type stepRow struct {
	sessions.Step
	input []byte
	at    int64
}

func (r *stepRow) fields() []any {
	return concatFields([]any{&r.N, &r.Kind, &r.Phase, &r.Tool, &r.input, &r.Label, &r.Text, &r.Failed, &r.URL, &r.Title},
		usageFields(&r.Usage), []any{&r.Limit, &r.Closed, &r.at})
}

func newStepRow(s sessions.Step) *stepRow {
	return &stepRow{Step: s, input: s.Input, at: toMicros(s.At)}
}

func (r *stepRow) step() sessions.Step {
	r.Input, r.At = r.input, fromMicros(r.at)
	return r.Step
}
