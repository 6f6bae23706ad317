package page_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

func TestClickSendsTrustedEvents(t *testing.T) {
	tab := show(t, `<button>Go</button><script>window.seen = [];
		for (const k of ['pointerdown','mousedown','mouseup','click','dblclick','contextmenu','auxclick'])
			document.querySelector('button').addEventListener(k, e => seen.push([k, e.isTrusted, e.button, e.shiftKey].join()));</script>`)
	ref := refOf(t, tab, "Go")
	click(t, tab, ref)
	if got, want := jsString(t, tab, "seen.join(' ')"), "pointerdown,true,0,false mousedown,true,0,false "+
		"mouseup,true,0,false click,true,0,false"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	js(t, tab, "seen = []")
	act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref, DoubleClick: true, Modifiers: []string{"Shift"}})
	check.Contains(t, jsString(t, tab, "seen.join(' ')"), "dblclick,true,0,true")
	js(t, tab, "seen = []; document.querySelector('button').onmousedown = () => seen.push(Date.now())")
	act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref, DoubleClick: true})
	browsertest.WantEqual(t, js(t, tab, "(([a, b]) => b > a)(seen.filter(Number))"), "true")
	js(t, tab, "seen = []")
	act(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref, Button: "right"})
	check.Contains(t, jsString(t, tab, "seen.join(' ')"), "contextmenu,true,2,false")
}

func TestClickSaysWhyItCannot(t *testing.T) {
	tests := []struct {
		name string
		html string
		want []string
	}{
		{
			"covered", `<button>Buy</button><div id=consent role=dialog aria-label="Cookie consent" style="position:fixed;inset:0;background:#fff"><p>We use cookies</p></div>`,
			[]string{`e1 button "Buy" is covered by dialog "Cookie consent" [ref=e2] (div#consent)`},
		},
		{
			"covered by something plain", `<button>Buy</button><div class=veil style="position:fixed;inset:0"></div>`,
			[]string{`button "Buy" is covered by div.veil`},
		},
		{"disabled", `<button disabled>Buy</button>`, []string{`button "Buy" is disabled`}},
		{"disabled by aria", `<button aria-disabled=true>Buy</button>`, []string{"is disabled"}},
		{"disabled by fieldset", `<fieldset disabled><button>Buy</button></fieldset>`, []string{"is disabled"}},
		{
			"no box", `<button style="width:0;height:0;padding:0;border:0;overflow:hidden;font-size:0">Buy</button>`,
			[]string{"is not visible"},
		},
	}
	tab := show(t, "") // in front: Chromium hardly draws others on a busy machine
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			html := tt.html + `<script>window.hits = 0; addEventListener('click', () => hits++)</script>`
			rewrite(t, tab, html)
			ref := refOf(t, tab, "Buy")
			check.Fails(t, refused(t, tab, page.Action{Kind: actiontable.KindClick, Ref: ref}, tt.want...),
				page.ErrNotInteractable)
			browsertest.WantJS(t, tab, "hits", "0")
		})
	}
}

// On a page that gets no time to draw, the target does not move, and the click arrives: so this is tried more than
// once.
func TestClickSaysThatTheTargetKeepsMoving(t *testing.T) {
	tab := show(t, `<style>@keyframes m{to{transform:translateX(600px)}} button{animation:m .6s linear infinite alternate}</style>
		<button>Buy</button><script>window.hits = 0; document.querySelector('button').onclick = () => hits++</script>`)
	ref := refOf(t, tab, "Buy")
	for range 10 {
		js(t, tab, "hits = 0")
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref, TimeoutMs: 600})
		if got := js(t, tab, "hits"); (got == "0") != (err != nil) {
			t.Fatalf("got %s clicks and error %v: they contradict", got, err)
		}
		if err != nil && strings.Contains(err.Error(), `button "Buy" keeps moving`) {
			return
		}
	}
	t.Error("it was never said that the button keeps moving")
}

