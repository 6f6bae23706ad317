package watches_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/internal/watches"
	"clank/sessions"
)

// world is a site whose pages a test changes, with a Runner that watches it and records notices.
type world struct {
	*watches.Runner

	mu      sync.Mutex
	page    func(n int) (string, error) // by look, from 1
	looks   []time.Time
	reading int // at the same time
	most    int
	told    []watches.Notice
	tellErr error
	asked   []watches.JudgeQuestion
	verdict watches.Verdict
	limits  watches.Limits
	browsed int
	slow    time.Duration
	drawn   string // what a browser shows; empty: there is none
	refusal error  // why nothing may be looked at
	keep    time.Duration
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	w := &world{limits: watches.Limits{PerOwner: 5, MinInterval: 15 * time.Minute}}
	w.show(text)
	w.Runner = &watches.Runner{Store: sqlitetest.Open(t), Host: w, KeepFor: func() time.Duration {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.keep
	}}
	return w
}

func (w *world) Limits() watches.Limits { return w.limits }

func (w *world) Judge(_ context.Context, _ watches.Watch, q watches.JudgeQuestion) (watches.Verdict, error) {
	w.asked = append(w.asked, q)
	return w.verdict, nil
}

func (w *world) Browse(context.Context, watches.Watch) (watches.Reading, error) {
	if w.drawn == "" {
		return watches.Reading{}, watches.ErrNeedsBrowser
	}
	w.browsed++
	return watches.Reading{Text: w.drawn}, nil
}

func (w *world) CheckAllowed(context.Context, watches.Watch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refusal
}

// inWorld runs a test in a synctest bubble with a runner that watches the site.
func inWorld(t *testing.T, text string, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		w := newWorld(t, text)
		defer w.begin(t)()
		test(t, w)
	})
}

func (w *world) show(text string) { w.serve(func(int) (string, error) { return text, nil }) }

func (w *world) serve(page func(n int) (string, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.page = page
}

func (w *world) Read(ctx context.Context, watch watches.Watch) (watches.Reading, error) {
	w.mu.Lock()
	w.looks = append(w.looks, time.Now())
	w.reading++
	w.most = max(w.most, w.reading)
	text, err := w.page(len(w.looks))
	slow := w.slow
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(slow):
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading--
	return watches.Reading{URL: watch.URL, Title: "The page", Text: text}, err
}

func (w *world) Notify(_ context.Context, _ watches.Watch, n watches.Notice) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tellErr != nil {
		return w.tellErr
	}
	w.told = append(w.told, n)
	return nil
}

// begin runs the runner until the test in its bubble ends.
func (w *world) begin(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("shutting down")
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	return func() {
		cancel(why)
		check.Fails(t, <-ended, why)
	}
}

func (w *world) add(t *testing.T, c watches.Condition) watches.Watch {
	t.Helper()
	got, err := w.Add(t.Context(), watches.Watch{
		Origin: ada, URL: "https://shop.test/", What: "what Ada waits for",
		Condition: c,
	})
	check.Must(t, err)
	return got
}

var ada = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada", UserName: "Ada"}

func pass(d time.Duration) {
	<-time.After(d) // of the bubble's clock
	synctest.Wait()
}

func texts(list []watches.Notice) []string {
	var out []string
	for _, n := range list {
		out = append(out, string(n.Kind)+": "+n.Text)
	}
	return out
}

func TestAChangeIsNotifiedOnceWithItsDiff(t *testing.T) {
	inWorld(t, "# News\n\nHeron seen\n\nWeather: fine", func(t *testing.T, w *world) {
		t.Helper()
		w.add(t, watches.Condition{})
		pass(3 * time.Hour)
		if len(w.told) != 0 {
			t.Fatalf("told of nothing: %v", w.told)
		}
		w.show("# News\n\nHeron gone\n\nWeather: fine")
		pass(5 * time.Hour)
		if len(w.told) != 1 {
			t.Fatalf("told %d times, want once: %v", len(w.told), w.told)
		}
		check.Diff(t, "what changed", w.told[0].Diff, []string{"- Heron seen", "+ Heron gone"})
		w.show("# News\n\nHeron back\n\nWeather: fine")
		pass(2 * time.Hour)
		check.Equal(t, "len(w.told)", len(w.told), 2)
	})
}

func TestPartsThatChangeByThemselvesAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		ads := []string{"Buy a boat", "Eat more fish", "Sleep on feathers"}
		w.serve(func(n int) (string, error) {
			return fmt.Sprintf("Heron seen\n\nIt is 12:%02d\n\n%d views\n\n%d minutes "+
				"ago\n\nAdvertisement\n\n%s\n\n[About](https://a.test/?visit=%d)\n\nYou are visitor no. %d",
				n%60, n*7, n, ads[n%len(ads)], n, n), nil
		})
		defer w.begin(t)()
		w.add(t, watches.Condition{})
		pass(48 * time.Hour)
		if len(w.told) != 0 {
			t.Errorf("told %v", w.told)
		}
	})
}

func TestAPriceDropIsNotifiedAndAgainAfterARise(t *testing.T) {
	inWorld(t, "Shipping 4,90 €\n\nPrice: 24,99 €", func(t *testing.T, w *world) {
		t.Helper()
		got := w.add(t, watches.Condition{Kind: watches.KindBelow, Number: 20, Currency: "€", Near: "price"})
		if got.Seen.Value != "24,99 €" || got.Seen.Met {
			t.Errorf("at first: %+v", got.Seen)
		}
		for _, price := range []string{"22,00 €", "19,99 €", "18,00 €", "21,00 €", "19,00 €"} {
			w.show("Shipping 4,90 €\n\nPrice: " + price)
			pass(2 * time.Hour)
		}
		want := []string{"happened: It is 19,99 € now; it was 22,00 €.", "happened: It is 19,00 € now; it was 21,00 €."}
		check.Diff(t, "told", texts(w.told), want)
	})
}

// Letters have other lengths in the other case.
func TestThePriceIsTheOneAfterTheWordsInAnyLanguage(t *testing.T) {
	inWorld(t, "BİLGİSAYAR İÇİN İNDİRİM GÜNLERİ\n\nESKİ 100 TL FİYAT 80 TL", func(t *testing.T, w *world) {
		t.Helper()
		got := w.add(t, watches.Condition{Kind: watches.KindBelow, Number: 50, Currency: "TRY", Near: "fiyat"})
		check.Equal(t, "the price", got.Seen.Value, "80 TL")
	})
}

func TestAMomentaryPriceIsNotNotified(t *testing.T) {
	inWorld(t, "Price: $30", func(t *testing.T, w *world) {
		t.Helper()
		w.add(t, watches.Condition{Kind: watches.KindBelow, Number: 20})
		w.serve(func(n int) (string, error) {
			if n == 2 {
				return "Price: $3", nil
			}
			return "Price: $30", nil
		})
		pass(5 * time.Hour)
		if len(w.told) != 0 {
			t.Errorf("told %v", w.told)
		}
	})
}

func TestTextThatAppearsOrDisappearsIsNotified(t *testing.T) {
	for kind, want := range map[watches.Kind]int{watches.KindContains: 1, watches.KindLacks: 0} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, "Sold out")
			if kind == watches.KindLacks {
				w.show("In Stock")
			}
			defer w.begin(t)()
			w.add(t, watches.Condition{Kind: kind, Text: "in  stock"})
			w.show("**In stock** now")
			pass(2 * time.Hour)
			if len(w.told) != want {
				t.Errorf("%s: told %v, want %d", kind, w.told, want)
			}
			w.show("Sold out")
			pass(2 * time.Hour)
			if len(w.told) != 1 {
				t.Errorf("%s: told %v", kind, w.told)
			}
		})
	}
}

