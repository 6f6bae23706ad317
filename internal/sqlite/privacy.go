package sqlite

import (
	"context"

	"clank/voice"
)

// ListOptedOut implements [voice.PrivacyStore].
func (db *DB) ListOptedOut(ctx context.Context) ([]voice.PrivacyKey, error) {
	return list(ctx, db, "read who is left out of calls", func(scan func(...any) error) (k voice.PrivacyKey, err error) {
		err = scan(&k.Guild, &k.User)
		return k, err
	}, "SELECT guild, user FROM left_out ORDER BY guild, user")
}

// SetOptedOut implements [voice.PrivacyStore].
func (db *DB) SetOptedOut(ctx context.Context, k voice.PrivacyKey, out bool) error {
	statement := "DELETE FROM left_out WHERE guild = ? AND user = ?"
	if out {
		statement = "INSERT INTO left_out VALUES (?, ?) ON CONFLICT DO NOTHING"
	}
	return db.write(ctx, "save who is left out of calls", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, statement, k.Guild, k.User)
		return err
	})
}