func TestClickWaitsUntilItCan(t *testing.T) {
	tab := show(t, "")
	for _, tt := range []struct{ name, html string }{
		{"enabled later", `<button disabled onclick="window.ok=1">Buy</button><script>setTimeout(() => document.querySelector('button').disabled = false, 100)</script>`},
		{"uncovered later", `<button onclick="window.ok=1">Buy</button><div id=d style="position:fixed;inset:0"></div><script>setTimeout(() => d.remove(), 100)</script>`},
		{"comes to rest", `<style>@keyframes m{from{transform:translateX(500px)}} button{animation:m .2s linear}</style><button onclick="window.ok=1">Buy</button>`},
		{"below the fold", `<div style=height:3000px></div><button onclick="window.ok=1">Buy</button>`},
		{"in a scroller", `<div style="height:100px;overflow:auto"><div style=height:900px></div><button onclick="window.ok=1">Buy</button></div>`},
		{
			"under a sticky header",
			`<div style="position:sticky;top:0;height:200px;background:red;z-index:1"></div><div style=height:900px></div><button onclick="window.ok=1">Buy</button><div style=height:3000px></div><script>scrollTo(0, 1050)</script>`,
		},
		{"inside a label", `<label><button type=button onclick="window.ok=1">Buy</button></label>`},
		{"text that lets input through", `<button onclick="window.ok=1"><span style=pointer-events:none>Buy</span></button>`},
		{
			"box to check without a size",
			`<div onclick="window.ok=1" style=width:40px><input type=checkbox aria-label=Buy style="position:absolute;width:0;height:0;margin:0"><i style="display:block;height:20px"></i></div>`,
		},
		{
			"combobox outside of the page",
			`<div onclick="window.ok=1" style="position:relative;width:90px">Apple<input role=combobox aria-label=Buy style="position:absolute;left:-10000px"></div>`,
		},
		{
			"combobox in a box without a height",
			`<div onclick="window.ok=1" style="width:90px;height:30px"><div style=position:relative><input role=combobox aria-label=Buy readonly
			style="position:absolute;opacity:0;left:0;width:80px;height:30px;padding:0;border:0"><i style="position:absolute;inset:0;height:30px">Apple</i></div></div>`,
		},
		{"field thinner than a pixel", `<input role=combobox aria-label=Buy readonly style="width:.1px;padding:0;border:0" onclick="window.ok=1">`},
		{"touched alone", `<div id=t>Buy</div><script>t.addEventListener('touchstart', (e) => e.preventDefault()); t.addEventListener('touchend', (e) => window.ok = +e.isTrusted)</script>`},
		{"smooth scrolling", `<style>html{scroll-behavior:smooth}</style><div style=height:3000px></div><button onclick="window.ok=1">Buy</button>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rewrite(t, tab, tt.html+"<script>window.ok = 0</script>")
			click(t, tab, refOf(t, tab, "Buy"))
			browsertest.WantJS(t, tab, "window.ok", "1")
		})
	}
}

func TestClickOnMovingTargetNeverHitsWhatIsBehind(t *testing.T) {
	tab := show(t, `<button id=b style="position:absolute;width:40px;left:0">Buy</button><script>window.miss = 0; window.hit = 0;
		addEventListener('mousedown', e => e.target === b ? hit++ : miss++);
		let x = 0; (function step() { x = (x + 97) % 900; b.style.left = x + 'px'; requestAnimationFrame(step) })()</script>`)
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, "Buy"), TimeoutMs: 1000})
	browsertest.WantJS(t, tab, "miss", "0")
	if got := js(t, tab, "hit"); (got == "0") != (err != nil) {
		t.Errorf("got %s hits and error %v: they contradict", got, err)
	}
}

func TestClickThatNavigatesReturnsWithTheNewPage(t *testing.T) {
	srv := site(t, map[string]string{
		"/":     `<a href=/next>Next</a><form action=/next><button>Send</button></form><button onclick="location='/next'">Script</button><a href=#part>Part</a>`,
		"/next": `<title>Next</title><h1>Arrived</h1>`,
	})
	tab := openTab(t, srv.URL)
	for _, name := range []string{"Next", "Send", "Script"} {
		res := click(t, tab, refOf(t, tab, name))
		if !res.Navigated || !strings.HasPrefix(res.URL, srv.URL+"/next") || res.Status != 200 {
			t.Errorf("%s: got %+v, want a navigation to /next", name, res)
		}
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Arrived")
		check.Must(t, check.Err(tab.Back(t.Context())))
	}
	if res := click(t, tab, refOf(t, tab, "Part")); !res.Navigated || res.URL != srv.URL+"/#part" {
		t.Errorf("got %+v, want a change of address within the document", res)
	}
}

