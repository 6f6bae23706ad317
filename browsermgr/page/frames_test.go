package page_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// foreign returns the same server under the name of another site.
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

func TestFramesAreClickedInAnyElementAndPosition(t *testing.T) {
	button := func(name string) string {
		return `<button onclick="parent.postMessage('` + name + `', '*')">` + name + `</button>`
	}
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if name := strings.TrimPrefix(r.URL.Path, "/"); name != "" {
			browsertest.HTML(w, "<!doctype html>"+button(name))
			return
		}
		browsertest.HTML(w, `<!doctype html><style>iframe { width: 200px; height: 80px }</style>
			<script>window.log = []; onmessage = (e) => log.push(e.data)</script>
			<object data=/Object type=text/html></object><embed src=/Embed type=text/html>
			<object data="`+foreign(srv)+`/Far" type=text/html></object><object data=data:x,>No frame</object>
			<embed src="`+foreign(srv)+`/Other" type=text/html>
			<embed src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" type=image/svg+xml>
			<div id=host></div><script>host.attachShadow({mode: 'open'}).innerHTML =
				'<embed src="`+foreign(srv)+`/Shaded" type=text/html style="width:200px;height:80px">'</script>
			<embed src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" type=image/gif>
			<iframe src=/Turned style="transform:rotate(30deg) scale(.7)"></iframe>
			<iframe src=/Mirrored style="scale:-1 1.4;zoom:.8;border:9px solid"></iframe>
			<div style="rotate:-20deg;zoom:1.5"><iframe src="`+foreign(srv)+`/Away" style="padding:7px"></iframe></div>`)
	})
	tab := openTab(t, srv.URL)
	for _, name := range []string{"Object", "Embed", "Far", "Other", "Shaded", "Turned", "Mirrored", "Away"} {
		name = `"` + name + `"`
		browsertest.Eventually(t, "the frame is seen: "+name, func() bool {
			return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "button "+name)
		})
		click(t, tab, refOf(t, tab, name))
		act(t, tab, page.Action{Kind: actiontable.KindWait, Fn: "log.at(-1) === " + name})
	}
	text := snapshot(t, tab, page.SnapshotOptions{}).Text
	check.Contains(t, text, "No frame")
	browsertest.WantEqual(t, strings.Count(text, "- Iframe"), 9) // one is an SVG document, none the picture
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "Embed"})
	if text, err := tab.Text(t.Context(), ""); err != nil || !strings.Contains(text, "Embed") {
		t.Errorf("got text %q, %v; want that of the frames", text, err)
	}
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
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button")
	})
	again := snapshot(t, tab, page.SnapshotOptions{}).Text
	browsertest.WantEqual(t, sameFrames(again), sameFrames(want))
	flat := snapshot(t, tab, page.SnapshotOptions{Interactive: true}).Text
	check.Contains(t, flat, "\n- button \"Far button\" [ref=f", "\n- button \"Deep button\" [ref=f")
	js(t, tab, `void document.body.insertAdjacentHTML('beforeend', '<div style="height:9000px"></div>' +
		'<iframe title=Empty></iframe><iframe title=Later loading=lazy src=/near></iframe>')`)
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `- Iframe "Empty" [ref=e4]
- Iframe "Later" [ref=e5]:
  - text: (this frame was not read: it has not loaded, or there was no time)`)
}

// sameFrames removes the numbers from refs in out-of-process frames: they depend on which process answers first.
func sameFrames(text string) string {
	return regexp.MustCompile(`\[ref=f[23]e\d+`).ReplaceAllString(text, "[ref=f")
}

func TestActionsReachAllFrames(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button")
	})
	for _, name := range []string{"Near button", "Far button", "Deep button"} {
		click(t, tab, refOf(t, tab, name))
	}
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "Far field"), Text: "far text"})
	text := snapshot(t, tab, page.SnapshotOptions{}).Text
	check.Contains(t, text, `button "Pressed"`, `button "Pressed deep"`, `"Far field" [active]`, ": far text")
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "Far field"), Text: " more", Slowly: true})
	browsertest.WantEqual(t, string(
		act(t, tab, page.Action{
			Kind: actiontable.KindEvaluate, Ref: refOf(t, tab, "Far field"),
			Fn: "el => el.value",
		}).Value),
		`"far text more"`)
	check.Must(t,
		check.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: refOf(t, tab, "Far field")})))
}