func TestAModelIsAskedOnlyAboutWhatChanged(t *testing.T) {
	inWorld(t, "Tickets: none\n\n10:15", func(t *testing.T, w *world) {
		t.Helper()
		w.add(t, watches.Condition{Kind: watches.KindJudged})
		w.show("Tickets: none\n\n11:20")
		pass(10 * time.Hour)
		if len(w.asked) != 1 || !w.asked[0].First {
			t.Fatalf("asked %d times about a page that is the same", len(w.asked))
		}
		w.show("Tickets: soon\n\n11:20")
		pass(2 * time.Hour)
		w.verdict = watches.Verdict{Met: true, Why: "There are two tickets."}
		w.show("Tickets: 2 left\n\n11:20")
		pass(10 * time.Hour)
		if len(w.asked) != 3 {
			t.Fatalf("asked %d times, want 3", len(w.asked))
		}
		check.Diff(t, "asked about", w.asked[2].Added, []string{"Tickets: 2 left"})
		check.Diff(t, "told", texts(w.told), []string{"happened: There are two tickets."})
	})
}

func TestChecksRunOnSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		w.slow = 20 * time.Second
		defer w.begin(t)()
		got := w.add(t, watches.Condition{})
		pass(1000*time.Hour - time.Since(got.CheckedAt))
		if n := len(w.looks); n < 718 || n > 722 { // 30 days
			t.Errorf("%d looks in 30 days, want 720", n)
		}
		for i, at := range w.looks[1:] {
			if off := at.Sub(got.CheckedAt) - time.Duration(i+1)*time.Hour; off < 0 || off > time.Minute {
				t.Fatalf("look %d is off by %s", i+1, off)
			}
		}
	})
}

func TestAfterARestartThereIsNoBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		w.limits.PerOwner = 50
		stop := w.begin(t)
		for range 20 {
			w.add(t, watches.Condition{})
		}
		stop()
		pass(100 * time.Hour)
		w.looks = nil
		w.once(t)
		if n := len(w.looks); n != 20 {
			t.Fatalf("%d looks after the restart, want one for each of 20", n)
		}
		for i, at := range w.looks[1:] {
			if gap := at.Sub(w.looks[i]); gap < 5*time.Second {
				t.Errorf("look %d came %s after the one before", i+1, gap)
			}
		}
	})
}

// once runs a fresh runner on the same store for ten minutes.
func (w *world) once(t *testing.T) {
	t.Helper()
	w.Runner = &watches.Runner{Store: w.Store, Host: w}
	stop := w.begin(t)
	pass(10 * time.Minute)
	stop()
}

func TestFailuresBackOffAndAreNotifiedOnce(t *testing.T) {
	inWorld(t, "same", func(t *testing.T, w *world) {
		t.Helper()
		got := w.add(t, watches.Condition{})
		w.serve(func(int) (string, error) { return "", errors.New("shop.test answered 500") })
		pass(20 * 24 * time.Hour)
		end, err := w.Store.Watch(t.Context(), got.ID)
		if err != nil || end.State != watches.StateEnded || !strings.Contains(end.Reason, "answered 500") {
			t.Errorf("the watch is %s (%s), %v", end.State, end.Reason, err)
		}
		check.Equal(t, "looks", len(w.looks), 13)
		if got := texts(w.told); len(got) != 2 || !strings.HasPrefix(got[0], "trouble: ") ||
			!strings.HasPrefix(got[1], "over: ") {
			t.Errorf("told %q", got)
		}
	})
}

func TestAWatchRecoversFromFailures(t *testing.T) {
	inWorld(t, "old", func(t *testing.T, w *world) {
		t.Helper()
		got := w.add(t, watches.Condition{})
		w.serve(func(int) (string, error) { return "", errors.New("away") })
		pass(4 * time.Hour)
		w.show("new")
		pass(24 * time.Hour)
		if now, err := w.Store.Watch(t.Context(), got.ID); err != nil || now.Failures != 0 || now.Problem != "" ||
			len(w.told) != 1 {
			t.Errorf("%d failures (%s), told %v, %v", now.Failures, now.Problem, w.told, err)
		}
	})
}

