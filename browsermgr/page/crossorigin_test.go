package page_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// withHost returns the server under another name of the loopback interface: names below shop.localhost are of one site.
func withHost(srv *httptest.Server, host string) string {
	return strings.Replace(srv.URL, "127.0.0.1", host, 1)
}

// crossOriginSite serves a page whose frames are of its site, but not of its origin: Chromium keeps them in the page's process, out of the
// reach of its scripts. One embeds another site, and that an origin of its own once more.
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

// openCrossOriginSite opens the page with all its frames there.
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
		return strings.Contains(text, "Deep button") && strings.Contains(text, "Boxed button") && strings.Contains(text, "Data button") && strings.Contains(text, "Within button")
	})
}

func TestFramesOfOtherOriginsInTheProcessOfThePage(t *testing.T) {
	tab := openCrossOriginSite(t)
	for name, opts := range map[string]page.SnapshotOptions{
		"own": {}, "numbered": {Refs: page.RefsRole}, "brief": {Refs: page.RefsAria}, "interactive": {Interactive: true}, "delta": {Delta: true},
		"efficient": page.EfficientSnapshot(),
	} {
		t.Run(name, func(t *testing.T) {
			text := snapshot(t, tab, opts).Text
			browsertest.WantContains(t, text, `button "Enter"`, `textbox "User"`, `button "Data button"`, `button "Boxed button"`, `button "Bare button"`, `button "Deep button"`, `button "Within button"`)
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
	if browsertest.WantContains(t, text, `button "Enter"`, `button "Deep button"`); strings.Contains(text, "Top") || strings.Contains(text, "Data button") {
		t.Errorf("one frame shows\n%s", text)
	}
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{Frame: "iframe[title=Data]"}).Text, "Data button")
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{Query: "data button"}).Text, "Data button")
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
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `"Pressed"`, `"Doubled"`, `"Deeper"`, `button "0"`, `button "1"`, "Clicked",
		": ada", ": by keysX", "[checked]", ": Two", `"Hovered"`)
	browsertest.WantEqual(t, string(act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: refOf(t, tab, `"User"`), Fn: "el => el.value + ' ' + location.host.split('.')[0]"}).Value),
		`"ada login"`)
	if text, err := tab.Text(t.Context(), refOf(t, tab, `link "Next"`)); err != nil || text != "Next" {
		t.Errorf("got %q, %v", text, err)
	}
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "Pressed", TimeoutMs: 30_000})
	browsertest.Must(t, browsertest.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Ref: refOf(t, tab, "Deeper")})))
	nodes := tree(t, tab, 0)
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: nodeOf(t, nodes, "textbox", "User").Ref, Text: "via tree"})
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, ": via tree")
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
	wantError(t, err, "Unknown ref "+enter)
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Arrived"`)
	js(t, tab, "(document.querySelector('[title=Data]').remove(), 1)")
	_, err = tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: data})
	wantError(t, err, "Unknown ref "+data)

	// The frame comes to show the page's own origin, and another one again.
	js(t, tab, "(document.querySelector('[title=Login]').src = '/next', 1)")
	browsertest.Eventually(t, "the frame is the page's own", func() bool {
		return js(t, tab, "document.querySelector('[title=Login]').contentDocument?.body?.textContent") == `"Arrived"` &&
			strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, "Arrived") == 1
	})
	js(t, tab, "(document.querySelector('[title=Login]').src = 'data:text/html,<button>Back again</button>', 1)")
	browsertest.Eventually(t, "it is not any more", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Back again") })
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
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Pressed"`)

	// One that went out of sight and was kept comes back with its frames.
	browsertest.Navigate(t, tab, strings.Replace(tab.URL(), "www.", "login.", 1)+"next")
	act(t, tab, page.Action{Kind: actiontable.KindBack})
	complete(t, tab)
}

func TestPagesWithoutSuchFramesAreAskedNothingMore(t *testing.T) {
	asked := make(chan string, 1000)
	b := browser.Connect(t, page.Options{OnSent: func(method string) {
		if method == "Page.getFrameTree" {
			asked <- method
		}
	}})
	url := site(t, map[string]string{"/": `<iframe src="/in"></iframe><iframe srcdoc="<p>Bare"></iframe><iframe src="about:blank"></iframe>`, "/in": "<p>In"}).URL
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
	if err := json.Unmarshal([]byte(js(t, tab, "Array.from(frames, (f) => f.document.URL)")), &urls); err != nil || len(urls) != 3 {
		t.Fatalf("got %q, %v", urls, err)
	}
	browsertest.WantEqual(t, len(asked), before)
}
