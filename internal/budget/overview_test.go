package budget_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/test/check"
	"clank/llm"
)

func TestStatusReturnsTheLevelsOfAnAccount(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelUser: {Calls: 5}, budget.LevelDay: {Money: budget.Dollars(1)}})
	ada := llm.Account{Task: "t", Guild: "g", User: "discord:1"}
	check.Must(t, check.Err(b.ask(t.Context(), ada)))
	lines, err := b.keeper.Status(t.Context(), llm.Account{Guild: "g", User: "discord:1"})
	check.Must(t, err)
	want := []string{"user 1 of 5 calls", "guild 0.0003 USD, 1 calls, 300 tokens (no limit)", "day 0.0003 of 1.00 USD"}
	for i, l := range lines {
		if got := string(l.Key.Level) + " " + l.String(); i >= len(want) || got != want[i] {
			t.Errorf("got line %d %q, want %q", i, got, want)
		}
	}
	check.Equal(t, "len(lines)", len(lines), len(want))
}

func TestUsersAreThoseOfOneGuildToday(t *testing.T) {
	b := newBench(t, nil)
	for _, a := range []llm.Account{
		{Guild: "g", User: "discord:1"},
		{Guild: "other", User: "discord:2"},
		{User: "discord:1"},
	} {
		check.Must(t, check.Err(b.ask(t.Context(), a)))
	}
	lines, err := b.keeper.UserStatus(t.Context(), "g")
	if err != nil || len(lines) != 1 || lines[0].Key.ID != "discord:1" || lines[0].Spent.Calls != 1 {
		t.Errorf("got %+v, %v; want the one call of discord:1 in g", lines, err)
	}
}

func TestTheOverviewCountsDaysWhereTheSettingSays(t *testing.T) {
	b := newBench(t, nil)
	b.rules.Zone = time.FixedZone("UTC+13", 13*60*60)
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	o, err := b.keeper.Overview(t.Context())
	if err != nil || o.Day != "2026-03-02" || o.Today.Spent.Calls != 1 || len(o.Days) != 1 || len(o.Calls) != 1 {
		t.Errorf("got %+v, %v; want one call on the second of March", o, err)
	}
}

func TestTheOverviewShowsTheLimitThatHoldsForEachServer(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelGuild: {Calls: 100}})
	b.keeper.GuildLimit = func(guild string) budget.Amount {
		return map[string]budget.Amount{"strict": {Calls: 5, Tokens: 7000}, "lax": {Calls: 500}}[guild]
	}
	for _, guild := range []string{"strict", "lax", "none"} {
		check.Must(t, check.Err(b.ask(t.Context(), llm.Account{Guild: guild, User: "discord:1"})))
	}
	o, err := b.keeper.Overview(t.Context())
	check.Must(t, err)
	got := map[string]budget.Amount{}
	for _, g := range o.Guilds {
		got[g.Key.ID] = g.Limit
	}
	check.Diff(t, "limits", got, map[string]budget.Amount{
		"strict": {Calls: 5, Tokens: 7000}, "lax": {Calls: 100}, "none": {Calls: 100},
	})
}

func TestCostsAreThoseOfTheLastDays(t *testing.T) {
	b := newBench(t, nil)
	for _, day := range []int{26, 27, 28, 29} { // of a February without the last
		b.now = time.Date(2026, 2, day, 12, 0, 0, 0, time.UTC)
		check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	}
	costs, days, err := b.keeper.Costs(t.Context(), budget.CostByModel, 3, "")
	check.Must(t, err)
	check.Diff(t, "days", days, []string{"2026-02-27", "2026-02-28", "2026-03-01"})
	if len(costs) != 3 || costs[0].Day != days[0] || costs[2].Day != days[2] {
		t.Errorf("got %+v, want one of each day", costs)
	}
}

