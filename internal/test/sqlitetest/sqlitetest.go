// Package sqlitetest provides databases for tests that need a store. It defines the contracts of the watch store and
// the ledger as test suites, including the property test that money adds up.
package sqlitetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"
)

// Open returns an empty database in a temporary file. It is closed when the test ends.
func Open(tb testing.TB) *sqlite.DB {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "clank.db")
	content, err := empty()
	err = errors.Join(err, os.WriteFile(path, content, 0o600))
	db, openErr := sqlite.Open(tb.Context(), path)
	check.Must(tb, errors.Join(err, openErr))
	tb.Cleanup(func() { check.Must(tb, db.Close()) })
	return db
}

// empty returns the file of an empty database: copying it is faster than creating the tables.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "clank-test-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "clank.db")
	db, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
