package cancel_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

var (
	room  = cancel.Scope{Guild: "g", Channel: "c"}
	other = cancel.Scope{Guild: "g", Channel: "d"}
	ada   = cancel.Actor{ID: "u1", Name: "@ada"}
	bob   = cancel.Actor{ID: "u2", Name: "@bob"}
	mod   = cancel.Actor{ID: "u3", Name: "@mod", Moderator: true}
)

func begin(t *testing.T, s *cancel.Scopes, scope cancel.Scope, w cancel.Work) (context.Context, *cancel.Handle) {
	t.Helper()
	ctx, h := s.Begin(t.Context(), scope, w)
	t.Cleanup(h.End)
	return ctx, h
}

func TestStopEndsTheWorkOfItsScopeAndTellsWho(t *testing.T) {
	var s cancel.Scopes
	w := cancel.Work{ID: "1", Owner: "u1", Label: "browse: lamps"}
	ctx, _ := begin(t, &s, room, w)
	elsewhere, _ := begin(t, &s, other, cancel.Work{ID: "2", Owner: "u1"})

	stopped, refused := s.Stop(room, ada, false)
	if diff := cmp.Diff([]cancel.Work{w}, stopped); diff != "" || refused != nil {
		t.Fatalf("stopped (-want +got):\n%s refused: %v", diff, refused)
	}
	if ctx.Err() == nil {
		t.Fatal("context is alive after Stop returned")
	}
	check.Equal(t, "cause", context.Cause(ctx).Error(), "stopped by @ada")
	if elsewhere.Err() != nil {
		t.Error("work in another channel was stopped")
	}
}

func TestWhoMayStop(t *testing.T) {
	for _, tc := range []struct {
		name   string
		by     cancel.Actor
		anyone bool
		want   bool
	}{
		{"the one who asked", ada, false, true},
		{"somebody else", bob, false, false},
		{"a moderator", mod, false, true},
		{"somebody else where anyone may", bob, true, true},
		{"nobody in particular", cancel.Actor{}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s cancel.Scopes
			ctx, _ := begin(t, &s, room, cancel.Work{ID: "1", Owner: "u1"})
			stopped, refused := s.Stop(room, tc.by, tc.anyone)
			if got := ctx.Err() != nil; got != tc.want || len(stopped) == len(refused) {
				t.Errorf("stopped = %v (%v, refused %v), want %v", got, stopped, refused, tc.want)
			}
		})
	}
}

func TestWorkWithoutAnOwnerIsNotStoppedByAnonymous(t *testing.T) {
	var s cancel.Scopes
	ctx, _ := begin(t, &s, room, cancel.Work{ID: "1"})
	if s.Stop(room, cancel.Actor{}, false); ctx.Err() != nil {
		t.Error("an actor without an id stopped work without an owner")
	}
}

func TestEndingOneHandleLeavesItsSuccessorAlone(t *testing.T) {
	var s cancel.Scopes
	_, first := s.Begin(t.Context(), room, cancel.Work{ID: "same"})
	first.End()
	ctx, second := begin(t, &s, room, cancel.Work{ID: "same"})
	first.End()
	if got := len(s.Active(room)); got != 1 || ctx.Err() != nil {
		t.Errorf("active = %d, want the second piece of work to go on", got)
	}
	second.End()
	check.Equal(t, "active after the end", len(s.Active(room)), 0)
}

func TestStopWorkFindsOnePieceOfWorkInAnyScope(t *testing.T) {
	var s cancel.Scopes
	one, _ := begin(t, &s, room, cancel.Work{ID: "1", Owner: "u1"})
	two, _ := begin(t, &s, room, cancel.Work{ID: "2", Owner: "u1"})
	if found, ok := s.StopWork("2", bob, false); !found || ok || two.Err() != nil {
		t.Errorf("a stranger's StopWork = %v %v", found, ok)
	}
	if found, ok := s.StopWork("2", ada, false); !found || !ok || two.Err() == nil {
		t.Errorf("the owner's StopWork = %v %v", found, ok)
	}
	if one.Err() != nil {
		t.Error("the other piece of work was stopped too")
	}
	if found, _ := s.StopWork("3", ada, false); found {
		t.Error("found work that is not there")
	}
}

func TestStopGuildEndsWhatRunsInAllItsChannels(t *testing.T) {
	s := &cancel.Scopes{}
	why := &cancel.Cause{Reason: cancel.Gone}
	for _, scope := range []cancel.Scope{room, other, {Guild: "h", Channel: "c"}, {Channel: "c"}} {
		ctx, h := s.Begin(t.Context(), scope, cancel.Work{ID: scope.Channel})
		defer h.End()
		s.StopGuild("g", why)
		if got := context.Cause(ctx); errors.Is(got, why) != (scope.Guild == "g") {
			t.Errorf("%+v: %v", scope, got)
		}
	}
}

