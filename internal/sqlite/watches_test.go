package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/internal/test/watchestest"
	"clank/internal/watches"
)

func TestTheDatabaseIsAStoreOfWatches(t *testing.T) {
	watchestest.TestStore(t, func(t *testing.T) watches.Store {
		t.Helper()
		return open(t, filepath.Join(t.TempDir(), "clank.db"))
	})
}

func TestWatchesOutliveTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	if err := db.AddWatch(t.Context(), watches.Watch{ID: "w1", State: watches.StateActive, URL: "https://a.test/"}, 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, path).Watch(t.Context(), "w1"); err != nil || got.URL != "https://a.test/" {
		t.Errorf("got %+v, %v", got, err)
	}
}
