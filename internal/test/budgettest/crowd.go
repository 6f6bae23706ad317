package budgettest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/llm"
)

// testCrowd has many calls under way before the first is over, each of which
// then takes twice what it was estimated to. In tokens and in money the limit is
// passed by the estimate of one call at most.
func testCrowd(t *testing.T, l budget.Ledger) {
	t.Helper()
	const callers = 24
	for name, limit := range map[string]budget.Amount{
		"tokens": {Tokens: 12_000}, "money": {Money: budget.Dollars(0.012)},
	} {
		day := at.AddDate(0, 0, len(name)) // one of its own for each
		keeper := &budget.Enforcer{
			Ledger: l, Now: func() time.Time { return day },
			Rules: func() budget.Rules {
				return budget.Rules{
					Zone: time.UTC, Limits: budget.Limits{budget.LevelDay: limit}, Prices: map[string]llm.Price{"crowd": {Input: 1, Cached: 1, Output: 1}},
				}
			},
		}
		m := &barrierModel{settled: make(chan struct{}, callers), open: make(chan struct{})}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				_, err := keeper.Model(m).Generate(t.Context(), llm.Request{System: strings.Repeat("x", 1000), MaxTokens: 500}, nil)
				var failed *llm.Error
				switch {
				case errors.As(err, &failed) && failed.Kind == llm.ErrBudgetSpent:
					m.settled <- struct{}{}
				case err != nil:
					t.Errorf("%s: %v", name, err)
					m.settled <- struct{}{}
				}
			})
		}
		for range callers {
			<-m.settled
		}
		most := heldByOne(t, l, day)
		close(m.open)
		wg.Wait()
		checkCrowd(t, name, limit, most, sumOf(t, l, day).Amount)
	}
}

func checkCrowd(t *testing.T, name string, limit, most, got budget.Amount) {
	t.Helper()
	if limit.Tokens > 0 && got.Tokens > limit.Tokens+most.Tokens {
		t.Errorf("%s: got %d, want at most %d and one call's %d", name, got.Tokens, limit.Tokens, most.Tokens)
	}
	if limit.Money > 0 && got.Money > limit.Money+most.Money {
		t.Errorf("%s: got %s, want at most %s and one call's %s", name, got.Money, limit.Money, most.Money)
	}
	if got.Calls < 4 {
		t.Errorf("%s: %d calls were let through, want some", name, got.Calls)
	}
}

// heldByOne returns the estimate of each of the calls that are under way.
func heldByOne(t *testing.T, l budget.Ledger, day time.Time) budget.Amount {
	t.Helper()
	s := sumOf(t, l, day)
	if s.Held.Calls == 0 {
		t.Fatal("no call is under way")
	}
	return budget.Amount{Tokens: s.Held.Tokens / s.Held.Calls, Money: s.Held.Money / budget.Money(s.Held.Calls)}
}

func sumOf(t *testing.T, l budget.Ledger, day time.Time) budget.Sum {
	t.Helper()
	sums, err := l.Sums(t.Context(), []budget.Key{{Level: budget.LevelDay, Day: day.Format(time.DateOnly)}})
	if err != nil {
		t.Fatal(err)
	}
	return sums[0]
}

// barrierModel answers when all calls are under way or refused, with a token for each
// byte of what it read.
type barrierModel struct{ settled, open chan struct{} }

func (m *barrierModel) Name() string   { return "test:crowd" }
func (m *barrierModel) Caps() llm.Caps { return llm.Caps{} }

// Generate implements [llm.Model].
func (m *barrierModel) Generate(context.Context, llm.Request, func(llm.Delta)) (llm.Reply, error) {
	m.settled <- struct{}{}
	<-m.open
	return llm.Reply{Usage: llm.Usage{Calls: 1, InputTokens: 1500, OutputTokens: 500}}, nil
}
