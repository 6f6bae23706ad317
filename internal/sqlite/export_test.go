package sqlite

import "context"

// Damage writes a stored setting over with what is no JSON.
func (db *DB) Damage(ctx context.Context, key string) error {
	_, err := db.writer.ExecContext(ctx, "UPDATE setting SET value = '{' WHERE key = ?", key)
	return err
}

// Exec runs statements that no caller can.
func (db *DB) Exec(ctx context.Context, statements string) error {
	_, err := db.writer.ExecContext(ctx, statements)
	return err
}

// SavesSessionsPrepared says whether the statement that saves a session is read no more.
func (db *DB) SavesSessionsPrepared() bool { return db.statements.lookup(saveSessionSQL) != nil }

// MigrationNames returns the names of the migrations in the order in which they are applied.
func MigrationNames() ([]string, error) { return migrationNames() }

// RuledTables returns the tables of which it is known what they hold of people.
func RuledTables() (names []string) {
	for _, r := range tableRules {
		names = append(names, r.table)
	}
	return names
}
