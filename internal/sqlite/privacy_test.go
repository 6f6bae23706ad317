package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

func TestWhoIsLeftOutIsKeptOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	ada, bob, elsewhere := voice.PrivacyKey{Guild: "g", User: "ada"}, voice.PrivacyKey{Guild: "g", User: "bob"}, voice.PrivacyKey{User: "ada"}
	for _, k := range []voice.PrivacyKey{bob, ada, elsewhere, ada} {
		if err := db.SetOptedOut(t.Context(), k, true); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // taking back what is not there is no error
		if err := db.SetOptedOut(t.Context(), bob, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).ListOptedOut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]voice.PrivacyKey{elsewhere, ada}, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}