func TestNextLookShowsWhatTheClickLedTo(t *testing.T) {
	ways := map[string]string{
		"Handler":   `show('Handler')`,
		"Microtask": `Promise.resolve().then(() => 0).then(() => show('Microtask'))`,
		"Timer":     `setTimeout(() => show('Timer'), 0)`,
		"Message":   `c = new MessageChannel(); c.port1.onmessage = () => show('Message'); c.port2.postMessage(0)`,
		"Frame":     `requestAnimationFrame(() => show('Frame'))`,
		"Both":      `setTimeout(() => requestAnimationFrame(() => show('Both')), 0)`,
		"Fetch":     `fetch('/data').then(r => r.text()).then(show)`,
		"Later":     `setTimeout(() => fetch('/slow').then(() => fetch('/slow')).then(() => show('Later')), 0)`,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/data", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Fetch") })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
	})
	var body strings.Builder
	body.WriteString(`<!doctype html><p id=p>Before</p><script>show = text => { p.textContent = text }</script>`)
	for name, way := range ways {
		fmt.Fprintf(&body, "<button onclick=\"%s\">%s</button>", way, name)
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body.String())
	})
	tab := openTab(t, browsertest.Serve(t, mux.ServeHTTP).URL)
	for name := range ways {
		for range 3 {
			js(t, tab, "show('Before')")
			click(t, tab, refOf(t, tab, fmt.Sprintf("%q", name)))
			check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "paragraph: "+name)
		}
		if text, err := tab.Text(t.Context(), ""); err != nil || !strings.Contains(text, name) {
			t.Errorf("got text %q, %v; want %s", text, err, name)
		}
	}
}

func TestClickThatOpensATabReportsIt(t *testing.T) {
	srv := site(t, map[string]string{
		"/": `<a href=/next target=_blank>Blank</a><button onclick="window.open('/next')">Window</button><a href=/next target=_blank rel=opener>Opener</a>
			<button onclick="setTimeout(() => window.open('/next'), 400)">Late</button>`,
		"/next": `<title>Next</title>`,
	})
	b := browser.Connect(t, page.Options{})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	for _, name := range []string{"Blank", "Window", "Opener", "Late"} {
		before := len(b.Tabs())
		res := click(t, tab, refOf(t, tab, name))
		if name == "Late" && len(res.Opened) == 0 {
			browsertest.Eventually(t, "the tab opens", func() bool { return len(b.Tabs()) > before })
			res = act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "Shift"})
		}
		if len(res.Opened) != 1 {
			t.Errorf("%s: got %d opened tabs, want 1", name, len(res.Opened))
			continue
		}
		popup := res.Opened[0]
		if popup.Opener() != tab {
			t.Errorf("%s: the new tab does not know its opener", name)
		}
		check.Must(t, popup.Close(t.Context()))
		if b.Tab(popup.ID()) != nil {
			t.Errorf("%s: the closed tab is still listed", name)
		}
	}
}

func TestClosedTabsAreNotKept(t *testing.T) {
	srv := site(t, map[string]string{"/": `<button onclick="window.open('/')">Next</button>`})
	b := browser.Connect(t, page.Options{})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	kept := 0
	for range 100 {
		kept = page.AddOpened(tab, tab)
	}
	if kept != 16 {
		t.Errorf("a page that opens tabs for weeks keeps %d of them, want the last 16", kept)
	}
	// What was opened so far is named first.
	act(t, tab, page.Action{Kind: actiontable.KindPress, Key: "Shift"})
	for range 3 { // tabs that each open the next
		res := click(t, tab, refOf(t, tab, "Next"))
		if len(res.Opened) != 1 {
			t.Fatalf("got %d opened tabs, want 1", len(res.Opened))
		}
		check.Must(t, tab.Close(t.Context()))
		tab = res.Opened[0]
	}
	if tab.Opener() == nil || tab.Opener().Opener() != nil {
		t.Error("want the closed opener, and none of those before it")
	}
}

