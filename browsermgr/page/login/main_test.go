package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/login"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
)

const word = "correct-horse-battery"

// keeper fills for all tests. What they fill in is the same word, for origins of their own.
var (
	keeper  login.Filler
	manager *browsermgr.Manager
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	manager = &browsermgr.Manager{Home: dir, FirstPort: 18910, LastPort: 18929, HiddenAreas: keeper.HiddenAreas, Holds: keeper.Holds, Config: func() profile.Config {
		return profile.Config{Headless: new(true), NoSandbox: true}
	}}
	ctx := context.Background()
	if err := manager.Open(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		_ = manager.Close(ctx)
	}()
	return m.Run()
}

// site serves pages by path; OTHER in them is the server under the name of another site.
func site(tb testing.TB, pages map[string]string) string {
	tb.Helper()
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, "<!doctype html><meta charset=utf-8><title>Test</title>"+strings.ReplaceAll(pages[r.URL.Path], "OTHER", browsertest.LocalhostURL(r)))
	}).URL
}

// open opens a tab at an address.
func open(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	ctx := browsertest.Within(tb, time.Minute)
	w, _, err := manager.Window(ctx, browsermgr.WindowOptions{Key: tb.Name() + url, URL: url, Ephemeral: true})
	browsertest.Must(tb, err)
	tb.Cleanup(func() { _ = w.Close(context.Background()) })
	var tab *page.Tab
	browsertest.Must(tb, w.WithTab(ctx, func(t *page.Tab) error { tab = t; return nil }))
	// Frames are part of what is waited for.
	browsertest.Must(tb,
		browsertest.Err(tab.Act(ctx, page.Action{Kind: actiontable.KindWait, LoadState: "load", TimeoutMs: 60_000})))
	return tab
}

// show opens a tab with one page and returns its origin.
func show(tb testing.TB, html string) (tab *page.Tab, origin string) {
	tb.Helper()
	origin = site(tb, map[string]string{"/": html})
	return open(tb, origin+"/"), origin
}

// js evaluates an expression in the page.
func js(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	res, err := tab.Act(browsertest.Within(tb, 30*time.Second), page.Action{Kind: actiontable.KindEvaluate, Fn: expression})
	browsertest.Must(tb, err)
	var s string
	if err := json.Unmarshal(res.Value, &s); err != nil {
		return string(res.Value)
	}
	return s
}

// secret is what an entry holds.
type secret struct{ user, pass string }

func (s secret) Username() string { return s.user }
func (s secret) Password() string { return s.pass }

// request asks to fill in the login of origins, and counts how often the secret was revealed.
func request(revealed *int, origins ...string) login.FillRequest {
	var mu sync.Mutex
	return login.FillRequest{Name: "shop", Origins: origins, Reveal: func(_ context.Context, origin string) (login.Secret, error) {
		mu.Lock()
		defer mu.Unlock()
		*revealed++
		if slices.Contains(origins, origin) {
			return secret{"ada", word}, nil
		}
		return nil, errors.New("revealed for " + origin)
	}}
}

func fill(tb testing.TB, tab *page.Tab, origins ...string) (login.FillResult, error) {
	tb.Helper()
	n := 0
	return keeper.Fill(browsertest.Within(tb, time.Minute), tab, request(&n, origins...))
}