func TestCoveredFrameIsNamed(t *testing.T) {
	srv := framed(t)
	tab := openTab(t, srv.URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Far button")
	})
	ref := refOf(t, tab, "Far button")
	js(t, tab, `document.body.insertAdjacentHTML('beforeend', '<div id=veil role=dialog aria-label=Wall style="position:fixed;inset:0"></div>')`)
	_ = refused(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref}, ref+" ", `is covered by dialog "Wall" [ref=f`)
}

func TestRefOfARemovedFrameIsGone(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Far button")
	})
	near, far := refOf(t, tab, "Near button"), refOf(t, tab, "Far button")
	js(t, tab, "document.querySelectorAll('iframe').forEach(f => f.remove())")
	for _, ref := range []string{near, far} {
		check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})),
			nil, "Unknown ref "+ref)
	}
}

// withHost returns the server under another name of the loopback interface: names below shop.localhost are same-site.
func withHost(srv *httptest.Server, host string) string {
	return strings.Replace(srv.URL, "127.0.0.1", host, 1)
}

// crossOriginSite serves a page whose frames are same-site but cross-origin: Chromium keeps them in the page's process,
// unreachable by its scripts. One embeds another site, and that one a cross-origin frame again.
func crossOriginSite(t *testing.T) string {
	t.Helper()
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		pages := map[string]string{
			"/": `<h1>Top</h1>
				<iframe title=Login src="` + withHost(srv, "login.shop.localhost") + `/login" style="width:600px;height:420px;border:3px solid;padding:5px"></iframe>
				<iframe title=Data src="data:text/html,<body onclick=document.body.append('Clicked')><button>Data button</button>"></iframe>
				<iframe title=Boxed sandbox="allow-scripts" srcdoc="<button onclick='this.textContent=0'>Boxed button</button>"></iframe>
				<iframe title=Bare srcdoc="<button>Bare button</button>"></iframe>`,
			"/login": `<button onclick="this.textContent='Pressed'">Enter</button><button ondblclick="this.textContent='Doubled'">Twice</button>
				<input aria-label=User><input aria-label=Slow><input aria-label=Secret type=password value=swordfish>
				<label><input type=checkbox>Remember</label><select aria-label=Kind><option>One<option>Two</select>
				<button onmouseover="this.textContent='Hovered'">Over</button><a href=/next>Next</a><br><iframe title=Far src="` + srv.URL + `/far"></iframe>
				<iframe title=Within srcdoc="<button onclick='this.textContent=1'>Within button</button>"></iframe>`,
			"/far":  `<iframe title=Deep src="data:text/html,<button onclick=this.textContent='Deeper'>Deep button</button>"></iframe>`,
			"/next": `<button>Arrived</button>`,
		}
		browsertest.HTML(w, "<!doctype html><title>Test</title>"+pages[r.URL.Path])
	})
	return withHost(srv, "www.shop.localhost") + "/"
}

// openCrossOriginSite opens the page and waits for all its frames.
func openCrossOriginSite(t *testing.T) *page.Tab {
	t.Helper()
	tab := openTab(t, crossOriginSite(t))
	complete(t, tab)
	return tab
}

func complete(t *testing.T, tab *page.Tab) {
	t.Helper()
	browsertest.Eventually(t, "the frames are seen", func() bool {
		text := snapshot(t, tab, page.SnapshotOptions{}).Text
		return strings.Contains(text, "Deep button") && strings.Contains(text, "Boxed button") &&
			strings.Contains(text, "Data button") && strings.Contains(text, "Within button")
	})
}

func TestFramesOfOtherOriginsInTheProcessOfThePage(t *testing.T) {
	tab := openCrossOriginSite(t)
	for name, opts := range map[string]page.SnapshotOptions{
		"own": {}, "numbered": {Refs: page.RefsRole}, "brief": {Refs: page.RefsAria}, "interactive": {Interactive: true},
		"delta": {Delta: true},
	} {
		t.Run(name, func(t *testing.T) {
			text := snapshot(t, tab, opts).Text
			check.Contains(t, text, `button "Enter"`, `textbox "User"`, `button "Data button"`, `button "Boxed button"`,
				`button "Bare button"`, `button "Deep button"`, `button "Within button"`)
			if n := strings.Count(text, "Bare button"); n != 1 {
				t.Errorf("a frame of the same origin is there %d times in\n%s", n, text)
			}
			if strings.Contains(text, "swordfish") {
				t.Errorf("the password is told in\n%s", text)
			}
		})
	}
	login := refOf(t, tab, `Iframe "Login"`)
	text := snapshot(t, tab, page.SnapshotOptions{Frame: login}).Text
	if check.Contains(t, text, `button "Enter"`, `button "Deep button"`); strings.Contains(text, "Top") ||
		strings.Contains(text, "Data button") {
		t.Errorf("one frame shows\n%s", text)
	}
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{Frame: "iframe[title=Data]"}).Text, "Data button")
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{Query: "data button"}).Text, "Data button")
}

