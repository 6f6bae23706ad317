package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"clank/internal/telemetry"
)

const recordColumns = "at, kind, guild, channel, user, session, task, data"

var _ telemetry.Store = (*DB)(nil)

// AddRecord implements [telemetry.Store].
func (db *DB) AddRecord(ctx context.Context, r telemetry.Record) error {
	return db.write(ctx, "keep a record", func(tx *transaction) error { return addRecord(ctx, tx, r) })
}

func addRecord(ctx context.Context, tx *transaction, r telemetry.Record) error {
	_, err := tx.ExecContext(ctx, insert("audit", recordColumns),
		toMicros(r.At), r.Kind, r.Guild, r.Channel, r.User, r.Session, r.Task, string(r.Data))
	return err
}

// Records implements [telemetry.Store].
func (db *DB) Records(ctx context.Context, q telemetry.Query) ([]telemetry.Record, error) {
	var w conditions
	addIn(&w, "kind", q.Kinds)
	w.is("guild", q.Guild)
	w.is("task", q.Task)
	if !q.Since.IsZero() {
		w.and("at >= ?", toMicros(q.Since))
	}
	if !q.Before.IsZero() {
		w.and("at < ?", toMicros(q.Before))
	}
	limit := min(cmp.Or(q.Limit, telemetry.DefaultLimit), telemetry.MaxLimit)
	return list(ctx, db, "read records", func(scan func(...any) error) (r telemetry.Record, err error) {
		var at int64
		var data string
		err = scan(&at, &r.Kind, &r.Guild, &r.Channel, &r.User, &r.Session, &r.Task, &data)
		r.At, r.Data = fromMicros(at), json.RawMessage(data)
		return r, err
	}, "SELECT "+recordColumns+" FROM record "+w.String()+" ORDER BY at DESC LIMIT ?", append(w.args, limit)...)
}

// PruneRecords implements [telemetry.Store]. It also deletes who began calls.
func (db *DB) PruneRecords(ctx context.Context, before time.Time) error {
	return db.write(ctx, "forget old records", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM audit WHERE at < ?", toMicros(before))
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM calls_begun WHERE at < ?", toMicros(before))
		}
		return err
	})
}
