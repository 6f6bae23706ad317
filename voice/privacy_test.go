package voice_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"clank/internal/test/check"
	"clank/voice"
)

// memory is a store that can fail.
type memory struct {
	mu   sync.Mutex
	keys map[voice.PrivacyKey]bool
	err  error
}

func (m *memory) ListOptedOut(context.Context) ([]voice.PrivacyKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.keys)), m.err
}

func (m *memory) SetOptedOut(_ context.Context, k voice.PrivacyKey, out bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.keys == nil {
		m.keys = map[voice.PrivacyKey]bool{}
	}
	if delete(m.keys, k); out {
		m.keys[k] = true
	}
	return nil
}

func open(t *testing.T, m *memory) *voice.PrivacyList {
	t.Helper()
	l, err := voice.OpenPrivacyList(t.Context(), m)
	check.Must(t, err)
	return l
}

func TestAChoiceCountsForOnePersonOnOneServerAndOutlivesTheProgram(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	if l.OptedOut("g", "ada") {
		t.Fatal("left out before anything was chosen")
	}
	check.Must(t, l.Set(t.Context(), "g", "ada", true))
	for _, l := range []*voice.PrivacyList{l, open(t, store)} {
		if !l.OptedOut("g", "ada") || l.OptedOut("h", "ada") || l.OptedOut("g", "bob") {
			t.Errorf("ada here %v, ada elsewhere %v, bob %v", l.OptedOut("g", "ada"), l.OptedOut("h", "ada"),
				l.OptedOut("g", "bob"))
		}
	}
	if err := l.Set(t.Context(), "g", "ada", false); err != nil || l.OptedOut("g", "ada") ||
		open(t, store).OptedOut("g", "ada") {
		t.Errorf("after taking it back: %v", err)
	}
}

func TestWhatCannotBeSavedErrsOnTheSideOfSilence(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	full := errors.New("disk full")
	store.err = full
	if err := l.Set(t.Context(), "g", "ada", true); !errors.Is(err, full) || !l.OptedOut("g", "ada") {
		t.Errorf("leave out: %v, left out %v; want the error, and left out all the same", err, l.OptedOut("g", "ada"))
	}
	if err := l.Set(t.Context(), "g", "ada", false); !errors.Is(err, full) || !l.OptedOut("g", "ada") {
		t.Errorf("hear again: %v, left out %v; want the error, and still left out", err, l.OptedOut("g", "ada"))
	}
	check.Fails(t, check.Err(voice.OpenPrivacyList(t.Context(), store)), full)
}

func TestManyChoicesAtOnceLeaveListAndStoreAgreed(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := l.Set(t.Context(), "g", "ada", i%2 == 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if l.OptedOut("g", "ada") != store.keys[voice.PrivacyKey{Guild: "g", User: "ada"}] {
		t.Error("the list and the store do not agree")
	}
}
