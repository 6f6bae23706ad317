package budget_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/llm"
)

// minute is something that takes a thousand tokens, for a tenth of a dollar, and a minute.
var minute = budget.Estimate{Model: "openai:hears", Usage: llm.Usage{InputTokens: 1000, USD: 0.10}, Time: time.Minute}

var ada = llm.Account{Guild: "g", User: "discord:ada", Purpose: "transcribe"}

// adas returns what Ada has spent today.
func (b *bench) adas(t *testing.T) budget.Amount {
	t.Helper()
	return b.sum(t, budget.Key{Level: budget.LevelUser, ID: ada.User, Day: b.now.Format(time.DateOnly)}).Amount
}

func TestWhatIsNoCallOfAModelIsCountedOnceAndRefusedWhereTheBudgetIsSpent(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelUser: {Money: budget.Dollars(0.25)}})
	ctx := llm.WithAccount(t.Context(), ada)
	done := 0
	spend := func() error {
		return b.keeper.Spend(ctx, minute, func(context.Context) (llm.Usage, time.Duration, error) {
			done++
			return llm.Usage{InputTokens: 800, USD: 0.08}, 50 * time.Second, nil
		})
	}
	for range 2 {
		if err := spend(); err != nil {
			t.Fatal(err)
		}
	}
	want := budget.Amount{Calls: 2, Tokens: 1600, Money: budget.Dollars(0.16), Time: 100 * time.Second}
	if got := b.adas(t); got != want {
		t.Errorf("spent %+v, want %+v", got, want)
	}
	var spent *llm.Error
	if err := spend(); !errors.As(err, &spent) || spent.Kind != llm.ErrBudgetSpent || done != 2 {
		t.Errorf("the third gave %v, and %d were done", err, done)
	}
	if err := b.keeper.Check(ctx, minute); !errors.As(err, &spent) {
		t.Errorf("May = %v", err)
	}
	if err := b.keeper.Check(llm.WithAccount(t.Context(), llm.Account{User: "discord:bob"}), minute); err != nil {
		t.Errorf("May for another = %v", err)
	}
}

func TestWhatFailsCountsAsEstimatedUnlessNothingWasSent(t *testing.T) {
	b := newBench(t, nil)
	ctx := llm.WithAccount(t.Context(), ada)
	for _, err := range []error{errors.New("broken off"), &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		if got := b.keeper.Spend(ctx, minute, func(context.Context) (llm.Usage, time.Duration, error) { return llm.Usage{}, 0, err }); !errors.Is(got, err) {
			t.Errorf("Spend = %v, want %v", got, err)
		}
	}
	if got := b.adas(t); got.Tokens != 1000 || got.Money != budget.Dollars(0.10) {
		t.Errorf("spent %+v, want what one was thought to take", got)
	}
}

func TestAPriceOfTheSettingsGoesBeforeTheListPrice(t *testing.T) {
	b := newBench(t, nil)
	b.rules.Prices["hears"] = llm.Price{Input: 2000}
	ctx := llm.WithAccount(t.Context(), ada)
	e := minute
	e.Usage.Unpriced = true
	if err := b.keeper.Spend(ctx, e, func(context.Context) (llm.Usage, time.Duration, error) { return e.Usage, e.Time, nil }); err != nil {
		t.Fatal(err)
	}
	if got := b.adas(t).Money; got != budget.Dollars(2) {
		t.Errorf("spent %s USD, want 2", got)
	}
	if b.last(t).Unpriced {
		t.Error("its price counts as unknown")
	}
}

func TestAHoldIsReplacedByWhatWasTakenForWhoeverTookIt(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Money: budget.Dollars(0.15)}})
	ctx := llm.WithAccount(t.Context(), llm.Account{Guild: "g"})
	h, err := b.keeper.Hold(ctx, minute)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.today(t); got.Held.Money != budget.Dollars(0.10) {
		t.Errorf("held %+v", got.Held)
	}
	if _, err := b.keeper.Hold(ctx, minute); err == nil {
		t.Error("more is held than may be spent")
	}
	h.Settle(llm.WithAccount(t.Context(), ada), llm.Usage{InputTokens: 500, USD: 0.12}, time.Second)
	h.Settle(ctx, llm.Usage{InputTokens: 500, USD: 0.12}, time.Second) // counts no second time
	h.Release(ctx)
	want := budget.Amount{Calls: 1, Tokens: 500, Money: budget.Dollars(0.12), Time: time.Second}
	if got := b.adas(t); got != want {
		t.Errorf("she has spent %+v, want %+v", got, want)
	}
	if got := b.today(t); got.Amount != want || got.Held != (budget.Amount{}) {
		t.Errorf("today %+v, held %+v", got.Amount, got.Held)
	}
}

func TestWhatIsReleasedWasNotTaken(t *testing.T) {
	b := newBench(t, nil)
	h, err := b.keeper.Hold(t.Context(), minute)
	if err != nil {
		t.Fatal(err)
	}
	h.Release(t.Context())
	h.Settle(llm.WithAccount(t.Context(), ada), llm.Usage{InputTokens: 500}, time.Second) // too late
	if got := b.today(t); got.Amount != (budget.Amount{}) || got.Held != (budget.Amount{}) {
		t.Errorf("today %+v, held %+v", got.Amount, got.Held)
	}
}
