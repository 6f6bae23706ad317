package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"clank/sessions"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// statementCache caches prepared statements of the writer: parsing a statement takes longer than running it.
type statementCache struct {
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// maxStatements bounds the cache. There are fewer statements than this.
const maxStatements = 100

func (s *statementCache) lookup(query string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared[query]
}

// prepareAll prepares queries while the writer's only connection is free. A query that cannot be prepared is parsed
// each time.
func (s *statementCache) prepareAll(ctx context.Context, writer *sql.DB, queries []string) {
	for _, query := range queries {
		stmt, err := writer.PrepareContext(ctx, query)
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.prepared == nil {
			s.prepared = make(map[string]*sql.Stmt)
		}
		known := s.prepared[query] != nil || len(s.prepared) == maxStatements
		if !known {
			s.prepared[query] = stmt
		}
		s.mu.Unlock()
		if known {
			_ = stmt.Close() //nolint:sqlclosecheck // cached ones stay open
		}
	}
}

func (s *statementCache) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared = nil
	return errors.Join(errs...)
}

// transaction is a write transaction that uses prepared statements.
type transaction struct {
	*sql.Tx
	statements *statementCache
	unprepared []string // queries that were not prepared
}

// ExecContext does a single statement.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := t.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // closed with the transaction
		return stmt.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext does a single statement that returns a row.
func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := t.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // closed with the transaction
		return stmt.QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}

func (t *transaction) prepared(ctx context.Context, query string) *sql.Stmt {
	stmt := t.statements.lookup(query)
	if stmt == nil {
		t.unprepared = append(t.unprepared, query)
		return nil
	}
	return t.StmtContext(ctx, stmt) // closed with the transaction
}

// explain adds to err what it means for the operator and what to do, where SQLite's message does not say so.
func (db *DB) explain(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.ErrNotFound
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, fs.ErrPermission) {
		return db.fault(err, readOnlyText)
	}
	var from *sqlite.Error
	if !errors.As(err, &from) {
		return err
	}
	switch from.Code() & 0xff { // the higher bits give details
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return db.fault(err, damagedText)
	case lib.SQLITE_FULL:
		return db.fault(err, "there is no room for clank's database; free some space on its disk")
	case lib.SQLITE_IOERR:
		return db.fault(err, "the disk of clank's database fails or is full; look at its free space and its health")
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return db.fault(err, readOnlyText)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return db.fault(err, fmt.Sprintf("another program has kept clank's database locked for %s; end it, or try again "+
			"when it is done", busyWait))
	}
	return err
}

const (
	readOnlyText = "clank's database cannot be written; check who owns the file and its folder, and whether its disk is " +
		"read-only"
	damagedText = "clank's database is damaged or no database; it was left as it is. Put back a backup (clank restore " +
		"--replace FILE), or move it away to begin with a new one; `sqlite3 FILE .recover` can often save what is in it"
)

// fault returns an error whose text is for people; its cause names the file, for the log.
func (db *DB) fault(err error, text string) error {
	return &sessions.StoreError{Text: text, Err: fmt.Errorf("%s: %w", db.path, err)}
}

// checkFile fails if the file was removed or replaced: data written to it would be lost when this process exits.
func (db *DB) checkFile() error {
	now, err := os.Stat(db.path)
	if err == nil && os.SameFile(now, db.file) {
		return nil
	}
	return db.fault(cmp.Or(err, errReplaced), "clank's database was removed or replaced while clank ran, so nothing can "+
		"be kept; put it back and start clank again")
}

var errReplaced = errors.New("it is another file now")

// isBusy reports whether the error means that another process holds a lock.
func isBusy(err error) bool {
	var from *sqlite.Error
	return errors.As(err, &from) && from.Code()&0xff == lib.SQLITE_BUSY
}
