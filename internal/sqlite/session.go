package sqlite

import (
	"context"
	"strings"

	"clank/sessions"
)

var saveSessionSQL = upsert("session", "id", sessionColumns+", process")

// SaveSession implements [sessions.SessionStore].
func (db *DB) SaveSession(ctx context.Context, s sessions.Session) error {
	return db.write(ctx, "save session", func(tx *transaction) error { return db.saveSession(ctx, tx, s) })
}

func (db *DB) saveSession(ctx context.Context, tx *transaction, s sessions.Session) error {
	_, err := tx.ExecContext(ctx, saveSessionSQL, append(newSessionRow(s).fields(), db.process.id)...)
	return err
}

// Session implements [sessions.SessionStore].
func (db *DB) Session(ctx context.Context, id string) (sessions.Session, error) {
	found, err := db.sessions(ctx, "read session", "WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		return sessions.Session{}, sessions.ErrNotFound
	}
	if err != nil {
		return sessions.Session{}, err
	}
	return found[0], nil
}

// Sessions implements [sessions.SessionStore].
func (db *DB) Sessions(ctx context.Context, q sessions.SessionQuery) ([]sessions.Session, error) {
	var w conditions
	if q.Of != nil {
		w.and("kind = ?", q.Of.Kind)
		w.and("guild = ?", q.Of.Guild)
		w.and("channel = ?", q.Of.Channel)
		w.and("user = ?", q.Of.User)
	}
	w.is("guild", q.Guild)
	addIn(&w, "state", q.States)
	return db.sessions(ctx, "list sessions", w.String()+" ORDER BY last_used DESC, id LIMIT ?", append(w.args, queryLimit(q.Limit))...)
}

func (db *DB) sessions(ctx context.Context, act, rest string, args ...any) (found []sessions.Session, err error) {
	err = db.query(ctx, act, func(scan func(...any) error) error {
		var row sessionRow
		if err := scan(row.fields()...); err != nil {
			return err
		}
		found = append(found, row.session())
		return nil
	}, "SELECT "+sessionColumns+" FROM session "+rest, args...)
	return found, err
}

func queryLimit(n int) int {
	if n == 0 {
		return sessions.DefaultLimit
	}
	return n
}

// conditions collects conditions.
type conditions struct {
	clauses []string
	args    []any
}

func (w *conditions) and(condition string, args ...any) {
	w.clauses = append(w.clauses, condition)
	w.args = append(w.args, args...)
}

// is adds that a column has this value, unless that is empty.
func (w *conditions) is(column, value string) {
	if value != "" {
		w.and(column+" = ?", value)
	}
}

// addIn adds that a column has one of these values, unless there are none.
func addIn[T any](w *conditions, column string, values []T) {
	if len(values) == 0 {
		return
	}
	var args []any
	for _, v := range values {
		args = append(args, v)
	}
	w.and(column+" IN (?"+strings.Repeat(", ?", len(values)-1)+")", args...)
}

func (w *conditions) String() string {
	if len(w.clauses) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(w.clauses, " AND ")
}
