package sqlite_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

type values = map[string]json.RawMessage

func TestSettingsAreSavedAtomically(t *testing.T) {
	db := openNew(t)
	got, v0, err := db.LoadSettings(t.Context())
	if err != nil || len(got) != 0 || v0 != "" {
		t.Fatalf("before the first save: %v, version %q, %v", got, v0, err)
	}
	v1, err := db.SaveSettings(t.Context(), values{"a": json.RawMessage(`1`), "b": json.RawMessage(`"ü"`)}, v0)
	check.Must(t, err)
	want := values{"b": json.RawMessage(`{"x": [null]}`)}
	v2, err := db.SaveSettings(t.Context(), want, v1)
	check.Must(t, err)
	got, version, err := db.LoadSettings(t.Context())
	check.Must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || version != v2 || v1 == v2 {
		t.Errorf("version %q after %q and %q; values (-want +got):\n%s", version, v1, v2, diff)
	}
	v3, err := db.SaveSettings(t.Context(), nil, v2)
	check.Must(t, err)
	if got, version, err = db.LoadSettings(t.Context()); err != nil || len(got) != 0 || version != v3 {
		t.Errorf("got %v, version %q, %v; want none, version %q", got, version, err, v3)
	}
}

func TestSettingsThatNameAnIDAreFoundByTheWholeID(t *testing.T) {
	db := openNew(t)
	_, err := db.SaveSettings(t.Context(), values{
		"address": json.RawMessage(`"http://127.0.0.1:8787/v1"`), "days": json.RawMessage(`127`),
		"grants": json.RawMessage(`"work:127\nhome: <@1>"`), "people": json.RawMessage(`"1, 1270\n42"`),
	}, "")
	check.Must(t, err)
	got := map[string][]string{}
	for _, id := range []string{"127", "1", "42", "0", "7"} {
		got[id], err = db.SettingsNaming(t.Context(), id)
		check.Must(t, err)
	}
	want := map[string][]string{"127": {"grants"}, "1": {"grants", "people"}, "42": {"people"}, "0": nil, "7": nil}
	check.Diff(t, "settings by ID", got, want)
}

func TestADamagedSettingCanBeShownAndSetAgain(t *testing.T) {
	db := openNew(t)
	version, err := db.SaveSettings(t.Context(), values{"a": json.RawMessage(`1`)}, "")
	check.Must(t, err)
	check.Must(t, db.Damage(t.Context(), "a"))
	got, _, err := db.LoadSettings(t.Context())
	if want := `{"damaged":"{"}`; err != nil || string(got["a"]) != want {
		t.Errorf("it is shown as %s, %v", got["a"], err)
	}
	check.Must(t, check.Err(db.SaveSettings(t.Context(), values{"a": json.RawMessage(`2`)}, version)))
}

func TestAStaleChangeOfSettingsIsRefused(t *testing.T) {
	db := openNew(t)
	for _, stale := range []string{"1", "x"} {
		check.Fails(t, check.Err(db.SaveSettings(t.Context(), values{}, stale)), settings.ErrConflict)
	}
	v1, err := db.SaveSettings(t.Context(), values{"a": json.RawMessage(`1`)}, "")
	check.Must(t, err)
	check.Fails(t, check.Err(db.SaveSettings(t.Context(), values{"a": json.RawMessage(`2`)}, "")), settings.ErrConflict)
	got, version, err := db.LoadSettings(t.Context())
	if err != nil || string(got["a"]) != "1" || version != v1 {
		t.Errorf("after a refusal: %s, version %q, %v", got["a"], version, err)
	}
}

func TestOneOfManyConcurrentSavesWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	a, b := open(t, path), open(t, path)
	var mu sync.Mutex
	var won int
	var wg sync.WaitGroup
	for _, db := range []settings.Store{a, b, a, b, a, b} {
		wg.Go(func() {
			_, err := db.SaveSettings(t.Context(), values{"k": json.RawMessage(`1`)}, "")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, settings.ErrConflict):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check.Equal(t, "saves succeeded", won, 1)
}