func TestAFailedNoticeIsSentLater(t *testing.T) {
	inWorld(t, "old", func(t *testing.T, w *world) {
		t.Helper()
		w.add(t, watches.Condition{})
		w.tellErr = errors.New("discord is away")
		w.show("new")
		pass(3 * time.Hour)
		w.mu.Lock()
		w.tellErr = nil
		w.mu.Unlock()
		pass(5 * time.Hour)
		check.Diff(t, "told", texts(w.told), []string{"happened: The page has changed."})
	})
}

func TestAWatchEndsWithItsTime(t *testing.T) {
	inWorld(t, "same", func(t *testing.T, w *world) {
		t.Helper()
		got, err := w.Add(t.Context(), watches.Watch{Origin: ada, URL: "shop.test", Until: time.Now().Add(90 * time.Minute)})
		if err != nil || got.URL != "https://shop.test" {
			t.Fatal(got.URL, err)
		}
		pass(24 * time.Hour)
		if len(w.looks) != 2 || len(w.told) != 1 || w.told[0].Kind != watches.NoticeEnded {
			t.Errorf("%d looks, told %v", len(w.looks), w.told)
		}
	})
}

func TestAnEndedWatchIsKeptForTheConfiguredTime(t *testing.T) {
	for _, keep := range []time.Duration{0, 10 * 24 * time.Hour} {
		inWorld(t, "same", func(t *testing.T, w *world) {
			t.Helper()
			w.mu.Lock()
			w.keep = keep
			w.mu.Unlock()
			until := time.Now().Add(time.Hour)
			check.Must(t, check.Err(w.Add(t.Context(), watches.Watch{Origin: ada, URL: "shop.test", Until: until})))
			for _, passed := range []int{9, 12} {
				pass(time.Duration(passed)*24*time.Hour - time.Since(w.looks[0]))
				want := 1
				if keep > 0 && passed > 10 {
					want = 0
				}
				if all, err := w.Store.Watches(t.Context(), watches.Query{}); err != nil || len(all) != want {
					t.Errorf("kept for %v, after %d days there are %d, %v; want %d", keep, passed, len(all), err, want)
				}
			}
		})
	}
}

func TestAWatchEndedDuringACheckNotifiesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "old")
		w.slow = 10 * time.Second
		defer w.begin(t)()
		got := w.add(t, watches.Condition{})
		w.show("new")
		pass(time.Until(got.NextCheck) + time.Minute + time.Second) // now it waits for its second look
		check.Must(t, check.Err(w.End(t.Context(), got.ID, ada, cancel.Actor{ID: "ada", Name: "Ada"})))
		pass(5 * time.Hour)
		if end, err := w.Store.Watch(t.Context(), got.ID); err != nil || len(w.told) != 0 || end.Reason != "ended by Ada" {
			t.Errorf("told %v, ended: %q, %v", w.told, end.Reason, err)
		}
	})
}

// slowStore is a store whose list of watches takes its time, when slow says so.
type slowStore struct {
	watches.Store

	slow atomic.Bool
}

func (s *slowStore) Watches(ctx context.Context, q watches.Query) ([]watches.Watch, error) {
	list, err := s.Store.Watches(ctx, q)
	if q == (watches.Query{Active: true}) && s.slow.CompareAndSwap(true, false) {
		<-time.After(5 * time.Minute)
	}
	return list, err
}

func TestACheckThatEndsWhileWatchesAreReadIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "old")
		store := &slowStore{Store: w.Store}
		w.Store = store
		defer w.begin(t)()
		got := w.add(t, watches.Condition{})
		other, err := w.Add(t.Context(), watches.Watch{
			Origin: ada, URL: "https://shop.test/", What: "x",
			Every: 24 * time.Hour,
		})
		check.Must(t, err)
		w.show("new")
		pass(time.Until(got.NextCheck) + time.Minute + time.Second) // now it waits for its second look
		store.slow.Store(true)
		// has the list be read
		check.Must(t, check.Err(w.End(t.Context(), other.ID, ada, cancel.Actor{ID: "ada", Name: "Ada"})))
		pass(10 * time.Minute)
		if len(w.told) != 1 {
			t.Errorf("told %v, want one notice", w.told)
		}
	})
}

func TestAStopDoesNotChangeAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "old")
		stop := w.begin(t)
		got := w.add(t, watches.Condition{})
		w.mu.Lock()
		w.slow = 110 * time.Second
		w.mu.Unlock()
		pass(time.Until(got.NextCheck) + 90*time.Second)
		stop() // in the midst of a look
		after, err := w.Store.Watch(t.Context(), got.ID)
		if err != nil || after.Failures != 0 || !after.NextCheck.Equal(got.NextCheck) {
			t.Errorf("after the stop: %+v, %v", after, err)
		}
	})
}

func TestPagesThatNeedABrowserAreReadWithOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "")
		w.serve(func(int) (string, error) { return "", fmt.Errorf("empty: %w", watches.ErrNeedsBrowser) })
		check.Fails(t, check.Err(w.Add(t.Context(), watches.Watch{Origin: ada, URL: "https://app.test/"})),
			watches.ErrNeedsBrowser)
		w.drawn = "drawn"
		defer w.begin(t)()
		got := w.add(t, watches.Condition{})
		pass(3*time.Hour + time.Minute)
		if !got.NeedsBrowser || w.browsed != 4 || len(w.looks) != 2 {
			t.Errorf("scripts %v, %d looks with a browser, %d without", got.NeedsBrowser, w.browsed, len(w.looks))
		}
	})
}

