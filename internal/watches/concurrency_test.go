package watches_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/watches"
	"clank/sessions"
)

func TestManyWatchesWaitForTheirTurnsAndNoneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		w.limits = watches.Limits{PerOwner: 5, Total: 1000, MinInterval: 15 * time.Minute}
		for i := range 60 { // all at the same moment
			owner := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: fmt.Sprint("user", i)}
			if _, err := w.Add(t.Context(), watches.Watch{Origin: owner, URL: "https://shop.test/"}); err != nil {
				t.Fatal(err)
			}
		}
		w.slow = 100 * time.Second // two at once: the last waits for 50 minutes
		defer w.begin(t)()
		pass(12 * time.Hour)
		if w.most != 2 {
			t.Errorf("%d pages were read at once, want 2", w.most)
		}
		if len(w.told) > 0 {
			t.Errorf("%d were told of something, such as %q", len(w.told), w.told[0].Text)
		}
		list, err := w.List(t.Context(), watches.Query{})
		if err != nil || len(list) != 60 {
			t.Fatalf("got %d watches, %v", len(list), err)
		}
		for _, x := range list {
			if x.State != watches.StateActive || x.Failures > 0 || time.Since(x.CheckedAt) > 4*time.Hour {
				t.Fatalf("got %s, %d failures (%s), looked at %s ago", x.State, x.Failures, x.Problem, time.Since(x.CheckedAt))
			}
		}
	})
}

func TestWhoMayNoLongerAskIsNotWatchedForNorTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		var why error // under the lock of w
		w.CheckAllowed = func(context.Context, watches.Watch) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			return why
		}
		refuse := func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			why = err
		}
		defer w.begin(t)()
		x := w.add(t, watches.Condition{})
		pass(2 * time.Hour)
		const closed = "this channel is not on the list"
		refuse(errors.New(closed))
		w.show("other")
		before := len(w.looks)
		pass(10 * time.Hour)
		got, err := w.Store.Watch(t.Context(), x.ID)
		if err != nil || len(w.looks) != before || len(w.told) > 0 || got.Problem != closed || got.State != watches.StateActive {
			t.Errorf("looked %d times, told %v; got %+v, %v", len(w.looks)-before, texts(w.told), got, err)
		}
		refuse(nil)
		pass(2 * time.Hour)
		if len(w.told) != 1 {
			t.Errorf("told %v once it was allowed again, want the change", texts(w.told))
		}
		refuse(errors.New("not on that server any more"))
		pass(30*24*time.Hour - 10*time.Hour)
		if got, err = w.Store.Watch(t.Context(), x.ID); err != nil || got.State != watches.StateEnded || len(w.told) != 1 {
			t.Errorf("after its time: %+v, %v; told %v", got, err, texts(w.told))
		}
	})
}
