package privacy_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"clank/voice/privacy"
)

// memory is a store that can fail.
type memory struct {
	mu   sync.Mutex
	keys map[privacy.Key]bool
	err  error
}

func (m *memory) LeftOut(context.Context) ([]privacy.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.keys)), m.err
}

func (m *memory) SetLeftOut(_ context.Context, k privacy.Key, out bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.keys == nil {
		m.keys = map[privacy.Key]bool{}
	}
	if delete(m.keys, k); out {
		m.keys[k] = true
	}
	return nil
}

func open(t *testing.T, m *memory) *privacy.List {
	t.Helper()
	l, err := privacy.Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAChoiceCountsForOnePersonOnOneServerAndOutlivesTheProgram(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	if l.LeftOut("g", "ada") {
		t.Fatal("left out before anything was chosen")
	}
	out, err := l.Toggle(t.Context(), "g", "ada")
	if err != nil || !out {
		t.Fatalf("Toggle = %v, %v; want true", out, err)
	}
	for _, l := range []*privacy.List{l, open(t, store)} {
		if !l.LeftOut("g", "ada") || l.LeftOut("h", "ada") || l.LeftOut("g", "bob") {
			t.Errorf("ada here %v, ada elsewhere %v, bob %v", l.LeftOut("g", "ada"), l.LeftOut("h", "ada"), l.LeftOut("g", "bob"))
		}
	}
	if out, err = l.Toggle(t.Context(), "g", "ada"); err != nil || out || l.LeftOut("g", "ada") || open(t, store).LeftOut("g", "ada") {
		t.Errorf("after taking it back: %v, %v", out, err)
	}
}

func TestWhatCannotBeSavedErrsOnTheSideOfSilence(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	full := errors.New("disk full")
	store.err = full
	if err := l.Set(t.Context(), "g", "ada", true); !errors.Is(err, full) || !l.LeftOut("g", "ada") {
		t.Errorf("leave out: %v, left out %v; want the error, and left out all the same", err, l.LeftOut("g", "ada"))
	}
	if err := l.Set(t.Context(), "g", "ada", false); !errors.Is(err, full) || !l.LeftOut("g", "ada") {
		t.Errorf("hear again: %v, left out %v; want the error, and still left out", err, l.LeftOut("g", "ada"))
	}
	if _, err := privacy.Open(t.Context(), store); !errors.Is(err, full) {
		t.Errorf("Open = %v, want the error of the store", err)
	}
}

func TestManyChoicesAtOnceLeaveListAndStoreAgreed(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	var wg sync.WaitGroup
	for range 7 {
		wg.Go(func() {
			if _, err := l.Toggle(t.Context(), "g", "ada"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !l.LeftOut("g", "ada") || !store.keys[privacy.Key{Guild: "g", User: "ada"}] {
		t.Error("seven turns should leave ada out, in the list and in the store")
	}
}