// greeter makes every document of a session record that it was set up first.
type greeter struct{}

func (greeter) Attach(*page.Tab, *frame.Frame) []proto.Request {
	return []proto.Request{proto.PageAddScriptToEvaluateOnNewDocument{Source: "window.greeted = true"}}
}

func (greeter) Event(*page.Tab, *frame.Frame, cdp.Event) {}

func TestTabOfALinkIsSetUpBeforeItsPageRuns(t *testing.T) {
	srv := site(t, map[string]string{
		"/":     `<a href=/next target=_blank>Blank</a><a href=/next target=_blank rel=opener>Opener</a>`,
		"/next": `<script>var atFirst = window.greeted === true</script>`,
	})
	var log check.Log
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b := browser.Connect(t, page.Options{Observers: []page.Observer{greeter{}}, Logger: logger})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	for _, name := range []string{"Blank", "Opener"} {
		// A machine that is busy enough keeps a new tab from answering in time, but not each time.
		for tries := 3; ; tries-- {
			before := strings.Count(log.String(), "set up only in part")
			res := click(t, tab, refOf(t, tab, name))
			if len(res.Opened) != 1 {
				t.Fatalf("%s: got %d opened tabs, want 1", name, len(res.Opened))
			}
			popup := res.Opened[0]
			act(t, popup, page.Action{Kind: actiontable.KindWait, Fn: "'atFirst' in window"})
			if got := js(t, popup, "atFirst"); got != "true" {
				t.Errorf("%s: set up before the page runs: got %s, want true", name, got)
			}
			check.Must(t, popup.Close(t.Context()))
			if strings.Count(log.String(), "set up only in part") == before {
				break
			}
			if tries == 1 {
				t.Fatalf("%s: the new tab was not set up in time", name)
			}
		}
	}
}

func TestPopupIsAnnounced(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	events, stop := b.Events()
	defer stop()
	tab := browsertest.Tab(t, b, page.TabOptions{URL: site(t, map[string]string{"/": `<title>P</title>`}).URL})
	js(t, tab, "void open('about:blank')")
	deadline := time.After(30 * time.Second)
	for {
		select {
		case ev := <-events:
			if ev.Kind == page.TabOpened && ev.Tab.Opener() == tab {
				check.Must(t, ev.Tab.Close(t.Context()))
				return
			}
		case <-deadline:
			t.Fatal("no event for the popup")
		}
	}
}

func TestBackgroundTabTakesInput(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	html := `<button onclick="window.ok=(window.ok||0)+1">Go</button><input aria-label=In>`
	srv := site(t, map[string]string{"/": html})
	first, second := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL}),
		browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	check.Must(t, second.Activate(t.Context()))
	for _, tab := range []*page.Tab{first, second} {
		click(t, tab, refOf(t, tab, "Go"))
		act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, "In"), Text: "ab", Slowly: true})
		if got := js(t, tab, "[ok, document.querySelector('input').value, document.hasFocus()]"); got != `[1,"ab",true]` {
			t.Errorf("%s: got %s", tab.ID(), got)
		}
	}
}