func TestBadWatchesAreRefused(t *testing.T) {
	w := newWorld(t, "Price: 5")
	for name, bad := range map[string]watches.Watch{
		"no address":    {},
		"scheme":        {URL: "file:///etc/passwd"},
		"login":         {URL: "https://a:b@shop.test/"},
		"too often":     {URL: "shop.test", Every: time.Minute},
		"too seldom":    {URL: "shop.test", Every: 1000 * time.Hour},
		"past":          {URL: "shop.test", Until: time.Now().Add(-time.Hour)},
		"too long":      {URL: "shop.test", Until: time.Now().AddDate(2, 0, 0)},
		"no text":       {URL: "shop.test", Condition: watches.Condition{Kind: watches.KindContains}},
		"unknown":       {URL: "shop.test", Condition: watches.Condition{Kind: "magic"}},
		"nothing asked": {URL: "shop.test", Condition: watches.Condition{Kind: watches.KindJudged}},
		"long":          {URL: "shop.test", What: strings.Repeat("x", 301)},
	} {
		bad.Origin = ada
		if _, err := w.Add(t.Context(), bad); !errors.Is(err, watches.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, bad := range map[string]watches.Watch{
		"no price":      {URL: "shop.test", Condition: watches.Condition{Kind: watches.KindBelow, Number: 3}},
		"words missing": {URL: "shop.test", Condition: watches.Condition{Near: "Rabatt"}},
		"currency": {URL: "shop.test", Condition: watches.Condition{
			Kind: watches.KindBelow, Near: "price",
			Currency: "EUR",
		}},
	} {
		bad.Origin = ada
		if _, err := w.Add(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "on the page") ||
			strings.Contains(err.Error(), "shop.test") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	w.limits.PerOwner = 1
	w.add(t, watches.Condition{})
	check.Fails(t, check.Err(w.Add(t.Context(), watches.Watch{Origin: ada, URL: "shop.test"})), watches.ErrTooMany)
}

func TestOnlyAuthorizedPeopleEndAWatch(t *testing.T) {
	w := newWorld(t, "same")
	w.limits.PerOwner = 10
	elsewhere := ada
	elsewhere.Guild = "h"
	bob := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", User: "bob"}
	moderator := func(guild, channel string) sessions.Origin {
		return sessions.Origin{Kind: sessions.FromDiscord, Guild: guild, Channel: channel, User: "bob", Moderator: true}
	}
	for name, c := range map[string]struct {
		from sessions.Origin
		by   cancel.Actor
		want error
	}{
		"owner":               {ada, cancel.Actor{ID: "ada"}, nil},
		"owner elsewhere":     {elsewhere, cancel.Actor{ID: "ada"}, nil},
		"somebody":            {bob, cancel.Actor{ID: "bob"}, watches.ErrForbidden},
		"moderator":           {moderator("g", "c"), cancel.Actor{ID: "bob", Moderator: true}, nil},
		"moderator elsewhere": {moderator("h", "c"), cancel.Actor{ID: "bob", Moderator: true}, watches.ErrForbidden},
		"moderator of another channel": {
			moderator("g", "memes"),
			cancel.Actor{ID: "bob", Moderator: true},
			watches.ErrForbidden,
		},
		"nobody": {
			sessions.Origin{Kind: sessions.FromDiscord, Guild: "g"},
			cancel.Actor{},
			watches.ErrForbidden,
		},
		"operator": {sessions.Origin{Kind: sessions.FromTerminal}, cancel.Actor{}, nil},
	} {
		got := w.add(t, watches.Condition{})
		if _, err := w.End(t.Context(), got.ID, c.from, c.by); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if _, err := w.End(t.Context(), got.ID, sessions.Origin{Kind: sessions.FromDashboard},
			cancel.Actor{}); c.want == nil && !errors.Is(err, watches.ErrAlreadyEnded) {
			t.Errorf("%s, twice: %v", name, err)
		}
	}
	check.Fails(t, check.Err(w.End(t.Context(), "w9", ada, cancel.Actor{})), watches.ErrNotFound)
}

func TestNoticesAreStored(t *testing.T) {
	inWorld(t, "Price: $30", func(t *testing.T, w *world) {
		t.Helper()
		got := w.add(t, watches.Condition{Kind: watches.KindBelow, Number: 20})
		kept := func() watches.Watch {
			t.Helper()
			now, err := w.Store.Watch(t.Context(), got.ID)
			check.Must(t, err)
			return now
		}
		if now := kept(); !now.NotifiedAt.IsZero() || now.LastNotice != nil || now.PendingNotice != nil || now.Seen.Met ||
			now.Seen.Value != "$30" {
			t.Errorf("at first: %+v", now)
		}
		w.show("Price: $15")
		pass(2 * time.Hour)
		now := kept()
		if len(w.told) != 1 || now.NotifiedAt.IsZero() || time.Since(now.NotifiedAt) > 2*time.Hour ||
			now.PendingNotice != nil {
			t.Fatalf("told %v, and kept: told %v, to tell %v", w.told, now.NotifiedAt, now.PendingNotice)
		}
		check.Diff(t, "what was told last", *now.LastNotice, w.told[0])
		if !now.Seen.Met || now.Seen.Value != "$15" || now.Seen.Title != "The page" {
			t.Errorf("seen: %+v", now.Seen)
		}
		end, err := w.End(t.Context(), got.ID, ada, cancel.Actor{ID: "ada", Name: "@ada"})
		if err != nil || end.State != watches.StateEnded {
			t.Fatal(end.State, err)
		}
		if now := kept(); now.State != watches.StateEnded || now.Reason != "ended by @ada" || now.PendingNotice != nil {
			t.Errorf("after its end: %+v", now)
		}
		looks := len(w.looks)
		pass(24 * time.Hour)
		if len(w.looks) != looks {
			t.Error("it is still looked at")
		}
	})
}

func TestAMissingPriceMeetsNoCondition(t *testing.T) {
	for _, kind := range []watches.Kind{watches.KindBelow, watches.KindAbove} {
		inWorld(t, "Price: $20", func(t *testing.T, w *world) {
			t.Helper()
			got := w.add(t, watches.Condition{Kind: kind, Number: 20})
			w.show("Sold out")
			pass(2 * time.Hour)
			now, err := w.Store.Watch(t.Context(), got.ID)
			if err != nil || now.Seen.Met || now.Seen.Value != "$20" || now.Failures == 0 ||
				!strings.Contains(now.Problem, "there is no price") {
				t.Errorf("%s: %+v, %v; want a failure, and what was seen before", kind, now, err)
			}
			first := len(w.looks)
			w.serve(func(n int) (string, error) { // met at one look, and gone at the second
				if n == first+1 {
					return map[watches.Kind]string{watches.KindBelow: "Price: $1", watches.KindAbove: "Price: $99"}[kind], nil
				}
				return "Sold out", nil
			})
			pass(12 * time.Hour)
			if now, err = w.Store.Watch(t.Context(), got.ID); err != nil || now.Seen.Met || len(w.told) > 1 ||
				len(w.told) == 1 && w.told[0].Kind != watches.NoticeTrouble {
				t.Errorf("%s: met %v, told %v, %v", kind, now.Seen.Met, w.told, err)
			}
			if len(w.looks) < first+2 {
				t.Errorf("%s: %d looks, so the second one was not tried", kind, len(w.looks)-first)
			}
		})
	}
}

func TestManyWatchesWaitForTheirTurnsAndNoneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		w.limits = watches.Limits{PerOwner: 5, Total: 1000, MinInterval: 15 * time.Minute}
		const many = 60
		long := 12 * time.Hour
		if testing.Short() {
			long = 4 * time.Hour
		}
		for i := range many { // all at the same moment
			owner := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: fmt.Sprint("user", i)}
			check.Must(t, check.Err(w.Add(t.Context(), watches.Watch{Origin: owner, URL: "https://shop.test/"})))
		}
		w.slow = 100 * time.Second // two at once: the last waits for 50 minutes
		defer w.begin(t)()
		pass(long)
		check.Equal(t, "pages were read at once", w.most, 2)
		if len(w.told) > 0 {
			t.Errorf("%d were told of something, such as %q", len(w.told), w.told[0].Text)
		}
		list, err := w.List(t.Context(), watches.Query{})
		if err != nil || len(list) != many {
			t.Fatalf("got %d watches, %v", len(list), err)
		}
		for _, x := range list {
			if x.State != watches.StateActive || x.Failures > 0 || time.Since(x.CheckedAt) > 4*time.Hour {
				t.Fatalf("got %s, %d failures (%s), looked at %s ago", x.State, x.Failures, x.Problem, time.Since(x.CheckedAt))
			}
		}
	})
}

func TestWatchesOfPeopleWithoutAccessAreSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "same")
		refuse := func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refusal = err
		}
		defer w.begin(t)()
		x := w.add(t, watches.Condition{})
		pass(2 * time.Hour)
		const closed = "this channel is not on the list"
		refuse(errors.New(closed))
		w.show("other")
		before := len(w.looks)
		pass(10 * time.Hour)
		got, err := w.Store.Watch(t.Context(), x.ID)
		if err != nil || len(w.looks) != before || len(w.told) > 0 || got.Problem != closed ||
			got.State != watches.StateActive {
			t.Errorf("looked %d times, told %v; got %+v, %v", len(w.looks)-before, texts(w.told), got, err)
		}
		refuse(nil)
		pass(2 * time.Hour)
		if len(w.told) != 1 {
			t.Errorf("told %v once it was allowed again, want the change", texts(w.told))
		}
		refuse(errors.New("not on that server any more"))
		pass(30*24*time.Hour - 10*time.Hour)
		if got, err = w.Store.Watch(t.Context(), x.ID); err != nil || got.State != watches.StateEnded || len(w.told) != 1 {
			t.Errorf("after its time: %+v, %v; told %v", got, err, texts(w.told))
		}
	})
}
