package sqlitetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// TestWatches tests what every [watches.Store] must pass. open returns an empty one.
func TestWatches(t *testing.T, open func(t *testing.T) watches.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, watches.Store){
		"a watch comes back as it was":          testWhole,
		"the list is in order and can be asked": testList,
		"limits hold":                           testLimits,
		"limits hold at once":                   testLimitsAtOnce,
		"a change is all or nothing":            testUpdate,
		"changes at once are not lost":          testUpdateAtOnce,
		"what ended long ago is forgotten":      testPrune,
		"a stop reaches it":                     testStop,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var begin = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

func sample(n int) watches.Watch {
	return watches.Watch{
		ID: fmt.Sprintf("w%d", n), Origin: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada",
			UserName: "Ada", Private: true,
		},
		URL: "https://shop.test/a?b=ü", What: "the price drops below 20",
		Condition: watches.Condition{Kind: watches.KindBelow, Number: 19.99, Currency: "EUR", Near: "Price", Text: "x"},
		Every:     15 * time.Minute, Until: begin.AddDate(0, 1, 0), State: watches.StateActive,
		Created:   begin.Add(time.Duration(n) * time.Second),
		NextCheck: begin.Add(time.Hour),
	}
}

func fullWatch() watches.Watch {
	w := sample(1)
	w.Reason, w.Problem, w.Failures, w.NeedsBrowser = "r", "p", 3, true
	w.CheckedAt, w.NotifiedAt = begin, begin.Add(time.Minute)
	w.Seen = watches.Seen{
		Title: "T", Lines: []string{"a", "", "ü\x00"}, Noise: []string{"n #"}, Value: "19,99 €",
		Met: true,
	}
	w.PendingNotice = &watches.Notice{At: begin, Kind: watches.NoticeMet, Text: "now", Diff: []string{"+ a"}, Title: "T"}
	w.LastNotice = &watches.Notice{At: begin, Kind: watches.NoticeTrouble, Text: "before"}
	return w
}

var sameTime = cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })

func add(t *testing.T, s watches.Store, list ...watches.Watch) {
	t.Helper()
	for _, w := range list {
		check.Must(t, s.AddWatch(t.Context(), w, 100, 100))
	}
}

func testWhole(t *testing.T, s watches.Store) {
	t.Helper()
	least := sample(2)
	add(t, s, fullWatch(), least)
	for _, want := range []watches.Watch{fullWatch(), least} {
		got, err := s.Watch(t.Context(), want.ID)
		check.Must(t, err)
		check.Diff(t, "watch", got, want, sameTime)
	}
	check.Fails(t, check.Err(s.Watch(t.Context(), "w9")), watches.ErrNotFound)
	check.Fails(t, s.AddWatch(t.Context(), least, 100, 100), nil, "add watch", "UNIQUE")
}

func ids(t *testing.T, s watches.Store, q watches.Query) []string {
	t.Helper()
	list, err := s.Watches(t.Context(), q)
	check.Must(t, err)
	var out []string
	for _, w := range list {
		out = append(out, w.ID)
	}
	return out
}

func testList(t *testing.T, s watches.Store) {
	t.Helper()
	other, ended, operator := sample(2), sample(3), sample(4)
	other.Origin.User, other.Origin.Guild = "bob", "h"
	ended.State = watches.StateEnded
	operator.Origin = sessions.Origin{Kind: sessions.FromTerminal}
	add(t, s, operator, sample(1), ended, other)
	ada, op := watches.OwnerOf(sample(1).Origin), watches.OwnerOf(sessions.Origin{Kind: sessions.FromDashboard})
	for _, c := range []struct {
		q    watches.Query
		want []string
	}{
		{watches.Query{}, []string{"w4", "w3", "w2", "w1"}},
		{watches.Query{Limit: 2}, []string{"w4", "w3"}},
		{watches.Query{Active: true}, []string{"w4", "w2", "w1"}},
		{watches.Query{Owner: &ada}, []string{"w3", "w1"}},
		{watches.Query{Owner: &ada, Active: true}, []string{"w1"}},
		{watches.Query{Owner: &op}, []string{"w4"}},
		{watches.Query{Guild: "h"}, []string{"w2"}},
		{watches.Query{Guild: "nowhere"}, nil},
	} {
		check.Diff(t, fmt.Sprint(c.q), ids(t, s, c.q), c.want)
	}
}