func TestHoverDragAndCoordinates(t *testing.T) {
	tab := show(t, `<style>#h:hover{color:rgb(1,2,3)} div{width:80px;height:80px;position:absolute}</style>
		<button id=h>Hover</button><div id=a tabindex=0 style="left:100px;top:100px">Start</div><div id=z tabindex=0 style="left:400px;top:300px">End</div>
		<div id=n draggable=true tabindex=0 style="left:100px;top:300px">Native</div><div id=far tabindex=0 style="top:3000px">Far</div>
		<script>window.log = [];
		far.ondragover = e => e.preventDefault(); far.ondrop = e => log.push('far ' + e.dataTransfer.getData('text'));
		a.onmousedown = () => log.push('down'); z.onmouseup = () => log.push('up');
		let busy = 0, side = 0; // libraries rest after a change, and drop on the side that they last saw
		z.ondragenter = e => busy = e.timeStamp + 30;
		z.ondragover = e => { e.preventDefault(); if (e.timeStamp > busy) side ||= e.clientX - 440; };
		z.ondrop = e => log.push('drop ' + e.dataTransfer.getData('text') + side);
		n.ondragstart = e => e.dataTransfer.setData('text', 'x');
		onclick = e => log.push('at ' + e.clientX + ',' + e.clientY);</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindHover, Ref: refOf(t, tab, "Hover")})
	browsertest.WantJS(t, tab, "getComputedStyle(h).color", `"rgb(1, 2, 3)"`)
	act(t, tab, page.Action{Kind: actiontable.KindDrag, StartRef: refOf(t, tab, "Start"), EndRef: refOf(t, tab, "End")})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "down", "up")
	act(t, tab, page.Action{Kind: actiontable.KindDrag, StartRef: refOf(t, tab, "Native"), EndRef: refOf(t, tab, "End")})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "drop x-2")
	act(t, tab, page.Action{Kind: actiontable.KindClickCoords, X: 700, Y: 20})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "at 700,20")
	js(t, tab, "log = []")
	act(t, tab, page.Action{Kind: actiontable.KindDragCoords, X: 140, Y: 140, EndX: 440, EndY: 340})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "down", "up")
	act(t, tab, page.Action{Kind: actiontable.KindDragCoords, X: 140, Y: 340, EndX: 440, EndY: 340})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "drop x")
	js(t, tab, "log = []")
	act(t, tab, page.Action{Kind: actiontable.KindDrag, StartSelector: "#a", EndSelector: "#z"})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "down", "up")
	// What is dragged scrolls out of view on the way.
	act(t, tab, page.Action{Kind: actiontable.KindDrag, StartSelector: "#n", EndSelector: "#far"})
	check.Contains(t, jsString(t, tab, "log.join(' ')"), "far x")
}

func TestCoordinatesAreHeldAndClickedTwice(t *testing.T) {
	tab := show(t, `<script>window.log = []; let at = 0;
		onmousedown = e => { at = e.timeStamp; log.push('down' + e.detail + (e.shiftKey ? 's' : '')) };
		onmouseup = e => log.push(e.timeStamp - at >= 100 ? 'held' : 'short'); ondblclick = () => log.push('double')</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindClickCoords, X: 50, Y: 50, DelayMs: 120})
	act(t, tab, page.Action{
		Kind: actiontable.KindClickCoords, X: 250, Y: 50, DelayMs: 120, DoubleClick: true,
		Modifiers: []string{"Shift"},
	})
	if got, want := jsString(t, tab, "log.join(' ')"), "down1 held down1s held down2s held double"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCloseIsAnAction(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	tab, err := b.NewTab(browsertest.Within(t, 20*time.Second), page.TabOptions{})
	check.Must(t, err)
	act(t, tab, page.Action{Kind: actiontable.KindClose})
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindPress, Key: "a"})),
		page.ErrTabGone)
}

func TestTypeSlowlyClicksTheFieldFirst(t *testing.T) {
	tab := show(t, `<input id=i aria-label=In><script>window.log = [];
		for (const k of ['click', 'keydown']) i.addEventListener(k, e => log.push(k))</script>`)
	start := time.Now()
	act(t, tab, page.Action{Kind: actiontable.KindType, Selector: "#i", Text: "abc", Slowly: true})
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("took %s, want pauses between the keys", took)
	}
	browsertest.WantJS(t, tab, "[i.value, ...log]", `["abc","click","keydown","keydown","keydown"]`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Selector: "#i", Text: ""})
	browsertest.WantJS(t, tab, "i.value", `""`)
}

