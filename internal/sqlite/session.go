package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
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
	return only(found, err, sessions.ErrNotFound)
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
	w.is("kind", string(q.Kind))
	w.is("guild", q.Guild)
	w.seenBy(q.SeenBy)
	addIn(&w, "state", q.States)
	return db.sessions(ctx, "list sessions", w.String()+" ORDER BY last_used DESC, id LIMIT ?",
		append(w.args, cmp.Or(q.Limit, sessions.DefaultLimit))...)
}

func (db *DB) sessions(ctx context.Context, act, rest string, args ...any) ([]sessions.Session, error) {
	return list(ctx, db, act, func(scan func(...any) error) (sessions.Session, error) {
		var row sessionRow
		err := scan(row.fields()...)
		return row.session(), err
	}, "SELECT "+sessionColumns+" FROM session "+rest, args...)
}

// only returns the single row that was found, or the error notFound.
func only[T any](found []T, err, notFound error) (one T, _ error) {
	switch {
	case err != nil:
		return one, err
	case len(found) == 0:
		return one, notFound
	}
	return found[0], nil
}

// conditions builds a WHERE clause.
type conditions struct {
	clauses []string
	args    []any
}

func (w *conditions) and(condition string, args ...any) {
	w.clauses = append(w.clauses, condition)
	w.args = append(w.args, args...)
}

// is requires that a column has this value, unless the value is empty.
func (w *conditions) is(column, value string) {
	if value != "" {
		w.and(column+" = ?", value)
	}
}

// addIn requires that a column has one of these values, unless there are none.
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

// seenBy adds the equivalent of [sessions.Sight.Includes] for a session's or task's origin.
func (w *conditions) seenBy(s *sessions.Sight) {
	if s == nil {
		return
	}
	guilds, _ := json.Marshal(s.Guilds) // strings always marshal
	channels, _ := json.Marshal(s.Channels)
	w.and("kind = 'discord' AND ? <> '' AND CASE WHEN user = ? THEN guild = '' OR guild IN (SELECT value FROM "+
		"json_each(?)) ELSE NOT private AND guild <> '' AND channel IN (SELECT value FROM json_each(?)) END",
		s.User, s.User, string(guilds), string(channels))
}

func (w *conditions) String() string {
	if len(w.clauses) == 0 {
		return ""
	}
	return "WHERE " + strings.Join(w.clauses, " AND ")
}
