package sqlite

import (
	"context"
	"time"
)

// CallsSince returns when calls were begun since a moment, the oldest first.
func (db *DB) CallsSince(ctx context.Context, since time.Time) (all []time.Time, err error) {
	err = db.query(ctx, "read when calls were begun", func(scan func(...any) error) error {
		var at int64
		if err := scan(&at); err != nil {
			return err
		}
		all = append(all, fromMicros(at))
		return nil
	}, "SELECT at FROM calls_begun WHERE at >= ? ORDER BY at", toMicros(since))
	return all, err
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
