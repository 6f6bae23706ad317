package dashboard_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/sqlite"
	"clank/internal/watches"
	"clank/sessions"
)

// watching has the watches of a store, of pages that all say the same.
func watching(store *sqlite.DB) *watches.Runner {
	return &watches.Runner{
		Store: store,
		Read: func(context.Context, watches.Watch) (watches.Reading, error) {
			return watches.Reading{Title: "Shop", Text: "Price: 24,99 €"}, nil
		},
		Notify: func(context.Context, watches.Watch, watches.Notice) error { return nil },
		Limits: func() watches.Limits { return watches.Limits{PerOwner: 2, MinInterval: time.Minute} },
	}
}

func TestWatchesAreBegunListedAndEnded(t *testing.T) {
	r := start(t)
	c := r.client()
	got, err := c.AddWatch(t.Context(), api.WatchRequest{URL: "shop.test", Kind: watches.KindBelow, Number: 20, Currency: "€", Every: 30, Days: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Value != "24,99 €" || got.Every != 30 || got.For != "you" || got.What != "the number drops below 20 EUR" || got.State != watches.StateActive {
		t.Errorf("got %+v", got)
	}
	list, err := c.Watches(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != got.ID {
		t.Fatalf("list: %+v, %v", list, err)
	}
	if _, page := r.ask("GET", "/watches", ""); !strings.Contains(page, "https://shop.test") || !strings.Contains(page, `data-end="`+got.ID) || !strings.Contains(page, "now 24,99 €") {
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

func TestAWatchThatIsNotPossibleIsRefusedWithTheReason(t *testing.T) {
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
		ID: "w1", URL: "https://secret.test/", What: "my secret", State: watches.StateActive, Problem: "secret.test is away", Seen: watches.Seen{Value: "secret"},
		LastNotice: &watches.Notice{Text: "secret"},
		Origin:     sessions.Origin{Kind: sessions.FromDiscord, User: "1", UserName: "ada", Private: true},
	}
	if err := r.store.AddWatch(t.Context(), w, 9, 9); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/watches", "/api/watches"} {
		if _, body := r.ask("GET", path, ""); strings.Contains(body, "secret") || !strings.Contains(body, "ada") {
			t.Errorf("%s shows %s", path, body)
		}
	}
}

func TestWhatAPageSaysIsTextOnTheWatchesPage(t *testing.T) {
	r := start(t)
	w := watches.Watch{
		ID: "w1", URL: "https://a.test/", What: "<script>alert(1)</script>", State: watches.StateActive,
		LastNotice: &watches.Notice{Text: "<img src=x onerror=alert(1)>", Diff: []string{"+ <b>x</b>"}},
	}
	if err := r.store.AddWatch(t.Context(), w, 9, 9); err != nil {
		t.Fatal(err)
	}
	if _, page := r.ask("GET", "/watches", ""); strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || strings.Contains(page, "<b>x") {
		t.Errorf("page:\n%s", page)
	}
}
