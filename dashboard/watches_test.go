package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/llm"
	"clank/sessions"
)

// watching has the watches of a store, of pages that all say the same.
func watching(store *sqlite.DB) *watches.Runner {
	return &watches.Runner{Store: store, Host: shopReader{}}
}

// shopReader reads a shop, whatever the page, and has nobody to tell.
type shopReader struct{ watches.Host }

func (shopReader) Read(context.Context, watches.Watch) (watches.Reading, error) {
	return watches.Reading{Title: "Shop", Text: "Price: 24,99 €"}, nil
}

func (shopReader) Judge(context.Context, watches.Watch, watches.JudgeQuestion) (watches.Verdict, error) {
	return watches.Verdict{}, errors.New("no model is set that could judge it")
}

func (shopReader) CheckAllowed(context.Context, watches.Watch) error { return nil }

func (shopReader) Limits() watches.Limits {
	return watches.Limits{PerOwner: 2, MinInterval: time.Minute}
}

func TestWatchesAreBegunListedAndEnded(t *testing.T) {
	r := start(t)
	c := r.client()
	got, err := c.AddWatch(t.Context(), api.WatchRequest{
		URL: "shop.test", Kind: watches.KindBelow, Number: 20,
		Currency: "€", Every: 30, Days: 3,
	})
	check.Must(t, err)
	if got.Value != "24,99 €" || got.Every != 30 || got.For != "you" || got.What != "the number drops below 20 EUR" ||
		got.State != watches.StateActive {
		t.Errorf("got %+v", got)
	}
	list, err := c.Watches(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != got.ID {
		t.Fatalf("list: %+v, %v", list, err)
	}
	if _, page := r.ask("GET", "/watches", ""); !strings.Contains(page, "https://shop.test") ||
		!strings.Contains(page, `data-end="`+got.ID) || !strings.Contains(page, "now 24,99 €") {
		t.Errorf("page:\n%s", page)
	}
	if ended, err := c.EndWatch(t.Context(), got.ID); err != nil || ended.State != watches.StateEnded {
		t.Errorf("ended: %+v, %v", ended, err)
	}
	for path, want := range map[string]int{got.ID: http.StatusConflict, "w9": http.StatusNotFound} {
		if status, body := r.ask("POST", "/api/watches/"+path+"/end", "{}"); status != want {
			t.Errorf("end %s: %d %s, want %d", path, status, body, want)
		}
	}
}

func TestAnInvalidWatchIsRefusedWithTheReason(t *testing.T) {
	r := start(t)
	for body, want := range map[string]int{
		`{"url":"shop.test","kind":"below","number":20,"currency":"USD"}`: http.StatusUnprocessableEntity,
		`{"url":"file:///etc/passwd"}`:                                    http.StatusUnprocessableEntity,
		`{"url":"shop.test","kind":"judged","what":"nice"}`:               http.StatusUnprocessableEntity,
		`{"url":"shop.test","origin":"discord"}`:                          http.StatusBadRequest,
		`{"address":"shop.test"}`:                                         http.StatusBadRequest,
	} {
		if status, answer := r.ask("POST", "/api/watches", body); status != want || !strings.Contains(answer, `"error"`) {
			t.Errorf("%s: %d %s, want %d", body, status, answer, want)
		}
	}
	for range 2 {
		if status, answer := r.ask("POST", "/api/watches", `{"url":"shop.test"}`); status != http.StatusCreated {
			t.Fatal(status, answer)
		}
	}
	if status, _ := r.ask("POST", "/api/watches", `{"url":"shop.test"}`); status != http.StatusTooManyRequests {
		t.Errorf("the third: %d", status)
	}
}

func TestAPrivateWatchIsNotShownToTheOperator(t *testing.T) {
	r := start(t)
	w := watches.Watch{
		ID: "w1", URL: "https://secret.test/", What: "my secret", State: watches.StateActive, Problem: "secret.test is away",
		Seen:       watches.Seen{Value: "secret"},
		LastNotice: &watches.Notice{Text: "secret"},
		Origin:     sessions.Origin{Kind: sessions.FromDiscord, User: "1", UserName: "ada", Private: true},
	}
	check.Must(t, r.store.AddWatch(t.Context(), w, 9, 9))
	for _, path := range []string{"/watches", "/api/watches"} {
		if _, body := r.ask("GET", path, ""); strings.Contains(body, "secret") || !strings.Contains(body, "ada") {
			t.Errorf("%s shows %s", path, body)
		}
	}
}

func TestPageTextIsEscapedOnTheWatchesPage(t *testing.T) {
	r := start(t)
	w := watches.Watch{
		ID: "w1", URL: "https://a.test/", What: "<script>alert(1)</script>", State: watches.StateActive,
		LastNotice: &watches.Notice{Text: "<img src=x onerror=alert(1)>", Diff: []string{"+ <b>x</b>"}},
	}
	check.Must(t, r.store.AddWatch(t.Context(), w, 9, 9))
	if _, page := r.ask("GET", "/watches", ""); strings.Contains(page, "<script>alert") ||
		strings.Contains(page, "<img src=x") || strings.Contains(page, "<b>x") {
		t.Errorf("page:\n%s", page)
	}
}

// dayLimit is what may be spent on the page of the tests.
var dayLimit = budget.Limits{budget.LevelDay: {Money: budget.Dollars(20), Calls: 100}}

// spend writes a call down in the ledger behind the page.
func (r *rig) spend(a llm.Account, usd float64, state budget.EntryState) {
	r.t.Helper()
	now := time.Now()
	e := budget.Entry{
		At: now, Day: now.Format(time.DateOnly), Account: a, Model: "test:<b>",
		Amount: budget.Amount{Calls: 1, Money: budget.Dollars(usd)},
	}
	id, err := r.store.Reserve(r.t.Context(), e, func([]budget.Sum) error { return nil })
	if err == nil && state != budget.StateHeld {
		err = r.store.Settle(r.t.Context(), id, e.Amount, state, usd == 0)
	}
	check.Must(r.t, err)
}

func TestTheBudgetPageShowsSpendingAndLimits(t *testing.T) {
	r := start(t)
	r.spend(llm.Account{Guild: "g7", User: "discord:42", Purpose: "browse"}, 1.25, budget.StateSettled)
	r.spend(llm.Account{User: "discord:42", Purpose: "talk"}, 0.5, budget.StateEstimated)
	r.spend(llm.Account{User: "discord:43"}, 0.25, budget.StateHeld)
	r.spend(llm.Account{User: "discord:44"}, 0, budget.StateSettled)
	status, body := r.ask("GET", "/budget", "")
	if status != http.StatusOK {
		t.Fatalf("got %d: %s", status, body)
	}
	check.Contains(t, body,
		"2.00 of 20.00 USD", "4 of 100 calls", "g7", "discord:42", "test:&lt;b&gt;", "0.50 (estimated)", "at most 0.25",
		"price not known", `<meter min="0" max="20"`,
	)
}

func TestProgramsReadTheBudgetsOverTheClient(t *testing.T) {
	r := start(t)
	r.spend(llm.Account{User: "discord:42"}, 1.25, budget.StateSettled)
	got, err := r.client().Budget(t.Context())
	check.Must(t, err)
	if got.Today.Spent.Money != budget.Dollars(1.25) || got.Today.Limit != dayLimit[budget.LevelDay] ||
		len(got.Users) != 1 || len(got.Calls) != 1 || len(got.Days) != 1 {
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
