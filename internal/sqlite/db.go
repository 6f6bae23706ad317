package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"clank/internal/settings"
	"clank/sessions"

	_ "modernc.org/sqlite" // the driver
)

// DB is an open database. Its methods are safe for concurrent use, also by several processes on one machine.
type DB struct {
	path    string
	process *process
	file    fs.FileInfo // identifies the file
	writer  *sql.DB     // a single connection: writers queue for it, and obey their context
	readers *sql.DB

	statements statementCache // prepared on the writer
	failing    atomic.Bool    // the last write failed, by a fault of the file or its disk
	closing    sync.Once
}

var (
	_ sessions.Store = (*DB)(nil)
	_ settings.Store = (*DB)(nil)
)

const (
	busyWait   = 15 * time.Second // for a write of another process
	maxReaders = 4

	usualMode = "PRAGMA synchronous=normal" // of the writer
)

// Open opens the database at path. If it does not exist it is created, readable only by this user, together with its
// folder. A database of an older version is migrated. A database of a newer version or another program, or a damaged
// file, is refused and not changed; the error says what to do.
func Open(ctx context.Context, path string) (*DB, error) {
	return OpenIf(ctx, path, func() error { return nil })
}

// OpenIf is like [Open], but returns the error of mayMigrate, if there is one, instead of migrating a database of an
// older version.
func OpenIf(ctx context.Context, path string, mayMigrate func() error) (*DB, error) {
	db, err := open(ctx, path, mayMigrate)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, nil
}

func open(ctx context.Context, path string, mayMigrate func() error) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	db := &DB{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(db.explain(ctx, err), db.Close())
		}
	}()
	if err := create(path); err != nil {
		return nil, err
	}
	if db.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	pragmas := []string{"foreign_keys(1)", "synchronous(normal)", "secure_delete(1)"}
	if db.writer, err = connect(path, 1, busyWait, pragmas...); err != nil {
		return nil, err
	}
	if err := db.migrate(ctx, mayMigrate); err != nil {
		return nil, err
	}
	if db.process, err = registerProcess(ctx, path); err != nil {
		return nil, err
	}
	db.readers, err = connect(path, maxReaders, busyWait, "query_only(1)")
	return db, err
}

// create makes sure that the file exists. It never opens an existing file: closing it would release this process's
// POSIX locks on it.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// connect returns a connection pool for the file, with pragmas set on each connection.
func connect(path string, most int, busy time.Duration, pragmas ...string) (*sql.DB, error) {
	return connectWith(path, most, url.Values{
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_txlock":       {"immediate"},
		"_pragma":       pragmas,
	})
}

func connectWith(path string, most int, q url.Values) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if name[0] != '/' { // C:/…
		name = "/" + name
	}
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: name, RawQuery: q.Encode()}
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	return pool, nil
}

// Close closes the database. Saved data is safe even without it. It may be called more than once.
func (db *DB) Close() (err error) {
	db.closing.Do(func() { err = db.close() })
	return err
}

func (db *DB) close() error {
	errs := []error{db.statements.close()}
	for _, pool := range []*sql.DB{db.readers, db.writer} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if db.process != nil {
		errs = append(errs, db.process.unregister())
	}
	return errors.Join(errs...)
}

// write runs f in a transaction. Its changes survive a crash of the process; a power failure may lose them until the
// next writeDurable.
func (db *DB) write(ctx context.Context, act string, f func(*transaction) error) error {
	return db.writeAs(ctx, act, "", f)
}

// writeDurable is like write, but on return its changes and all earlier ones are on disk.
func (db *DB) writeDurable(ctx context.Context, act string, f func(*transaction) error) error {
	return db.writeAs(ctx, act, "PRAGMA synchronous=full", f)
}

func (db *DB) writeAs(ctx context.Context, act, mode string, f func(*transaction) error) error {
	err := db.transact(ctx, mode, f)
	if err == nil {
		db.failing.Store(false)
		return nil
	}
	err = db.explain(ctx, err)
	if _, ok := errors.AsType[*sessions.StoreError](err); ok {
		db.failing.Store(true)
	}
	return fmt.Errorf("%s: %w", act, err)
}

// CheckWritable returns an error if the file was removed or replaced, or if the last write failed and one more, which
// changes nothing, fails too.
func (db *DB) CheckWritable(ctx context.Context) error {
	if err := db.checkFile(); err != nil || !db.failing.Load() {
		return err
	}
	return db.write(ctx, "write to the database", func(tx *transaction) error {
		_, err := tx.Tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
		return err
	})
}

func (db *DB) transact(ctx context.Context, mode string, f func(*transaction) error) error {
	if err := db.checkFile(); err != nil {
		return err
	}
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	unprepared, err := db.transactOn(ctx, conn, mode, f)
	if err := errors.Join(err, conn.Close()); err != nil {
		return err
	}
	db.statements.prepareAll(ctx, db.writer, unprepared)
	return nil
}

// transactOn runs a transaction and returns the statements that were not prepared.
func (db *DB) transactOn(
	ctx context.Context, conn *sql.Conn, mode string, f func(*transaction) error,
) (unprepared []string, err error) {
	if mode != "" {
		if _, err := conn.ExecContext(ctx, mode); err != nil {
			return nil, err
		}
		defer func() {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), usualMode) // if it fails the next writes are slower, but correct
		}()
	}
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	tx := &transaction{Tx: begun, statements: &db.statements}
	if err := f(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return nil, errors.Join(err, fmt.Errorf("undo it: %w", undo))
		}
		return nil, err
	}
	return tx.unprepared, tx.Commit()
}

// list returns the result of read for each row.
func list[T any](ctx context.Context, db *DB, act string, read func(scan func(...any) error) (T, error), query string,
	args ...any,
) (all []T, err error) {
	err = db.query(ctx, act, func(scan func(...any) error) error {
		one, err := read(scan)
		if err == nil {
			all = append(all, one)
		}
		return err
	}, query, args...)
	return all, err
}

// query calls f for each row.
func (db *DB) query(ctx context.Context, act string, f func(scan func(...any) error) error, query string,
	args ...any,
) error {
	err := func() error {
		rows, err := db.readers.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := f(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	}()
	if err != nil {
		return fmt.Errorf("%s: %w", act, db.explain(ctx, err))
	}
	return nil
}
