package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"clank/sessions"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// explain says what err means for the people who run this, and the way out, where SQLite's words do not.
func (db *DB) explain(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.ErrNotFound
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s cannot be written; check who owns the file and its folder: %w", db.path, err)
	}
	var from *sqlite.Error
	if !errors.As(err, &from) {
		return err
	}
	switch from.Code() & 0xff { // the rest tells a kind of it
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%s is damaged or no database; it was left as it is. Put back a copy, or move it away to begin with a new one; "+
			"`sqlite3 FILE .recover` can often save what is in it: %w", db.path, err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("no room for %s; free some space on its disk: %w", db.path, err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%s cannot be written; check who owns the file and its folder: %w", db.path, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("another program has kept %s locked for %s; end it, or try again when it is done: %w", db.path, busyWait, err)
	}
	return err
}

// isBusy reports whether somebody else holds a lock.
func isBusy(err error) bool {
	var from *sqlite.Error
	return errors.As(err, &from) && from.Code()&0xff == lib.SQLITE_BUSY
}
