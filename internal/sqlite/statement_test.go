package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/sessions"
)

func TestAStatementThatWasDoneOnceIsPrepared(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "clank.db"))
	if db.SavesSessionsPrepared() {
		t.Error("it is prepared before it was done")
	}
	for _, title := range []string{"first", "second", "third"} { // read, prepared, used
		if err := db.SaveSession(t.Context(), sessions.Session{ID: "s", Title: title, State: sessions.SessionIdle}); err != nil {
			t.Fatal(err)
		}
		if got, err := db.Session(t.Context(), "s"); err != nil || got.Title != title || !db.SavesSessionsPrepared() {
			t.Errorf("saved %q, read %q, %v; prepared %v", title, got.Title, err, db.SavesSessionsPrepared())
		}
	}
}