func TestActionsReachFramesOfOtherOriginsInTheProcess(t *testing.T) {
	tab := openCrossOriginSite(t)
	for _, name := range []string{"Enter", "Deep button", "Boxed button", "Within button", "Data button"} {
		click(t, tab, refOf(t, tab, name))
	}
	act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, "Twice"), DoubleClick: true})
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"User"`), Text: "ada"})
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"Slow"`), Text: "by keys", Slowly: true})
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "Shift+X"})
	click(t, tab, refOf(t, tab, "Remember"))
	act(t, tab, page.Action{Kind: actiontable.KindSelect, Ref: refOf(t, tab, `"Kind"`), Values: []string{"Two"}})
	act(t, tab, page.Action{Kind: actiontable.KindHover, Ref: refOf(t, tab, "Over")})
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `"Pressed"`, `"Doubled"`, `"Deeper"`, `button "0"`,
		`button "1"`, "Clicked",
		": ada", ": by keysX", "[checked]", ": Two", `"Hovered"`)
	browsertest.WantEqual(t, string(
		act(t, tab, page.Action{
			Kind: actiontable.KindEvaluate, Ref: refOf(t, tab, `"User"`),
			Fn: "el => el.value + ' ' + location.host.split('.')[0]",
		}).Value),
		`"ada login"`)
	if text, err := tab.Text(t.Context(), refOf(t, tab, `link "Next"`)); err != nil || text != "Next" {
		t.Errorf("got %q, %v", text, err)
	}
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "Pressed", TimeoutMs: 30_000})
	check.Must(t, check.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: refOf(t, tab, "Deeper")})))
	nodes := tree(t, tab, 0)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: nodeOf(t, nodes, "textbox", "User").Ref, Text: "via tree"})
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, ": via tree")
	for _, n := range nodes {
		if strings.Contains(n.Name+n.Value, "swordfish") {
			t.Errorf("the password is told: %+v", n)
		}
	}
}

func TestFramesOfOtherOriginsNavigateAndGo(t *testing.T) {
	tab := openCrossOriginSite(t)
	enter, data := refOf(t, tab, "Enter"), refOf(t, tab, "Data button")
	click(t, tab, refOf(t, tab, `link "Next"`))
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "Arrived", TimeoutMs: 30_000})
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: enter})
	check.Fails(t, err, nil, "Unknown ref "+enter)
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Arrived"`)
	js(t, tab, "(document.querySelector('[title=Data]').remove(), 1)")
	_, err = tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: data})
	check.Fails(t, err, nil, "Unknown ref "+data)

	// The frame comes to show the page's own origin, and another one again.
	js(t, tab, "(document.querySelector('[title=Login]').src = '/next', 1)")
	browsertest.Eventually(t, "the frame is the page's own", func() bool {
		return js(t, tab, "document.querySelector('[title=Login]').contentDocument?.body?.textContent") == `"Arrived"` &&
			strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "Arrived") == 1
	})
	js(t, tab, "(document.querySelector('[title=Login]').src = 'data:text/html,<button>Back again</button>', 1)")
	browsertest.Eventually(t, "it is not any more", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Back again")
	})
}

func TestFramesOfPagesThatWereThereBefore(t *testing.T) {
	tab := openCrossOriginSite(t)
	joined := browser.Connect(t, page.Options{})
	other := joined.Tab(tab.TargetID())
	if other == nil {
		t.Fatal("the page is not there")
	}
	complete(t, other)
	click(t, other, refOf(t, other, "Enter"))
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Pressed"`)

	// One that went out of sight and was kept comes back with its frames.
	browsertest.Navigate(t, tab, strings.Replace(tab.URL(), "www.", "login.", 1)+"next")
	act(t, tab, page.Action{Kind: actiontable.KindBack})
	complete(t, tab)
}

