package page_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// openTab opens an address in a tab and a connection for this test only.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return browser.Page(tb, page.Options{}, url)
}

// site serves pages by path. Other paths are 404.
func site(tb testing.TB, pages map[string]string) *httptest.Server {
	tb.Helper()
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		html, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		browsertest.HTML(w, html)
	})
}

// show opens a tab with one page.
func show(tb testing.TB, html string) *page.Tab {
	tb.Helper()
	return openTab(tb, site(tb, map[string]string{"/": "<!doctype html><meta charset=utf-8><title>Test</title>" +
		html}).URL)
}

// rewrite replaces the content of a tab's document, which takes a twentieth of the time of a navigation. Its listeners
// are gone; its scripts' variables and the numbering of refs continue.
func rewrite(tb testing.TB, tab *page.Tab, html string) {
	tb.Helper()
	text, err := json.Marshal("<!doctype html><meta charset=utf-8><title>Test</title>" + html)
	check.Must(tb, err)
	js(tb, tab, "() => { document.open(); document.write("+string(text)+"); document.close() }")
}

func snapshot(tb testing.TB, tab *page.Tab, opts page.SnapshotOptions) page.Snapshot {
	tb.Helper()
	opts.Timeout = cmp.Or(opts.Timeout, browsertest.Patience)
	snap, err := tab.Snapshot(browsertest.Within(tb, browsertest.Patience), opts)
	check.Must(tb, err)
	return snap
}

// refOf finds the ref of the first line that contains text.
func refOf(tb testing.TB, tab *page.Tab, text string) string {
	tb.Helper()
	snap := snapshot(tb, tab, page.SnapshotOptions{})
	for line := range strings.Lines(snap.Text) {
		if !strings.Contains(line, text) {
			continue
		}
		if _, rest, ok := strings.Cut(line, "[ref="); ok {
			ref, _, _ := strings.Cut(rest, "]")
			return ref
		}
	}
	tb.Fatalf("no ref for %q in\n%s", text, snap.Text)
	return ""
}

func act(tb testing.TB, tab *page.Tab, a page.Action) page.Result {
	tb.Helper()
	res, err := tab.Act(browsertest.Within(tb, 30*time.Second), a)
	check.Must(tb, err)
	return res
}

func click(tb testing.TB, tab *page.Tab, ref string) page.Result {
	tb.Helper()
	return act(tb, tab, page.Action{Kind: actiontable.KindClick, Ref: ref})
}

// js evaluates an expression in the page and returns its JSON.
func js(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	return string(act(tb, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: expression}).Value)
}

func jsString(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	var s string
	check.Must(tb, json.Unmarshal([]byte(js(tb, tab, expression)), &s))
	return s
}

// refused repeats an action with longer limits until its error names the reason, since a busy machine may take long to
// find it.
func refused(tb testing.TB, tab *page.Tab, a page.Action, want ...string) error {
	tb.Helper()
	var err error
	for _, limit := range []int{150, 1500, 15000} {
		a.TimeoutMs = limit
		start := time.Now()
		_, err = tab.Act(tb.Context(), a)
		if took := time.Since(start); took > time.Duration(limit)*time.Millisecond+10*time.Second {
			tb.Errorf("took %s for a limit of %d ms", took, limit)
		}
		if err == nil {
			break
		}
		if !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
			return err
		}
	}
	check.Fails(tb, err, nil, want...)
	return err
}

// atOnce is much longer than it takes to cancel something, and shorter than the limits that would end it otherwise.
const atOnce = 5 * time.Second