func testLimits(t *testing.T, s watches.Store) {
	t.Helper()
	ended, other := sample(1), sample(2)
	ended.State = watches.StateEnded
	other.Origin.User = "bob"
	for i, c := range []struct {
		w               watches.Watch
		perOwner, total int
		want            error
	}{
		{sample(3), 0, 9, watches.ErrTooMany},
		{ended, 1, 9, nil},
		{sample(3), 1, 9, nil},
		{sample(4), 1, 9, watches.ErrTooMany},
		{other, 1, 1, watches.ErrTooMany},
		{other, 1, 2, nil},
		{sample(4), 2, 3, nil},
	} {
		if err := s.AddWatch(t.Context(), c.w, c.perOwner, c.total); !errors.Is(err, c.want) {
			t.Errorf("%d: got %v, want %v", i, err, c.want)
		}
	}
	check.Equal(t, "watches", len(ids(t, s, watches.Query{})), 4)
}

func testLimitsAtOnce(t *testing.T, s watches.Store) {
	t.Helper()
	var added sync.Map
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := s.AddWatch(t.Context(), sample(i), 3, 100); err == nil {
				added.Store(i, true)
			} else if !errors.Is(err, watches.ErrTooMany) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check.Equal(t, "watches", len(ids(t, s, watches.Query{})), 3)
}

func testUpdate(t *testing.T, s watches.Store) {
	t.Helper()
	add(t, s, fullWatch())
	want := fullWatch()
	want.Seen, want.PendingNotice, want.Problem, want.NextCheck = watches.Seen{Lines: []string{"b"}}, nil, "",
		begin.Add(2*time.Hour)
	got, err := s.UpdateWatch(t.Context(), want.ID, func(w *watches.Watch) error {
		w.Seen, w.PendingNotice, w.Problem, w.NextCheck = want.Seen, nil, "", want.NextCheck
		return nil
	})
	check.Must(t, err)
	check.Diff(t, "returned", got, want, sameTime)
	no := errors.New("no")
	if _, err = s.UpdateWatch(t.Context(), want.ID, func(w *watches.Watch) error {
		w.Seen.Lines[0], w.State = "c", watches.StateEnded
		return no
	}); !errors.Is(err, no) {
		t.Errorf("a change that fails: %v", err)
	}
	if got, err = s.Watch(t.Context(), want.ID); err != nil {
		t.Fatal(err)
	}
	check.Diff(t, "kept", got, want, sameTime)
	check.Fails(t, check.Err(s.UpdateWatch(t.Context(), "w9", func(*watches.Watch) error { return nil })),
		watches.ErrNotFound)
}

func testUpdateAtOnce(t *testing.T, s watches.Store) {
	t.Helper()
	add(t, s, sample(1))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := s.UpdateWatch(t.Context(), "w1", func(w *watches.Watch) error {
				w.Failures++
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if w, err := s.Watch(t.Context(), "w1"); err != nil || w.Failures != 20 {
		t.Errorf("%d changes were kept, want 20; %v", w.Failures, err)
	}
}

func testPrune(t *testing.T, s watches.Store) {
	t.Helper()
	active, old, late := sample(1), sample(2), sample(3)
	old.State, late.State = watches.StateEnded, watches.StateEnded
	late.CheckedAt = begin.AddDate(0, 0, 10)
	add(t, s, active, old, late)
	n, err := s.PruneWatches(t.Context(), begin.AddDate(0, 0, 5))
	if err != nil || n != 1 {
		t.Errorf("forgot %d, %v; want 1", n, err)
	}
	check.Diff(t, "left", ids(t, s, watches.Query{}), []string{"w3", "w1"})
}

func testStop(t *testing.T, s watches.Store) {
	t.Helper()
	add(t, s, sample(1))
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	stop(why)
	_, errRead := s.Watch(ctx, "w1")
	_, errList := s.Watches(ctx, watches.Query{})
	_, errUpdate := s.UpdateWatch(ctx, "w1", func(*watches.Watch) error { return nil })
	_, errPrune := s.PruneWatches(ctx, begin)
	for i, err := range []error{s.AddWatch(ctx, sample(2), 9, 9), errRead, errList, errUpdate, errPrune} {
		if !errors.Is(err, why) {
			t.Errorf("%d: got %v, want the cause", i, err)
		}
	}
}
