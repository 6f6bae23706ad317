package sqlite

import (
	"context"

	"clank/voice"
)

// ListOptedOut implements [voice.PrivacyStore].
func (db *DB) ListOptedOut(ctx context.Context) (all []voice.PrivacyKey, err error) {
	err = db.query(ctx, "read who is left out of calls", func(scan func(...any) error) error {
		var k voice.PrivacyKey
		if err := scan(&k.Guild, &k.User); err != nil {
			return err
		}
		all = append(all, k)
		return nil
	}, "SELECT guild, user FROM left_out ORDER BY guild, user")
	return all, err
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