func TestFieldThatThePageSetsBackIsAnError(t *testing.T) {
	tab := show(t, `<input id=i aria-label=In value=old oninput="i.value = 'old'"><input id=m aria-label=Mask oninput="m.value = '+' + m.value">`)
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindType, Selector: "#i", Text: "new"})
	check.Fails(t, err, nil, `textbox "In" did not keep the text`)
	act(t, tab, page.Action{Kind: actiontable.KindType, Selector: "#i", Text: "old"})
	act(t, tab, page.Action{Kind: actiontable.KindType, Selector: "#m", Text: "49"})
	browsertest.WantJS(t, tab, "m.value", `"+49"`)
}

func TestFillTakesWhatTheValuesMean(t *testing.T) {
	tab := show(t, `<input type=checkbox id=c aria-label=Check><input type=radio id=r aria-label=Radio><input id=x aria-label=Text value=old>`)
	refs := map[string]string{}
	for _, name := range []string{"Check", "Radio", "Text"} {
		refs[name] = refOf(t, tab, name)
	}
	for _, on := range []any{true, 1, 1.0, "1", "true"} {
		js(t, tab, "c.checked = r.checked = false")
		act(t, tab, page.Action{Kind: actiontable.KindFill, Fields: []actiontable.Field{
			{Ref: refs["Check"], Type: "checkbox", Value: on},
			{Value: "dropped"},
			{Ref: refs["Radio"], Type: "radio", Value: on},
			{Ref: refs["Text"], Type: " "},
		}})
		if got := js(t, tab, "[c.checked, r.checked, x.value]"); got != `[true,true,""]` {
			t.Errorf("%v: got %s", on, got)
		}
	}
	for _, off := range []any{nil, false, 0, 2.0, "yes"} {
		js(t, tab, "c.checked = true")
		act(t, tab, page.Action{Kind: actiontable.KindFill, Fields: []actiontable.Field{
			{Ref: refs["Check"], Type: "checkbox", Value: off}, {Ref: refs["Text"], Type: "email", Value: 2.5},
		}})
		if got := js(t, tab, "[c.checked, x.value]"); got != `[false,"2.5"]` {
			t.Errorf("%v: got %s", off, got)
		}
	}
}

func TestScrollMovesThePageOrAnElement(t *testing.T) {
	tab := show(t, `<div id=box tabindex=0 aria-label=Box style="height:200px;overflow:auto"><p style=height:3000px>x</p></div><p style=height:5000px>y</p><button>End</button>`)
	act(t, tab, page.Action{Kind: actiontable.KindScroll, Ref: refOf(t, tab, "Box"), Pixels: 300})
	browsertest.WantJS(t, tab, "[box.scrollTop, scrollY]", "[300,0]")
	js(t, tab, "box.remove()")
	act(t, tab, page.Action{Kind: actiontable.KindScroll, Direction: "down", Pixels: 500})
	act(t, tab, page.Action{Kind: actiontable.KindScroll, Direction: "up", Pixels: 100})
	browsertest.WantJS(t, tab, "scrollY", "400")
	act(t, tab, page.Action{Kind: actiontable.KindScrollIntoView, Ref: refOf(t, tab, "End")})
	browsertest.WantJS(t, tab, "document.querySelector('button').getBoundingClientRect().bottom <= innerHeight", "true")
}

func TestResizeChangesTheViewport(t *testing.T) {
	tab := show(t, "")
	act(t, tab, page.Action{Kind: actiontable.KindResize, Width: 500, Height: 400})
	browsertest.WantJS(t, tab, "[innerWidth, innerHeight]", "[500,400]")
}

func TestActObeysItsContext(t *testing.T) {
	tab := show(t, `<button disabled>Go</button>`)
	ref := refOf(t, tab, "Go")
	stop := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
	start := time.Now()
	_, err := tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref})
	if took := time.Since(start); !errors.Is(err, stop) || took > atOnce {
		t.Errorf("got %v after %s, want the cause at once", err, took)
	}
	snapshot(t, tab, page.SnapshotOptions{})
}
