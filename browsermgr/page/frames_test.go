package page_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// foreign returns the same server under a name of another site.
func foreign(srv *httptest.Server) string {
	return strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
}

// framed serves a page that embeds one of its own site and one of another, which embeds the first site again.
func framed(t *testing.T) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		pages := map[string]string{
			"/": `<h1>Top</h1><iframe title=Near src=/near></iframe><div style=height:1500px></div>
				<iframe title=Far src="` + foreign(srv) + `/far" style="width:500px;height:300px;border:7px solid;padding:9px"></iframe>`,
			"/near": `<button onclick="document.title='near'">Near button</button>`,
			"/far": `<button onclick="this.textContent='Pressed'">Far button</button><input aria-label="Far field">
				<iframe title=Deep src="` + srv.URL + `/deep" style="width:300px;height:150px"></iframe>`,
			"/deep": `<div style=height:600px></div><button onclick="this.textContent='Pressed deep'">Deep button</button>`,
		}
		_, _ = w.Write([]byte("<!doctype html>" + pages[r.URL.Path]))
	})
	return srv
}

func TestFramesAreInlined(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	want := `- heading "Top" [level=1] [ref=e1]
- Iframe "Near" [ref=e2]:
  - button "Near button" [ref=f1e1]
- Iframe "Far" [ref=e3]:
  - button "Far button" [ref=f2e1]
  - textbox "Far field" [ref=f2e2]
  - Iframe "Deep" [ref=f2e3]:
    - button "Deep button" [ref=f3e1]`
	browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button") })
	again := snapshot(t, tab, page.SnapshotOptions{}).Text
	browsertest.WantEqual(t, sameFrames(again), sameFrames(want))
	flat := snapshot(t, tab, page.SnapshotOptions{Interactive: true}).Text
	browsertest.WantContains(t, flat, "\n- button \"Far button\" [ref=f", "\n- button \"Deep button\" [ref=f")
}

// sameFrames forgets the numbers in frames of other processes: they depend on which process answers first.
func sameFrames(text string) string {
	return regexp.MustCompile(`\[ref=f[23]e\d+`).ReplaceAllString(text, "[ref=f")
}

func TestActionsReachAllFrames(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button") })
	for _, name := range []string{"Near button", "Far button", "Deep button"} {
		click(t, tab, refOf(t, tab, name))
	}
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "Far field"), Text: "far text"})
	text := snapshot(t, tab, page.SnapshotOptions{}).Text
	browsertest.WantContains(t, text, `button "Pressed"`, `button "Pressed deep"`, `"Far field" [active]`, ": far text")
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "Far field"), Text: " more", Slowly: true})
	browsertest.WantEqual(t, string(act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: refOf(t, tab, "Far field"), Fn: "el => el.value"}).Value),
		`"far text more"`)
	browsertest.Must(t,
		browsertest.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: refOf(t, tab, "Far field")})))
}

func TestCoveredFrameIsNamed(t *testing.T) {
	srv := framed(t)
	tab := openTab(t, srv.URL)
	browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Far button") })
	ref := refOf(t, tab, "Far button")
	js(t, tab, `document.body.insertAdjacentHTML('beforeend', '<div id=veil role=dialog aria-label=Wall style="position:fixed;inset:0"></div>')`)
	_ = refused(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref}, ref+" ", `is covered by dialog "Wall" (div#veil)`)
}

func TestRefOfARemovedFrameIsGone(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Far button") })
	near, far := refOf(t, tab, "Near button"), refOf(t, tab, "Far button")
	js(t, tab, "document.querySelectorAll('iframe').forEach(f => f.remove())")
	for _, ref := range []string{near, far} {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
		wantError(t, err, "Unknown ref "+ref)
	}
}
