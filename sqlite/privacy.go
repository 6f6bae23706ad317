package sqlite

import (
	"context"

	"clank/voice/privacy"
)

// LeftOut implements [privacy.Store].
func (db *DB) LeftOut(ctx context.Context) (all []privacy.Key, err error) {
	err = db.query(ctx, "read who is left out of calls", func(scan func(...any) error) error {
		var k privacy.Key
		if err := scan(&k.Guild, &k.User); err != nil {
			return err
		}
		all = append(all, k)
		return nil
	}, "SELECT guild, user FROM left_out ORDER BY guild, user")
	return all, err
}

// SetLeftOut implements [privacy.Store].
func (db *DB) SetLeftOut(ctx context.Context, k privacy.Key, out bool) error {
	statement := "DELETE FROM left_out WHERE guild = ? AND user = ?"
	if out {
		statement = "INSERT INTO left_out VALUES (?, ?) ON CONFLICT DO NOTHING"
	}
	return db.write(ctx, "save who is left out of calls", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, statement, k.Guild, k.User)
		return err
	})
}