func TestPagesWithoutSuchFramesAreAskedNothingMore(t *testing.T) {
	asked := make(chan string, 1000)
	b := browser.Connect(t, page.Options{Options: cdp.Options{OnSent: func(method string, _ any) {
		if method == "Page.getFrameTree" {
			asked <- method
		}
	}}})
	url := site(t, map[string]string{
		"/":   `<iframe src="/in"></iframe><iframe srcdoc="<p>Bare"></iframe><iframe src="about:blank"></iframe>`,
		"/in": "<p>In",
	}).URL
	for _, tab := range b.Tabs() {
		snapshot(t, tab, page.SnapshotOptions{}) // which waits until those are known that were there
	}
	before := len(asked)
	tab := browsertest.Tab(t, b, page.TabOptions{URL: url})
	var urls []string
	browsertest.Eventually(t, "the frames are seen", func() bool {
		text := snapshot(t, tab, page.SnapshotOptions{}).Text
		return strings.Contains(text, "In") && strings.Contains(text, "Bare")
	})
	if err := json.Unmarshal([]byte(js(t, tab, "Array.from(frames, (f) => f.document.URL)")), &urls); err != nil ||
		len(urls) != 3 {
		t.Fatalf("got %q, %v", urls, err)
	}
	browsertest.WantEqual(t, len(asked), before)
}

// crossOriginPage serves a page with a same-site cross-origin frame, and pages that the frame may navigate to. top is
// added to the page, inner is in the frame.
func crossOriginPage(tb testing.TB, top, inner string) string {
	tb.Helper()
	var srv *httptest.Server
	srv = browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		pages := map[string]string{
			"/": `<h1>Top</h1><iframe title=Lodger src="` + withHost(srv, "pay.shop.localhost") +
				`/in" style="width:600px;height:300px"></iframe>` + top,
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

// awaitSnapshotText waits until a snapshot contains a text.
func awaitSnapshotText(tb testing.TB, tab *page.Tab, text string) {
	tb.Helper()
	browsertest.Eventually(tb, "the page shows "+text, func() bool {
		return strings.Contains(snapshot(tb, tab, page.SnapshotOptions{}).Text, text)
	})
}

func TestBackToAPageThatWasKeptWithFramesOfOtherOrigins(t *testing.T) {
	url := crossOriginPage(t, "", `<button onclick="this.textContent='Pressed'">Pay</button>`)
	keeps := browsertest.Launch(t, "--enable-features=BackForwardCache") // as browsers that clank joins do
	tab := browsertest.Tab(t, browsertest.Connect(t, keeps, page.Options{}), page.TabOptions{URL: url})
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
	check.Fails(t, check.Err(tab.Act(browsertest.Within(t, browsertest.Patience),
		page.Action{Kind: actiontable.KindClick, Ref: before})), nil, "Unknown ref "+before)
	awaitSnapshotText(t, tab, `button "Pay"`)
	click(t, tab, refOf(t, tab, `button "Pay"`))
	awaitSnapshotText(t, tab, `button "Pressed"`)
}

func TestAFrameOfAnotherOriginNavigatesWhileAnActionWaits(t *testing.T) {
	tab := openTab(t, crossOriginPage(t, "",
		`<button disabled>Pay</button><script>onmessage = () => location = '/after'</script>`))
	awaitSnapshotText(t, tab, `button "Pay"`)
	ref := refOf(t, tab, `button "Pay"`)
	leave := func() { js(t, tab, "(setTimeout(() => frames[0].postMessage('', '*'), 100), 1)") }

	leave()
	start := time.Now()
	check.Fails(t, check.Err(tab.Act(browsertest.Within(t, time.Minute),
		page.Action{Kind: actiontable.KindClick, Ref: ref, TimeoutMs: 50_000})), nil, "Unknown ref "+ref)
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
		check.Must(t, err)
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

// TestAFrameLoadsWhenAnotherClientConnects connects another client while the first one's session of a frame is being
// set up: Chromium ends that session and leaves the frame's navigation paused.
func TestAFrameLoadsWhenAnotherClientConnects(t *testing.T) {
	var next atomic.Bool
	var failed error
	b := browser.Connect(t, page.Options{Options: cdp.Options{OnSent: func(method string, _ any) {
		if method != "Page.enable" || !next.CompareAndSwap(true, false) {
			return
		}
		for _, tab := range browser.Connect(t, page.Options{}).Tabs() {
			_, err := tab.Snapshot(t.Context(), page.SnapshotOptions{})
			failed = errors.Join(failed, err)
		}
	}}})
	tab := browsertest.Tab(t, b, page.TabOptions{})
	next.Store(true)
	browsertest.Navigate(t, tab, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool {
		return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button")
	})
	check.Must(t, failed)
}
