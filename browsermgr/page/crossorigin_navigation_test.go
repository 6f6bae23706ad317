package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// crossOriginPage serves a page with a frame of its site and of another origin, and pages that the frame may go on to. top is added to the page,
// inner is in the frame.
func crossOriginPage(tb testing.TB, top, inner string) string {
	tb.Helper()
	var srv *httptest.Server
	srv = browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		pages := map[string]string{
			"/":      `<h1>Top</h1><iframe title=Lodger src="` + withHost(srv, "pay.shop.localhost") + `/in" style="width:600px;height:300px"></iframe>` + top,
			"/in":    inner,
			"/after": `<button onclick="this.textContent='Pressed after'">After</button>`,
			"/away":  `<p>Away`,
		}
		html, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		browsertest.HTML(w, "<!doctype html><title>Test</title>"+html)
	})
	return withHost(srv, "www.shop.localhost") + "/"
}

// awaitSnapshotText waits until a snapshot shows something.
func awaitSnapshotText(tb testing.TB, tab *page.Tab, text string) {
	tb.Helper()
	browsertest.Eventually(tb, "the page shows "+text, func() bool {
		return strings.Contains(snapshot(tb, tab, page.SnapshotOptions{}).Text, text)
	})
}

func TestBackToAPageThatWasKeptWithFramesOfOtherOrigins(t *testing.T) {
	url := crossOriginPage(t, "", `<button onclick="this.textContent='Pressed'">Pay</button>`)
	tab := openTab(t, url)
	var before string
	browsertest.Eventually(t, "the page is kept", func() bool { // Chromium need not
		awaitSnapshotText(t, tab, `button "Pay"`)
		act(t, tab, page.Action{Kind: actiontable.KindWait, LoadState: "load", TimeoutMs: 25_000})
		before = refOf(t, tab, `button "Pay"`)
		js(t, tab, "(window.kept = 7)")
		browsertest.Navigate(t, tab, strings.Replace(url, "www.", "pay.", 1)+"away")
		act(t, tab, page.Action{Kind: actiontable.KindBack})
		return js(t, tab, "window.kept") == "7"
	})
	_, err := tab.Act(browsertest.Within(t, browsertest.Patience), page.Action{Kind: actiontable.KindClick, Ref: before})
	wantError(t, err, "Unknown ref "+before)
	awaitSnapshotText(t, tab, `button "Pay"`)
	click(t, tab, refOf(t, tab, `button "Pay"`))
	awaitSnapshotText(t, tab, `button "Pressed"`)
}

func TestAFrameOfAnotherOriginNavigatesWhileAnActionWaits(t *testing.T) {
	tab := openTab(t, crossOriginPage(t, "", `<button disabled>Pay</button><script>onmessage = () => location = '/after'</script>`))
	awaitSnapshotText(t, tab, `button "Pay"`)
	ref := refOf(t, tab, `button "Pay"`)
	leave := func() { js(t, tab, "(setTimeout(() => frames[0].postMessage('', '*'), 100), 1)") }

	leave()
	start := time.Now()
	_, err := tab.Act(browsertest.Within(t, time.Minute), page.Action{Kind: actiontable.KindClick, Ref: ref, TimeoutMs: 50_000})
	wantError(t, err, "Unknown ref "+ref)
	if took := time.Since(start); took > 40*time.Second {
		t.Errorf("it was told after %s", took)
	}
	awaitSnapshotText(t, tab, `button "After"`)
	click(t, tab, refOf(t, tab, `button "After"`))
	awaitSnapshotText(t, tab, `button "Pressed after"`)

	act(t, tab, page.Action{Kind: actiontable.KindReload})
	awaitSnapshotText(t, tab, `button "Pay"`)
	leave()
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "After", TimeoutMs: 25_000})
}

func TestAFrameOfAnotherOriginGoesWhileASnapshotIsTaken(t *testing.T) {
	tab := openTab(t, crossOriginPage(t, `<script>
		const frame = document.querySelector('iframe');
		let rounds = 0;
		const timer = setInterval(() => { rounds++ % 2 ? document.body.append(frame) : frame.remove() }, 15);
	</script>`, `<button>Pay</button>`))
	for range 15 {
		if text := snapshot(t, tab, page.SnapshotOptions{}).Text; !strings.Contains(text, `heading "Top"`) {
			t.Fatalf("got\n%s", text)
		}
	}
	js(t, tab, "(clearInterval(timer), document.body.append(frame), 1)")
	awaitSnapshotText(t, tab, `button "Pay"`)
}

func TestFramesOfOtherOriginsThatComeAndGoLeaveNothing(t *testing.T) {
	tab := openTab(t, crossOriginPage(t, "", `<button>Pay</button>`))
	count := func() int {
		n, err := page.CountState(browsertest.Within(t, browsertest.Patience), tab)
		browsertest.Must(t, err)
		return n
	}
	round := func(i int) {
		js(t, tab, `(() => { const f = document.querySelector('iframe'), g = f.cloneNode(); f.remove(); document.body.append(g); return 1 })()`)
		awaitSnapshotText(t, tab, `button "Pay"`)
		if got := len(tab.Frames()); got != 2 {
			t.Fatalf("round %d: got %d frames, want 2", i, got)
		}
	}
	for i := range 3 {
		round(i)
	}
	before := count()
	for i := range 24 {
		round(i)
	}
	if after := count(); after > before+32 {
		t.Errorf("got %d entries, want no more than the %d of before", after, before)
	}
	js(t, tab, "(document.querySelector('iframe').remove(), 1)")
	browsertest.Eventually(t, "the frame is gone", func() bool { return len(tab.Frames()) == 1 })
}
