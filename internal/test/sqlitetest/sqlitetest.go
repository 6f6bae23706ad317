// Package sqlitetest provides databases for tests that need a store. It defines the contracts of the watch store and
// the ledger as test suites, including the property test that money adds up.
package sqlitetest

import (
	"context"
	"errors"
	"io/fs"
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
	Create(tb, path)
	db, err := sqlite.Open(tb.Context(), path)
	check.Must(tb, err)
	tb.Cleanup(func() { check.Must(tb, db.Close()) })
	return db
}

// Create writes an empty database to a file, unless it exists.
func Create(tb testing.TB, path string) {
	tb.Helper()
	content, err := empty()
	check.Must(tb, err)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return
	}
	check.Must(tb, err)
	_, err = file.Write(content)
	check.Must(tb, errors.Join(err, file.Close()))
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
