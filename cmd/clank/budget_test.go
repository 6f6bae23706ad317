package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/brain"
	"clank/budget"
	"clank/budget/budgettest"
	"clank/llm"
	"clank/sessions"
	"clank/settings"
	"clank/sqlite"
)

// budgetHome is a home with a ledger in which two people have spent something.
func budgetHome(t *testing.T) (e *env, stdout *bytes.Buffer, k *budget.Keeper) {
	t.Helper()
	e, stdout, _ = testEnv(t)
	h, err := openHome(e.getenv)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(h.dir, "clank.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	k = newKeeper(db, settings.Defaults, slog.New(slog.DiscardHandler))
	now := time.Now()
	for _, a := range []llm.Account{{User: "discord:42", Guild: "7"}, {User: "discord:43", Guild: "7"}, {User: "discord:42"}} {
		e := budget.Entry{At: now, Day: now.Format(time.DateOnly), Account: a, Amount: budget.Amount{Calls: 1, Money: budget.Dollars(1.5)}}
		id, err := db.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		if err == nil {
			err = db.Settle(t.Context(), id, e.Amount, budget.Settled, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return e, stdout, k
}

func TestBudgetIsShownInTheTerminal(t *testing.T) {
	e, stdout, _ := budgetHome(t)
	if err := showBudget(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4.50 of 20.00 USD", "SERVER  7", "3.00 of 10.00 USD", "PERSON  discord:42", "3.00 of 5.00 USD", "DAY"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
	stdout.Reset()
	if err := showBudget(t.Context(), e, []string{"--json"}); err != nil {
		t.Fatal(err)
	}
	var o budget.Overview
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil || o.Today.Spent.Money != budget.Dollars(4.5) || len(o.Users) != 2 {
		t.Errorf("%v, got %+v", err, o)
	}
}

func TestDiscordIsToldWhatConcernsThePersonWhoAsks(t *testing.T) {
	_, _, k := budgetHome(t)
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", User: "42"}
	got, err := discordBudgets(k)(t.Context(), from, false)
	if err != nil || !strings.HasPrefix(got.Mine, "3.00 of 5.00 USD") || !strings.HasPrefix(got.Server, "3.00 of 10.00 USD") ||
		!strings.HasPrefix(got.Today, "4.50 of 20.00 USD") || got.People != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = discordBudgets(k)(t.Context(), from, true)
	if err != nil || len(got.People) != 2 || got.People[0].User != "42" || got.People[0].Spent != "1.50 USD, 1 calls" {
		t.Errorf("a moderator got %+v, %v", got.People, err)
	}
}

func TestWhatARunLeftOpenCountsAsEstimated(t *testing.T) {
	ledger := new(budgettest.Ledger)
	reserve := func(at time.Time) int64 {
		e := budget.Entry{At: at, Day: at.Format(time.DateOnly), Account: llm.Account{Task: "t"}, Amount: budget.Amount{Calls: 1, Money: 5}}
		id, err := ledger.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	open := reserve(time.Now())
	if _, err := openBudget(t.Context(), ledger, settings.Defaults, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	calls, err := ledger.Calls(t.Context(), 10)
	if err != nil || len(calls) != 1 || calls[0].ID != open || calls[0].State != budget.Estimated {
		t.Errorf("got %+v, %v; want the open call, as estimated", calls, err)
	}
}

func TestTheSettingsOfBudgetsAreThoseTheErrorsName(t *testing.T) {
	for _, level := range budget.Levels() {
		if _, ok := settings.FieldOf(budget.LimitKey + string(level)); !ok {
			t.Errorf("there is no setting %s%s", budget.LimitKey, level)
		}
	}
	if _, ok := settings.FieldOf(budget.PricesKey); !ok {
		t.Errorf("there is no setting %s", budget.PricesKey)
	}
}

func TestRulesAreWhatTheSettingsSay(t *testing.T) {
	rules := budgetRules(settings.Settings{RetentionInDays: 7, Budget: settings.Budget{
		Task: "0.5 USD, 3 steps, 2 minutes", Day: "7 calls 9 tokens", Zone: "UTC", Prices: "m 1 2 3",
	}})
	if got, want := rules.Limits[budget.Task], (budget.Amount{Money: budget.Dollars(0.5), Steps: 3, Time: 2 * time.Minute}); got != want {
		t.Errorf("got %s for a task, want %s", got, want)
	}
	if got, want := rules.Limits[budget.Day], (budget.Amount{Calls: 7, Tokens: 9}); got != want {
		t.Errorf("got %s for a day, want %s", got, want)
	}
	if rules.Keep != 7 || rules.Zone != time.UTC || rules.Prices["m"] != (llm.Price{Input: 1, Cached: 2, Output: 3}) {
		t.Errorf("got %+v", rules)
	}
}

// accountReader is a brain that notes to whom its calls would belong.
type accountReader struct{ got llm.Account }

func (r *accountReader) Reply(ctx context.Context, _ brain.Turn, _ func(brain.Progress)) (brain.Answer, error) {
	r.got = llm.AccountOf(ctx)
	return brain.Answer{}, nil
}

func TestTalkBelongsToThePersonWhoIsAnswered(t *testing.T) {
	r := &accountReader{}
	turn := brain.Turn{Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", Channel: "8", User: "42"}}
	if _, err := (accounted{r}).Reply(t.Context(), turn, nil); err != nil {
		t.Fatal(err)
	}
	if want := (llm.Account{Guild: "7", Channel: "8", User: "discord:42", Purpose: "talk"}); r.got != want {
		t.Errorf("got %+v, want %+v", r.got, want)
	}
}
