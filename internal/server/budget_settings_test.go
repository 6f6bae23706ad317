package server_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/test/budgettest"
	"clank/llm"
)

func TestWhatARunLeftOpenCountsAsEstimated(t *testing.T) {
	ledger := budgettest.Open(t)
	reserve := func(at time.Time) int64 {
		e := budget.Entry{At: at, Day: at.Format(time.DateOnly), Account: llm.Account{Task: "t"}, Amount: budget.Amount{Calls: 1, Money: 5}}
		id, err := ledger.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	open := reserve(time.Now())
	if _, err := server.OpenBudget(t.Context(), ledger, settings.Defaults, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	calls, err := ledger.Calls(t.Context(), 10)
	if err != nil || len(calls) != 1 || calls[0].ID != open || calls[0].State != budget.StateEstimated {
		t.Errorf("got %+v, %v; want the open call, as estimated", calls, err)
	}
}

func TestTheSettingsOfBudgetsAreThoseTheErrorsName(t *testing.T) {
	for _, level := range budget.Levels() {
		if _, ok := settings.FindField(budget.LimitKey + string(level)); !ok {
			t.Errorf("there is no setting %s%s", budget.LimitKey, level)
		}
	}
	if _, ok := settings.FindField(budget.PricesKey); !ok {
		t.Errorf("there is no setting %s", budget.PricesKey)
	}
}

func TestRulesAreWhatTheSettingsSay(t *testing.T) {
	rules := server.BudgetRules(settings.Settings{RetentionInDays: 7, Budget: settings.Budget{
		Task: "0.5 USD, 3 steps, 2 minutes", Day: "7 calls 9 tokens", Zone: "UTC", Prices: "m 1 2 3",
	}})
	if got, want := rules.Limits[budget.LevelTask], (budget.Amount{Money: budget.Dollars(0.5), Steps: 3, Time: 2 * time.Minute}); got != want {
		t.Errorf("got %s for a task, want %s", got, want)
	}
	if got, want := rules.Limits[budget.LevelDay], (budget.Amount{Calls: 7, Tokens: 9}); got != want {
		t.Errorf("got %s for a day, want %s", got, want)
	}
	if rules.KeepDays != 7 || rules.Zone != time.UTC || rules.Prices["m"] != (llm.Price{Input: 1, Cached: 2, Output: 3}) {
		t.Errorf("got %+v", rules)
	}
}

func TestEveryModelThatSettingsNameHasAPrice(t *testing.T) {
	named := map[string]string{}
	note := func(where string, value any) {
		if name, ok := value.(string); ok && strings.Contains(name, ":") && !strings.Contains(name, "://") && !strings.HasPrefix(name, "plain:") {
			named[name] = where
		}
	}
	for _, f := range settings.Fields() {
		if f.Kind == settings.KindModel {
			note(f.Key, f.Default)
		}
		for _, o := range f.Options {
			p, _ := settings.FindPreset(o.Value)
			for _, value := range p.Values {
				note("preset "+p.Name, value)
			}
		}
	}
	if len(named) < 3 {
		t.Fatalf("found the models %v", named)
	}
	for name, where := range named {
		_, model, _ := strings.Cut(name, ":")
		if _, known := llm.PriceOf(model); !known {
			t.Errorf("%s names %s, whose price is not known: a limit in money would not hold for it", where, name)
		}
	}
}
