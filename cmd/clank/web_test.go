package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/watches"
	"clank/internal/web"
	"clank/sessions"
)

// openTestApp returns the whole program but its doors, which may reach the hosts given.
func openTestApp(t *testing.T, hosts ...string) *server.Server {
	t.Helper()
	e := newTestEnv(t, map[string]string{server.AllowedHostsEnv: strings.Join(hosts, " ")})
	a, end := openServer(t, e, false)
	t.Cleanup(end)
	return a
}

func TestTheReaderReachesWhatPagesReachAndNothingElse(t *testing.T) {
	t.Parallel()
	a := openTestApp(t)
	w := a.OpenWeb()
	if b := w.AssistantWeb(); b.Reader == nil || b.Searcher == nil || b.Watches == nil {
		t.Errorf("the brain gets %+v", b)
	}
	if p, err := w.Reader.Read(t.Context(), web.ReadRequest{URL: a.ShopURL}); err != nil || !strings.Contains(p.Text, "amp") {
		t.Errorf("the demo shop: %.200q, %v", p.Text, err)
	}
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private address was reached") }))
	defer secret.Close()
	if _, err := w.Reader.Read(t.Context(), web.ReadRequest{URL: secret.URL}); err == nil || !strings.Contains(err.Error(), "not a public address") {
		t.Errorf("a private address: %v", err)
	}
}

func drawnPageIsWatched(t *testing.T, r *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	var price atomic.Int64
	price.Store(25)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>Shop</title><div id=x></div><script>setTimeout(() => x.textContent = "Price: $%d", 50)</script>`, price.Load())
	}))
	defer site.Close()
	w := r.server.OpenWeb()
	got, err := w.Watches.Add(t.Context(), watches.Watch{
		Origin: sessions.Origin{Kind: sessions.FromDashboard}, URL: site.URL, Condition: watches.Condition{Kind: watches.KindBelow, Number: 20},
	})
	if err != nil || !got.NeedsBrowser || got.Seen.Value != "$25" {
		t.Fatalf("got %+v, %v", got.Seen, err)
	}
	if _, ok := r.server.Browsers.Lookup("watch-" + got.ID); ok {
		t.Error("the window was left open")
	}
}

func TestWatchingEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	a := openTestApp(t)
	a.RunWatches(t.Context(), a.OpenWeb()) // the end waits for it
}

func TestASearchEngineIsChosenByKeyAndSetting(t *testing.T) {
	t.Parallel()
	keys := func(names ...string) func(string) string {
		return func(name string) string {
			if slices.Contains(names, name) {
				return "k"
			}
			return ""
		}
	}
	for _, c := range []struct {
		choice, searxng string
		getenv          func(string) string
		want            string
	}{
		{settings.SearchAny, "", keys(), ""},
		{settings.SearchAny, "http://s.test", keys("SERPAPI_API_KEY", "BRAVE_API_KEY"), "Brave Search"},
		{settings.SearchAny, "http://s.test", keys("SERPAPI_API_KEY"), "SerpApi"},
		{settings.SearchAny, "http://s.test", keys(), "SearXNG"},
		{settings.SearchSerpAPI, "", keys("SERPAPI_API_KEY", "BRAVE_API_KEY"), "SerpApi"},
		{settings.SearchBrave, "http://s.test", keys(), ""},
	} {
		got := ""
		if e := server.SearchEngine(settings.Web{SearchEngine: c.choice, SearXNG: c.searxng}, c.getenv); e != nil {
			got = e.Name()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.choice, got, c.want)
		}
	}
}

func TestOwnersAtDiscordAreToldOnceItIsThere(t *testing.T) {
	t.Parallel()
	w := &server.WebServices{}
	page := watches.Watch{Origin: sessions.Origin{Kind: sessions.FromDashboard}}
	discord := watches.Watch{Origin: sessions.Origin{Kind: sessions.FromDiscord}}
	if err := w.NotifyOwner(t.Context(), page, watches.Notice{}); err != nil {
		t.Error(err)
	}
	if err := w.NotifyOwner(t.Context(), discord, watches.Notice{}); err == nil {
		t.Error("told without a connection")
	}
}

// textSequence is a page whose text comes bit by bit.
type textSequence struct{ bits []string }

func (x *textSequence) MainFrameText(context.Context) (string, error) {
	bit := x.bits[0]
	if len(x.bits) > 1 {
		x.bits = x.bits[1:]
	}
	return bit, nil
}

func TestAPageIsReadWhenItStandsStill(t *testing.T) {
	t.Parallel()
	if got, err := server.WaitForStableText(t.Context(), &textSequence{[]string{"", "Loading", "Price", "Price"}}); err != nil || got != "Price" {
		t.Errorf("got %q, %v", got, err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("stopped")
	stop(why)
	if _, err := server.WaitForStableText(ctx, &textSequence{[]string{""}}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
