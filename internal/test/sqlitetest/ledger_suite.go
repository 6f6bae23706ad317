package sqlitetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

// TestLedger runs the suite that every [budget.Ledger] passes. open returns an empty one.
func TestLedger(t *testing.T, open func(t *testing.T) budget.Ledger) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, budget.Ledger){
		"WhatIsReservedCountsAtEveryLevel":    testReserve,
		"WhatIsRefusedIsNotWritten":           testRefused,
		"SettlingReplacesTheEstimateOnce":     testSettle,
		"WhatWasHeldIsAbandonedAsEstimated":   testAbandon,
		"ListsAreInOrder":                     testLists,
		"OldEntriesAreForgottenButNotTheDays": testForget,
		"TwoCannotReserveTheSameRest":         testAtOnce,
		"AnEndedContextChangesNothing":        testEnded,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// at is a time on the day of the suite.
var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = "2026-03-01"

func entry(task, user string, money budget.Money) budget.Entry {
	return budget.Entry{
		At: at, Day: day, Model: "test:model",
		Account: llm.Account{Task: task, Session: "s", Guild: "g", Channel: "c", User: user, Purpose: "browse"},
		Amount:  budget.Amount{Calls: 1, Tokens: int64(money) * 2, Money: money},
	}
}

func yes([]budget.Sum) error { return nil }

func reserve(t *testing.T, l budget.Ledger, e budget.Entry) int64 {
	t.Helper()
	id, err := l.Reserve(t.Context(), e, yes)
	check.Must(t, err)
	return id
}

func sum(a, b budget.Amount) budget.Amount { return a.Sub(budget.Amount{}.Sub(b)) }

// checkSums compares the sums of e's keys, at every level, with want.
func checkSums(t *testing.T, l budget.Ledger, e budget.Entry, want budget.Sum) {
	t.Helper()
	got, err := l.Sums(t.Context(), e.Keys())
	check.Must(t, err)
	for i, k := range e.Keys() {
		want.Key = k
		check.Diff(t, fmt.Sprintf("sum of %+v", k), got[i], want)
	}
}

func testReserve(t *testing.T, l budget.Ledger) {
	t.Helper()
	e := entry("t1", "discord:1", 10)
	checkSums(t, l, e, budget.Sum{})
	reserve(t, l, e)
	_, err := l.Reserve(t.Context(), e, func(sums []budget.Sum) error {
		for i, k := range e.Keys() {
			if sums[i].Key != k || sums[i].Amount != e.Amount || sums[i].Held != e.Amount {
				t.Errorf("asked about %+v, want one call held under %+v", sums[i], k)
			}
		}
		return nil
	})
	check.Must(t, err)
	twice := sum(e.Amount, e.Amount)
	checkSums(t, l, e, budget.Sum{Amount: twice, Held: twice})
	checkSums(t, l, budget.Entry{Day: "2026-03-02", Account: llm.Account{Task: "t9", Session: "s9", User: e.Account.User}},
		budget.Sum{})
}

func testRefused(t *testing.T, l budget.Ledger) {
	t.Helper()
	no := errors.New("no")
	e := entry("t1", "discord:1", 10)
	_, err := l.Reserve(t.Context(), e, func([]budget.Sum) error { return no })
	if err != no { //nolint:errorlint // must be returned unchanged
		t.Errorf("got %v, want the caller's error as it is", err)
	}
	checkSums(t, l, e, budget.Sum{})
	if calls, err := l.Calls(t.Context(), 10); len(calls) != 0 || err != nil {
		t.Errorf("got calls %+v, %v", calls, err)
	}
}

func testSettle(t *testing.T, l budget.Ledger) {
	t.Helper()
	e := entry("t1", "discord:1", 10)
	e.Unpriced = true
	id := reserve(t, l, e)
	real := budget.Amount{Calls: 1, Steps: 2, Tokens: 3, Money: 25, Time: time.Minute, Talk: time.Second}
	for _, amount := range []budget.Amount{real, {Money: 99}} { // the second one has no effect
		check.Must(t, l.Settle(t.Context(), id, amount, budget.StateSettled, false))
	}
	checkSums(t, l, e, budget.Sum{Amount: real})
	e.ID, e.State, e.Amount, e.Unpriced = id, budget.StateSettled, real, false
	calls, err := l.Calls(t.Context(), 10)
	if diff := cmp.Diff([]budget.Entry{e}, calls, cmp.Comparer(time.Time.Equal)); err != nil || diff != "" {
		t.Errorf("%v, calls (-want +got):\n%s", err, diff)
	}
	check.Fails(t, l.Settle(t.Context(), id+1, real, budget.StateSettled, false), budget.ErrNoEntry)
}

func testAbandon(t *testing.T, l budget.Ledger) {
	t.Helper()
	e := entry("t1", "discord:1", 10)
	id := reserve(t, l, e)
	done := reserve(t, l, e)
	check.Must(t, l.Settle(t.Context(), done, budget.Amount{Calls: 1}, budget.StateSettled, true))
	for _, want := range []int{1, 0} {
		if n, err := l.Abandon(t.Context()); n != want || err != nil {
			t.Errorf("Abandon() = %d, %v; want %d", n, err, want)
		}
	}
	check.Must(t, l.Settle(t.Context(), id, budget.Amount{}, budget.StateSettled, false))
	e.Amount.Calls++ // of the one that was done
	checkSums(t, l, e, budget.Sum{Amount: e.Amount, Unpriced: 1})
}

func testLists(t *testing.T, l budget.Ledger) {
	t.Helper()
	a, b, c := entry("t1", "discord:1", 10), entry("t2", "discord:2", 30), entry("t3", "discord:1", 5)
	c.Day, c.At = "2026-03-02", at.AddDate(0, 0, 1)
	step := budget.Entry{At: at, Day: day, Account: a.Account, Amount: budget.Amount{Steps: 1}}
	for _, e := range []budget.Entry{a, b, c, step} {
		check.Must(t, l.Settle(t.Context(), reserve(t, l, e), e.Amount, budget.StateSettled, false))
	}
	lists := map[string]func(context.Context) ([]budget.Sum, error){
		"discord:2 30,discord:1 10": func(ctx context.Context) ([]budget.Sum, error) {
			return l.All(ctx, budget.LevelUser, day, 10)
		},
		" 5, 40": func(ctx context.Context) ([]budget.Sum, error) {
			return l.All(ctx, budget.LevelDay, "", 10)
		},
		" 5": func(ctx context.Context) ([]budget.Sum, error) {
			return l.All(ctx, budget.LevelDay, "", 1)
		},
		"discord:1 5": func(ctx context.Context) ([]budget.Sum, error) {
			return l.People(ctx, "g", "2026-03-02", 10)
		},
		"discord:2 30": func(ctx context.Context) ([]budget.Sum, error) { return l.People(ctx, "g", day, 1) },
		"": func(ctx context.Context) ([]budget.Sum, error) {
			return l.People(ctx, "elsewhere", day, 10)
		},
	}
	for want, list := range lists {
		sums, err := list(t.Context())
		var said []string
		for _, s := range sums {
			said = append(said, fmt.Sprintf("%s %d", s.Key.ID, s.Amount.Money))
		}
		if got := strings.Join(said, ","); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	for by, want := range map[budget.CostKey]string{
		budget.CostByModel:   "2026-03-01 test:model 40,2026-03-02 test:model 5",
		budget.CostByGuild:   "2026-03-01 g 40,2026-03-02 g 5",
		budget.CostByUser:    "2026-03-01 discord:1 10,2026-03-01 discord:2 30,2026-03-02 discord:1 5",
		budget.CostByRuntime: "2026-03-01  40,2026-03-02  5",
	} {
		costs, err := l.Costs(t.Context(), by, day, "")
		var said []string
		for _, c := range costs {
			said = append(said, fmt.Sprintf("%s %s %d", c.Day, c.ID, c.Amount.Money))
		}
		if got := strings.Join(said, ","); got != want || err != nil {
			t.Errorf("costs by %s: got %q, %v; want %q", by, got, err, want)
		}
	}
	costs, err := l.Costs(t.Context(), budget.CostByModel, day, "discord:2")
	if err != nil || len(costs) != 1 || costs[0].Amount.Money != 30 {
		t.Errorf("costs of one person: %v, %v", costs, err)
	}
	if costs, err := l.Costs(t.Context(), budget.CostByModel, "2026-03-03", ""); len(costs) > 0 || err != nil {
		t.Errorf("costs of later days: %v, %v", costs, err)
	}
	calls, err := l.Calls(t.Context(), 2)
	if err != nil || len(calls) != 2 || calls[0].Account.Task != "t3" || calls[1].Account.Task != "t2" {
		t.Errorf("got calls %+v, %v; want those of t3 and t2", calls, err)
	}
}

func testForget(t *testing.T, l budget.Ledger) {
	t.Helper()
	old, held, now := entry("t1", "discord:1", 10), entry("t2", "discord:1", 20), entry("t3", "discord:1", 5)
	now.Day = "2026-03-02"
	for _, e := range []budget.Entry{old, now} {
		check.Must(t, l.Settle(t.Context(), reserve(t, l, e), e.Amount, budget.StateSettled, false))
	}
	id := reserve(t, l, held)
	check.Must(t, l.Forget(t.Context(), now.Day))
	if err := l.Settle(t.Context(), id, budget.Amount{Calls: 1, Money: 7}, budget.StateSettled, false); err != nil {
		t.Errorf("what was held was forgotten: %v", err)
	}
	calls, err := l.Calls(t.Context(), 10)
	if err != nil || len(calls) != 2 {
		t.Errorf("got %d calls, %v; want the one that was held and the one of today", len(calls), err)
	}
	sums, err := l.Sums(t.Context(), []budget.Key{
		{Level: budget.LevelDay, Day: day},
		{Level: budget.LevelTask, ID: "t1"},
		{Level: budget.LevelTask, ID: "t3"},
	})
	if err != nil || sums[0].Amount.Money != 17 || sums[1].Amount.Money != 0 || sums[2].Amount.Money != 5 {
		t.Errorf("got sums %+v, %v", sums, err)
	}
}

func testAtOnce(t *testing.T, l budget.Ledger) {
	t.Helper()
	const most, callers = 5, 20
	full := errors.New("full")
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			_, err := l.Reserve(t.Context(), entry("t1", "discord:1", 1), func(sums []budget.Sum) error {
				if sums[0].Amount.Calls >= most {
					return full
				}
				return nil
			})
			if err != nil && !errors.Is(err, full) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e := entry("t1", "discord:1", 1)
	want := budget.Amount{Calls: most, Tokens: 2 * most, Money: most}
	checkSums(t, l, e, budget.Sum{Amount: want, Held: want})
}

func testEnded(t *testing.T, l budget.Ledger) {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	why := errors.New("why")
	end(why)
	check.Fails(t, check.Err(l.Reserve(ctx, entry("t1", "discord:1", 1), yes)), why)
	checkSums(t, l, entry("t1", "discord:1", 1), budget.Sum{})
}
