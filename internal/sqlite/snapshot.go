package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Version returns the number of the newest migration, which is the version of every database that [Open] has opened.
func Version() (int, error) {
	names, err := migrationNames()
	return len(names), err
}

// Snapshot copies the database at path to a new file and returns its version. The database may be in use. Unlike
// [Open] it does not migrate, so that a backup before an upgrade is unchanged.
func Snapshot(ctx context.Context, path, to string) (version int, err error) {
	version, err = withFile(ctx, path, func(pool *sql.DB) error { return copyInto(ctx, pool, to) })
	if from, is := errors.AsType[*sqlite.Error](err); is && from.Code()&0xff == lib.SQLITE_FULL {
		return 0, fmt.Errorf("copy the database: there is no room in %s; free some space there, or set TMPDIR to another "+
			"folder: %w", filepath.Dir(to), err)
	}
	if err != nil {
		return 0, fmt.Errorf("copy the database: %w", (&DB{path: path}).explain(ctx, err))
	}
	return version, nil
}

// CopyFile makes a consistent copy of any SQLite database. If the program that uses it has locked it, that is an
// error.
func CopyFile(ctx context.Context, path, to string) error {
	pool, err := connect(path, 1, 0)
	if err != nil {
		return err
	}
	return errors.Join(copyInto(ctx, pool, to), pool.Close())
}

func copyInto(ctx context.Context, pool *sql.DB, to string) error {
	_, err := pool.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// Check reads the whole database at path, which must not be in use, and returns its version. It returns an error if
// [Open] would refuse the database, or if it is damaged.
func Check(ctx context.Context, path string) (version int, err error) {
	version, err = withFile(ctx, path, func(pool *sql.DB) error {
		damage, err := findDamage(ctx, pool, "integrity_check")
		if err == nil && damage != "" {
			err = fmt.Errorf("%s is damaged: %s", path, damage)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("check the database: %w", err)
	}
	return version, nil
}

// MoveFiles changes the paths of the tasks' files in the database at path, which must not be in use, from one home to
// another.
func MoveFiles(ctx context.Context, path, from, to string) error {
	if from == "" || from == to {
		return nil
	}
	begin := func(dir string) string {
		text, _ := json.Marshal(dir + string(filepath.Separator)) // a string
		return `"path":` + strings.TrimSuffix(string(text), `"`)
	}
	_, err := withFile(ctx, path, func(pool *sql.DB) error {
		columns := 0 // none in a database of an old version
		err := pool.QueryRowContext(ctx, "SELECT count(*) FROM pragma_table_info('task') WHERE name IN "+
			"('files', 'downloads')").Scan(&columns)
		if err != nil || columns < 2 {
			return err
		}
		_, err = pool.ExecContext(ctx, `UPDATE task SET
			files = CAST(replace(CAST(files AS TEXT), ?1, ?2) AS BLOB),
			downloads = CAST(replace(CAST(downloads AS TEXT), ?1, ?2) AS BLOB)`, begin(from), begin(to))
		return err
	})
	if err != nil {
		return fmt.Errorf("change the paths of files in the database: %w", err)
	}
	return nil
}

// QuickCheck reads the whole database, but not its indexes, and returns an error if it is damaged. Others can use it
// meanwhile.
func (db *DB) QuickCheck(ctx context.Context) error {
	damage, err := findDamage(ctx, db.readers, "quick_check")
	if err == nil && damage != "" {
		err = db.fault(errors.New(damage), damagedText)
	}
	if err != nil {
		return fmt.Errorf("check the database: %w", db.explain(ctx, err))
	}
	return nil
}

// findDamage returns in one line what a pragma that checks the database finds first, "" for a sound one.
func findDamage(ctx context.Context, pool *sql.DB, pragma string) (damage string, err error) {
	err = pool.QueryRowContext(ctx, "PRAGMA "+pragma+"(1)").Scan(&damage)
	if damage == "ok" {
		return "", err
	}
	return strings.Join(strings.Fields(strings.TrimPrefix(damage, "*** in database main ***")), " "), err
}

// withFile calls do with the database at path, which must exist and be ours, and returns its version. Its folder may be
// read-only.
func withFile(ctx context.Context, path string, do func(*sql.DB) error) (version int, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, err
	}
	pool, err := connect(path, 1, busyWait)
	if err != nil {
		return 0, err
	}
	version, err = withPool(ctx, pool, path, do)
	from, is := errors.AsType[*sqlite.Error](err)
	if !is || from.Code()&0xff != lib.SQLITE_CANTOPEN {
		return version, err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return 0, from
	}
	// SQLite cannot make files beside it. Without a log it needs none.
	if pool, err = connectWith(path, 1, url.Values{"immutable": {"1"}}); err != nil {
		return 0, err
	}
	return withPool(ctx, pool, path, do)
}

// withPool is like withFile for a connection pool, which it closes.
func withPool(ctx context.Context, pool *sql.DB, path string, do func(*sql.DB) error) (version int, err error) {
	defer func() { err = errors.Join(err, pool.Close()) }()
	newest, err := Version()
	if err != nil {
		return 0, err
	}
	if version, err = fileVersion(ctx, pool, path, newest); err == nil && version == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	if err == nil {
		err = do(pool)
	}
	return version, err
}