func TestStopAllAlsoEndsWhatBeginsLater(t *testing.T) {
	var s cancel.Scopes
	before, _ := begin(t, &s, room, cancel.Work{ID: "1"})
	s.StopAll(&cancel.Cause{Reason: cancel.ShuttingDown})
	after, _ := begin(t, &s, other, cancel.Work{ID: "2"})
	for name, ctx := range map[string]context.Context{"before": before, "after": after} {
		if c := cancel.CauseOf(ctx, nil); c == nil || c.Reason != cancel.ShuttingDown {
			t.Errorf("%s: cause = %v, want shutting down", name, context.Cause(ctx))
		}
	}
}

func TestCausesReadAsSentences(t *testing.T) {
	for want, c := range map[string]cancel.Cause{
		"stopped":                           {Reason: cancel.Stopped},
		"stopped by @ada":                   {Reason: cancel.Stopped, By: "@ada"},
		"superseded by a newer request":     {Reason: cancel.Superseded},
		"budget spent: $2.00 of @ada's day": {Reason: cancel.BudgetSpent, Detail: "$2.00 of @ada's day"},
		"ran out of time":                   {Reason: cancel.TimedOut},
		"shutting down":                     {Reason: cancel.ShuttingDown},
		"nobody is waiting for it any more": {Reason: cancel.Gone},
	} {
		check.Equal(t, "Error()", c.Error(), want)
	}
}

func TestCauseOfLooksIntoErrorsAndContexts(t *testing.T) {
	c := &cancel.Cause{Reason: cancel.Stopped, By: "@ada"}
	ctx, stop := context.WithCancelCause(t.Context())
	if got := cancel.CauseOf(ctx, errors.New("x")); got != nil {
		t.Errorf("CauseOf a live context = %v", got)
	}
	stop(c)
	check.Equal(t, "CauseOf context", cancel.CauseOf(ctx, context.Canceled), c)
	if got := cancel.CauseOf(nil, //nolint:staticcheck // nil is documented as allowed
		fmt.Errorf("act: %w", c)); got != c {
		t.Errorf("CauseOf error = %v, want %v", got, c)
	}
}

func TestSleepObeysItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("stopped by @ada")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(stopped) })
		start := time.Now()
		if err := cancel.Sleep(ctx, time.Hour); !errors.Is(err, stopped) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
		if err := cancel.Sleep(t.Context(), time.Minute); err != nil || time.Since(start) != time.Second+time.Minute {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestScopesAreSafeForConcurrentUse(t *testing.T) {
	var s cancel.Scopes
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			ctx, h := s.Begin(t.Context(), room, cancel.Work{ID: strconv.Itoa(i), Owner: "u1"})
			s.Active(room)
			s.Stop(room, ada, false)
			if ctx.Err() == nil {
				t.Errorf("work %d survived its stop", i)
			}
			h.End()
		})
	}
	wg.Wait()
	if got := s.Active(room); len(got) != 0 {
		t.Errorf("active = %v, want none", got)
	}
}

func TestWhatHasEndedIsNotCountedAsStopped(t *testing.T) {
	for range 3000 {
		var s cancel.Scopes
		ctx, h := s.Begin(t.Context(), room, cancel.Work{ID: "1", Owner: "u1"})
		var ends sync.WaitGroup
		begin := make(chan struct{})
		ends.Go(func() { <-begin; h.End() })
		close(begin)
		stopped, _ := s.Stop(room, ada, false)
		ends.Wait()
		if got, want := cancel.CauseOf(ctx, nil) != nil, len(stopped) == 1; got != want {
			t.Fatalf("it was stopped: %v, and counted so: %v", got, want)
		}
	}
}

func TestWorkIsToldOldestFirst(t *testing.T) {
	var s cancel.Scopes
	var all, mine, others []string
	for n := range 30 {
		w := cancel.Work{ID: strconv.Itoa(n), Owner: "u1", Label: "browse " + strconv.Itoa(n)}
		if n%3 == 0 {
			w.Owner = "u2"
			others = append(others, w.ID)
		} else {
			mine = append(mine, w.ID)
		}
		all = append(all, w.ID)
		begin(t, &s, room, w)
	}
	ids := func(ws []cancel.Work) (ids []string) {
		for _, w := range ws {
			if w.Label != "browse "+w.ID {
				t.Errorf("work is told as %+v", w)
			}
			ids = append(ids, w.ID)
		}
		return ids
	}
	check.Diff(t, "active", ids(s.Active(room)), all)
	stopped, refused := s.Stop(room, ada, false)
	check.Diff(t, "stopped", ids(stopped), mine)
	check.Diff(t, "refused", ids(refused), others)
}

func TestTheContextOfWorkEndsWithIt(t *testing.T) {
	var s cancel.Scopes
	ctx, h := s.Begin(t.Context(), room, cancel.Work{ID: "1"})
	h.End()
	if ctx.Err() == nil || !errors.Is(context.Cause(ctx), context.Canceled) || cancel.CauseOf(ctx, nil) != nil {
		t.Errorf("after the end: %v, %v; want it released, and nobody's stop", ctx.Err(), context.Cause(ctx))
	}
	if found, stopped := s.StopWork("1", mod, true); found || stopped {
		t.Errorf("work that has ended: found %v, stopped %v", found, stopped)
	}
}
