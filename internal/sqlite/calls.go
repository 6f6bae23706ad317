package sqlite

import (
	"context"
	"time"
)

// CallsSince returns when calls were begun since a moment, the oldest first.
func (db *DB) CallsSince(ctx context.Context, since time.Time) ([]time.Time, error) {
	return list(ctx, db, "read when calls were begun", func(scan func(...any) error) (time.Time, error) {
		var at int64
		err := scan(&at)
		return fromMicros(at), err
	}, "SELECT at FROM calls_begun WHERE at >= ? ORDER BY at", toMicros(since))
}

// RecordCall notes that a call was begun, and forgets those that were begun before keep.
func (db *DB) RecordCall(ctx context.Context, at, keep time.Time) error {
	return db.write(ctx, "note that a call was begun", func(tx *transaction) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM calls_begun WHERE at < ?", toMicros(keep)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO calls_begun VALUES (?)", toMicros(at))
		return err
	})
}