func TestOldEntriesAreDeletedWithoutANewOne(t *testing.T) {
	b := newBench(t, nil)
	check.Must(t, check.Err(b.ask(t.Context(), llm.Account{})))
	calls := func() int {
		b.keeper.ForgetOld(t.Context())
		list, err := b.ledger.Calls(t.Context(), 10)
		check.Must(t, err)
		return len(list)
	}
	b.now = b.now.AddDate(0, 0, 31)
	check.Equal(t, "calls() without a limit of days", calls(), 1)
	b.rules.KeepDays = 31
	check.Equal(t, "calls()", calls(), 1)
	b.rules.KeepDays = 30
	check.Equal(t, "calls()", calls(), 0)
	days, err := b.ledger.All(t.Context(), budget.LevelDay, "", 10)
	if err != nil || len(days) != 1 || days[0].Amount.Calls != 1 {
		t.Errorf("got days %+v, %v; want the one", days, err)
	}
}

func TestAnOverviewThatCannotBeReadIsAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, method := range []string{"Sums", "All", "Calls"} {
		b := newBench(t, nil)
		b.ledger.Fail = func(m string) error {
			if m == method {
				return broken
			}
			return nil
		}
		if _, err := b.keeper.Overview(t.Context()); !errors.Is(err, broken) {
			t.Errorf("%s: got %v, want %v", method, err, broken)
		}
	}
}

func TestMoneyIsExactAndReadable(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "0.00", 1: "1.00", 0.1: "0.10", 0.05: "0.0500", 0.00001: "0.0001",
		12.345: "12.35", -3: "0.00",
	} {
		check.Equal(t, fmt.Sprintf("Dollars(%v)", usd), budget.Dollars(usd).String(), want)
	}
	var sum budget.Money
	for range 10 {
		sum += budget.Dollars(0.1)
	}
	check.Equal(t, "ten dimes", sum, budget.Dollars(1))
}

// minute is something that takes a thousand tokens, for a tenth of a dollar, and a minute.
var minute = budget.Estimate{Model: "openai:hears", Usage: llm.Usage{InputTokens: 1000, USD: 0.10}, Time: time.Minute}

var ada = llm.Account{Guild: "g", User: "discord:ada", Purpose: "transcribe"}

// adas returns what Ada has spent today.
func (b *bench) adas(t *testing.T) budget.Amount {
	t.Helper()
	return b.sum(t, budget.Key{Level: budget.LevelUser, ID: ada.User, Day: b.now.Format(time.DateOnly)}).Amount
}

func TestOtherUsageIsChargedOnceAndRefusedWithoutABudget(t *testing.T) {
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
		check.Must(t, spend())
	}
	want := budget.Amount{
		Calls: 2, Tokens: 1600, Money: budget.Dollars(0.16), Time: 100 * time.Second,
		Talk: 100 * time.Second,
	}
	check.Equal(t, "spent", b.adas(t), want)
	var spent *llm.Error
	if err := spend(); !errors.As(err, &spent) || spent.Kind != llm.ErrBudgetSpent || done != 2 {
		t.Errorf("the third gave %v, and %d were done", err, done)
	}
	if err := b.keeper.Check(ctx, minute); !errors.As(err, &spent) {
		t.Errorf("May = %v", err)
	}
	check.Must(t, b.keeper.Check(llm.WithAccount(t.Context(), llm.Account{User: "discord:bob"}), minute))
}

func TestSpentTalkEndsTalkAndNothingElse(t *testing.T) {
	for _, level := range []budget.Level{budget.LevelUser, budget.LevelGuild} {
		b := newBench(t, budget.Limits{level: {Talk: 2 * time.Minute}})
		ctx := llm.WithAccount(t.Context(), ada)
		talk := func() error {
			return b.keeper.Spend(ctx, minute, func(context.Context) (llm.Usage, time.Duration, error) {
				return minute.Usage, time.Minute, nil
			})
		}
		check.Must(t, errors.Join(talk(), talk()))
		spent, ok := errors.AsType[*llm.Error](talk())
		if !ok || spent.Kind != llm.ErrBudgetSpent ||
			!strings.HasPrefix(spent.Message, "budget spent: 2 of 2 minutes of talk for this ") {
			t.Errorf("the third minute gave %v", spent)
		}
		check.Must(t, check.Err(b.ask(ctx, ada)))
	}
}

