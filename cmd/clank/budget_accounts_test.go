package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/sqlite"
	"clank/llm"
	"clank/sessions"
)

// budgetHome returns a home with a ledger in which two people have spent something.
func budgetHome(t *testing.T) (e *commandEnv, k *budget.Enforcer) {
	t.Helper()
	e = newTestEnv(t, nil)
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), h.DatabaseFile())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	k = server.NewBudgetEnforcer(db, settings.Defaults, slog.New(slog.DiscardHandler))
	now := time.Now()
	for _, a := range []llm.Account{{User: "discord:42", Guild: "7"}, {User: "discord:43", Guild: "7"}, {User: "discord:42"}} {
		e := budget.Entry{At: now, Day: now.Format(time.DateOnly), Account: a, Amount: budget.Amount{Calls: 1, Money: budget.Dollars(1.5)}}
		id, err := db.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		if err == nil {
			err = db.Settle(t.Context(), id, e.Amount, budget.StateSettled, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return e, k
}

func TestBudgetIsShownInTheTerminal(t *testing.T) {
	e, _ := budgetHome(t)
	shown := runCommand(t.Context(), e, "budget").stdout
	for _, want := range []string{"4.50 of 20.00 USD", "SERVER  7", "3.00 of 10.00 USD", "PERSON  discord:42", "3.00 of 5.00 USD", "DAY"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	shown = runCommand(t.Context(), e, "budget", "--json").stdout
	var o budget.Overview
	if err := json.Unmarshal([]byte(shown), &o); err != nil || o.Today.Spent.Money != budget.Dollars(4.5) || len(o.Users) != 2 {
		t.Errorf("%v, got %+v", err, o)
	}
}

func TestDiscordIsToldWhatConcernsThePersonWhoAsks(t *testing.T) {
	_, k := budgetHome(t)
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", User: "42"}
	got, err := server.BudgetsForDiscord(k)(t.Context(), from, false)
	if err != nil || !strings.HasPrefix(got.Mine, "3.00 of 5.00 USD") || !strings.HasPrefix(got.Server, "3.00 of 10.00 USD") ||
		!strings.HasPrefix(got.Today, "4.50 of 20.00 USD") || got.People != nil {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = server.BudgetsForDiscord(k)(t.Context(), from, true)
	if err != nil || len(got.People) != 2 || got.People[0].User != "42" || got.People[0].Spent != "1.50 USD, 1 calls" {
		t.Errorf("a moderator got %+v, %v", got.People, err)
	}
}

// accountReader is a brain that notes to whom its calls would belong.
type accountReader struct{ got llm.Account }

func (r *accountReader) Reply(ctx context.Context, _ assistant.Turn, _ func(assistant.Progress)) (assistant.Answer, error) {
	r.got = llm.AccountOf(ctx)
	return assistant.Answer{}, nil
}

func TestTalkBelongsToThePersonWhoIsAnswered(t *testing.T) {
	r := &accountReader{}
	turn := assistant.Turn{Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: "7", Channel: "8", User: "42"}}
	if _, err := (server.ChargedReplier{Replier: r}).Reply(t.Context(), turn, nil); err != nil {
		t.Fatal(err)
	}
	if want := (llm.Account{Guild: "7", Channel: "8", User: "discord:42", Purpose: "talk"}); r.got != want {
		t.Errorf("got %+v, want %+v", r.got, want)
	}
}
