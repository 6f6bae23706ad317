package budget_test

import (
	"errors"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/llm"
)

func TestLeftTellsTheLevelsThatConcernSomebody(t *testing.T) {
	b := newBench(t, budget.Limits{budget.LevelUser: {Calls: 5}, budget.LevelDay: {Money: budget.Dollars(1)}})
	ada := llm.Account{Task: "t", Guild: "g", User: "discord:1"}
	if _, err := b.ask(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	lines, err := b.keeper.Status(t.Context(), llm.Account{Guild: "g", User: "discord:1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user 1 of 5 calls", "guild 0.0003 USD, 1 calls, 300 tokens (no limit)", "day 0.0003 of 1.00 USD"}
	for i, l := range lines {
		if got := string(l.Key.Level) + " " + l.String(); i >= len(want) || got != want[i] {
			t.Errorf("got line %d %q, want %q", i, got, want)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("got %d lines, want %d", len(lines), len(want))
	}
}

func TestUsersAreThoseOfOneGuildToday(t *testing.T) {
	b := newBench(t, nil)
	for _, a := range []llm.Account{{Guild: "g", User: "discord:1"}, {Guild: "other", User: "discord:2"}, {User: "discord:1"}} {
		if _, err := b.ask(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := b.keeper.UserStatus(t.Context(), "g")
	if err != nil || len(lines) != 1 || lines[0].Key.ID != "discord:1" || lines[0].Spent.Calls != 1 {
		t.Errorf("got %+v, %v; want the one call of discord:1 in g", lines, err)
	}
}

func TestTheOverviewCountsDaysWhereTheSettingSays(t *testing.T) {
	b := newBench(t, nil)
	b.rules.Zone = time.FixedZone("UTC+13", 13*60*60)
	if _, err := b.ask(t.Context(), llm.Account{}); err != nil {
		t.Fatal(err)
	}
	o, err := b.keeper.Overview(t.Context())
	if err != nil || o.Day != "2026-03-02" || o.Today.Spent.Calls != 1 || len(o.Days) != 1 || len(o.Calls) != 1 {
		t.Errorf("got %+v, %v; want one call on the second of March", o, err)
	}
}

func TestOldEntriesAreForgottenOnceADay(t *testing.T) {
	b := newBench(t, nil)
	b.rules.KeepDays = 30
	forgot := 0
	b.ledger.Fail = func(method string) error {
		if method == "Forget" {
			forgot++
		}
		return nil
	}
	for range 3 {
		if _, err := b.ask(t.Context(), llm.Account{}); err != nil {
			t.Fatal(err)
		}
	}
	if forgot != 1 {
		t.Errorf("old entries were looked for %d times on one day, want once", forgot)
	}
	b.now = b.now.AddDate(0, 0, 31)
	if _, err := b.ask(t.Context(), llm.Account{}); err != nil {
		t.Fatal(err)
	}
	calls, err := b.ledger.Calls(t.Context(), 10)
	if err != nil || len(calls) != 1 || forgot != 2 {
		t.Errorf("got %d calls, %v, after %d times; want that of today alone", len(calls), err, forgot)
	}
	days, err := b.ledger.All(t.Context(), budget.LevelDay, "", 10)
	if err != nil || len(days) != 2 || days[1].Amount.Calls != 3 {
		t.Errorf("got days %+v, %v; want both", days, err)
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
	for usd, want := range map[float64]string{0: "0.00", 1: "1.00", 0.1: "0.10", 0.05: "0.0500", 0.00001: "0.0001", 12.345: "12.35", -3: "0.00"} {
		if got := budget.Dollars(usd).String(); got != want {
			t.Errorf("Dollars(%v) = %s, want %s", usd, got, want)
		}
	}
	var sum budget.Money
	for range 10 {
		sum += budget.Dollars(0.1)
	}
	if sum != budget.Dollars(1) {
		t.Errorf("ten dimes are %d, want a dollar", sum)
	}
}
