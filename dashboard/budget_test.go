package dashboard_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/budget"
	"clank/llm"
	"clank/sessions/access"
)

// dayLimit is what may be spent on the page of the tests.
var dayLimit = budget.Limits{budget.LevelDay: {Money: budget.Dollars(20), Calls: 100}}

// spend writes a call down in the ledger behind the page.
func (r *rig) spend(a llm.Account, usd float64, state budget.EntryState) {
	r.t.Helper()
	now := time.Now()
	e := budget.Entry{At: now, Day: now.Format(time.DateOnly), Account: a, Model: "test:<b>", Amount: budget.Amount{Calls: 1, Money: budget.Dollars(usd)}}
	id, err := r.store.Reserve(r.t.Context(), e, func([]budget.Sum) error { return nil })
	if err == nil && state != budget.StateHeld {
		err = r.store.Settle(r.t.Context(), id, e.Amount, state, usd == 0)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func TestThePageOfBudgetsShowsWhatWasSpentAndWhatMayBe(t *testing.T) {
	r := start(t)
	r.spend(llm.Account{Guild: "g7", User: "discord:42", Purpose: "browse"}, 1.25, budget.StateSettled)
	r.spend(llm.Account{User: "discord:42", Purpose: "talk"}, 0.5, budget.StateEstimated)
	r.spend(llm.Account{User: "discord:43"}, 0.25, budget.StateHeld)
	r.spend(llm.Account{User: "discord:44"}, 0, budget.StateSettled)
	status, body := r.ask("GET", "/budget", "")
	if status != http.StatusOK {
		t.Fatalf("got %d: %s", status, body)
	}
	for _, want := range []string{
		"2.00 of 20.00 USD", "4 of 100 calls", "g7", "discord:42", "test:&lt;b&gt;", "0.50 (estimated)", "at most 0.25", "price not known", `<meter min="0" max="20"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestProgramsReadTheBudgetsOverTheClient(t *testing.T) {
	r := start(t)
	r.spend(llm.Account{User: "discord:42"}, 1.25, budget.StateSettled)
	got, err := r.client().Budget(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Today.Spent.Money != budget.Dollars(1.25) || got.Today.Limit != dayLimit[budget.LevelDay] || len(got.Users) != 1 || len(got.Calls) != 1 || len(got.Days) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestBudgetsAreForThoseWhoAreSignedIn(t *testing.T) {
	r := start(t)
	r.token = "wrong"
	for _, path := range []string{"/budget", "/api/budget"} {
		if status, body := r.ask("GET", path, ""); status == http.StatusOK {
			t.Errorf("GET %s without a login: %s", path, body)
		}
	}
}

func TestWhereNobodyCountsThePageSaysSo(t *testing.T) {
	r := start(t)
	other := &dashboard.Server{Addr: "127.0.0.1:0", LocalSecret: secret, Manager: r.manager, Scopes: r.scopes, Logger: slog.New(slog.DiscardHandler)}
	if tokens, err := access.OpenTokens(filepath.Join(t.TempDir(), "tokens.json"), nil); err != nil {
		t.Fatal(err)
	} else {
		other.Tokens = tokens
	}
	if err := other.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	for path, want := range map[string]string{"/budget": "Spending is not counted here.", "/api/budget": "spending is not counted here"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusNotFound || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %d, %v: %s", path, res.StatusCode, err, body)
		}
	}
}
