package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// migrations are named NNNN_what.sql, from 0001 without gaps. One that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion returns the newest schema version that this program reads.
func SchemaVersion() int {
	names, _ := fs.Glob(migrations, "migrations/*.sql") // the pattern is valid
	return len(names)
}

// applicationID marks our files (PRAGMA application_id): "clnk".
const applicationID = 0x636c6e6b

// migrate upgrades the database in one transaction. It does not change a file of another program or a newer version.
func (db *DB) migrate(ctx context.Context, mayMigrate func() error) error {
	names, err := migrationNames()
	if err != nil {
		return err
	}
	// Check without a transaction first, because that does not change the file.
	version, err := fileVersion(ctx, db.writer, db.path, len(names))
	if err != nil {
		return err
	}
	if version > 0 && version < len(names) {
		if err := mayMigrate(); err != nil {
			return err
		}
	}
	if version == 0 {
		// Lets pruning shrink the file. It must be set before the first table is created.
		if _, err := db.writer.ExecContext(ctx, "PRAGMA auto_vacuum = incremental"); err != nil {
			return err
		}
	}
	if err := db.useWAL(ctx); err != nil {
		return err
	}
	return db.transact(ctx, "", func(t *transaction) error {
		tx := t.Tx // migrations run only once
		version, err := fileVersion(ctx, tx, db.path, len(names))
		if err != nil {
			return err
		}
		for _, name := range names[version:] {
			if err := applyMigration(ctx, tx, name); err != nil {
				return fmt.Errorf("bring it up to date with %s: %w", path.Base(name), err)
			}
		}
		if version == len(names) {
			return nil
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(names),
			applicationID))
		return err
	})
}

// migrationNames returns the migrations in the order in which they are applied.
func migrationNames() ([]string, error) { return fs.Glob(migrations, "migrations/*.sql") }

func applyMigration(ctx context.Context, tx *sql.Tx, name string) error {
	script, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, string(script))
	return err
}

// fileVersion returns the schema version of a database of ours, and an error for all others.
func fileVersion(ctx context.Context, q rowSource, file string, newest int) (int, error) {
	var version, app, tables int
	row := q.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM "+
		"pragma_application_id), (SELECT count(*) FROM sqlite_schema)")
	if err := row.Scan(&version, &app, &tables); err != nil {
		return 0, err
	}
	switch {
	case app == 0 && tables == 0 && version == 0:
		return 0, nil
	case app != applicationID:
		return 0, fmt.Errorf("%s is the database of another program; it was left as it is, choose another place", file)
	case version > newest:
		return 0, &NewerError{File: file, Schema: version}
	}
	return version, nil
}

// NewerError means that the database was created by a newer version.
type NewerError struct {
	File    string
	Schema  int    // of the database
	Version string // of the program that created it; empty if unknown
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was made by a newer version (%sits schema is %d, this version knows %d); it was left "+
		"as it is: install that version again, restore a backup from before (clank restore), or choose another place",
		e.File, strings.TrimPrefix(e.Version+", ", ", "), e.Schema, SchemaVersion())
}

// useWAL lets readers continue during writes. The mode is stored in the file. Another process that opens the same new
// file may hold a lock for which SQLite does not wait here.
func (db *DB) useWAL(ctx context.Context) error {
	ctx, done := context.WithTimeoutCause(ctx, busyWait, errors.New("another program keeps it locked"))
	defer done()
	again := time.Tick(10 * time.Millisecond)
	for {
		var mode string
		err := db.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode != "wal" {
			err = db.writer.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		}
		if !isBusy(err) {
			return err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
