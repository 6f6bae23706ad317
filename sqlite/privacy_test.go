package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/voice/privacy"

	"github.com/google/go-cmp/cmp"
)

func TestWhoIsLeftOutIsKeptOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	ada, bob, elsewhere := privacy.Key{Guild: "g", User: "ada"}, privacy.Key{Guild: "g", User: "bob"}, privacy.Key{User: "ada"}
	for _, k := range []privacy.Key{bob, ada, elsewhere, ada} {
		if err := db.SetLeftOut(t.Context(), k, true); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // taking back what is not there is no error
		if err := db.SetLeftOut(t.Context(), bob, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).LeftOut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]privacy.Key{elsewhere, ada}, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}
