package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statementCache keeps what was prepared for the writer: reading a statement takes SQLite longer than doing it.
type statementCache struct {
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

// maxStatements bounds what is kept. There are fewer statements than this.
const maxStatements = 100

func (s *statementCache) lookup(query string) *sql.Stmt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared[query]
}

// prepareAll prepares queries, once the only connection of the writer is free again.
// One that cannot be prepared is read each time, as it was.
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
			_ = stmt.Close() //nolint:sqlclosecheck // those that are kept stay open
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

// transaction is a transaction of the writer that uses what is prepared.
type transaction struct {
	*sql.Tx
	statements *statementCache
	unprepared []string // what was done without
}

// ExecContext does a single statement.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := t.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it ends with the transaction
		return stmt.ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext does a single statement that returns a row.
func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := t.prepared(ctx, query); stmt != nil { //nolint:sqlclosecheck // it ends with the transaction
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
	return t.StmtContext(ctx, stmt) // ends with the transaction
}