func TestFailedCallsCountAsEstimatedUnlessNothingWasSent(t *testing.T) {
	b := newBench(t, nil)
	ctx := llm.WithAccount(t.Context(), ada)
	for _, err := range []error{errors.New("broken off"), &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		check.Fails(t, b.keeper.Spend(ctx, minute, func(context.Context) (llm.Usage, time.Duration, error) {
			return llm.Usage{}, 0, err
		}), err)
	}
	if got := b.adas(t); got.Tokens != 1000 || got.Money != budget.Dollars(0.10) {
		t.Errorf("spent %+v, want what one was thought to take", got)
	}
}

func TestAPriceInTheSettingsOverridesTheListPrice(t *testing.T) {
	b := newBench(t, nil)
	b.rules.Prices["hears"] = llm.Price{Input: 2000}
	ctx := llm.WithAccount(t.Context(), ada)
	e := minute
	e.Usage.Unpriced = true
	check.Must(t, b.keeper.Spend(ctx, e, func(context.Context) (llm.Usage, time.Duration, error) {
		return e.Usage, e.Time, nil
	}))
	check.Equal(t, "b.adas(t).Money", b.adas(t).Money, budget.Dollars(2))
	if b.last(t).Unpriced {
		t.Error("its price counts as unknown")
	}
}

func TestAReservationIsReplacedByTheUsageOfItsAccount(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Money: budget.Dollars(0.15)}})
	ctx := llm.WithAccount(t.Context(), llm.Account{Guild: "g"})
	h, err := b.keeper.Hold(ctx, minute)
	check.Must(t, err)
	if got := b.today(t); got.Held.Money != budget.Dollars(0.10) {
		t.Errorf("held %+v", got.Held)
	}
	check.Fails(t, check.Err(b.keeper.Hold(ctx, minute)), nil, "0.10 of 0.15 USD for today")
	h.Settle(llm.WithAccount(t.Context(), ada), llm.Usage{InputTokens: 500, USD: 0.12}, time.Second)
	h.Settle(ctx, llm.Usage{InputTokens: 500, USD: 0.12}, time.Second) // counts no second time
	h.Release(ctx)
	want := budget.Amount{Calls: 1, Tokens: 500, Money: budget.Dollars(0.12), Time: time.Second, Talk: time.Second}
	check.Equal(t, "she has spent", b.adas(t), want)
	if got := b.today(t); got.Amount != want || got.Held != (budget.Amount{}) {
		t.Errorf("today %+v, held %+v", got.Amount, got.Held)
	}
}

func TestAReservationMayTurnOutTwiceAsHigh(t *testing.T) {
	for limit, fits := range map[float64]bool{0.30: true, 0.29: false} {
		b := newBench(t, budget.Limits{budget.LevelDay: {Money: budget.Dollars(limit)}})
		check.Must(t, check.Err(b.keeper.Hold(t.Context(), minute)))
		h, err := b.keeper.Hold(t.Context(), minute)
		check.Equal(t, fmt.Sprintf("another fits under %.2f USD: %v", limit, err), h != nil, fits)
	}
}

func TestACallNeedsMinutesThatAreNotSpent(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelDay: {Time: time.Minute}})
	h, err := b.keeper.Hold(t.Context(), minute)
	check.Must(t, err)
	check.Must(t, check.Err(b.ask(t.Context(), ada))) // they are reserved only, as by its own task
	h.Settle(t.Context(), minute.Usage, time.Minute)
	spent(t, check.Err(b.ask(t.Context(), ada)))
}

func TestAReleasedReservationIsNotCharged(t *testing.T) {
	b := newBench(t, nil)
	h, err := b.keeper.Hold(t.Context(), minute)
	check.Must(t, err)
	h.Release(t.Context())
	h.Settle(llm.WithAccount(t.Context(), ada), llm.Usage{InputTokens: 500}, time.Second) // too late
	if got := b.today(t); got.Amount != (budget.Amount{}) || got.Held != (budget.Amount{}) {
		t.Errorf("today %+v, held %+v", got.Amount, got.Held)
	}
}
