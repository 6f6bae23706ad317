package dashboard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/screenshot"
	"clank/dashboard"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/coder/websocket"
)

// livePage is the server's end of the pane: it shows a tab, or its own pictures, and records the pane's messages.
type livePage struct {
	t     *testing.T
	rig   *rig
	casts *screenshot.Screencasts
	tab   *page.Tab // nil: only what the test sends

	mu    sync.Mutex
	conn  *websocket.Conn
	state map[string]any
	sizes atomic.Int64 // how often the pane has said how large pictures are to be
	acked atomic.Int64 // the last frame that the pane has shown
	acks  atomic.Int64
	conns atomic.Int64
	heard chan map[string]any // all else
}

const livePageText = `<title>Lamps</title><body style="margin:0;background:#00ff00;height:3000px"><h1>Lamps</h1>`

// watchPage opens the page of a session with a pane, which shows a tab if withTab is set.
func watchPage(t *testing.T, withTab bool, width, height int, scheme string) (*livePage, *chromium, *tab) {
	t.Helper()
	c := launch(t)
	l := &livePage{t: t, heard: make(chan map[string]any, 1000), state: map[string]any{}}
	l.tell(`{"type":"state", "session":"s", "title":"Lamps", "url":"http://shop.test/lamps", "viewers":["you"],
		"tabs":[{"id":"1", "title":"Lamps", "current":true}, {"id":"2", "title":"Chairs"}],
		"may":{"control":true, "stop":true, "note":true}}`)
	if withTab {
		l.casts = screenshot.NewScreencasts(nil)
		t.Cleanup(func() { _ = l.casts.Close() })
		site := browsertest.Routes(t, map[string]any{"/": livePageText})
		l.tab = shared.Page(t, page.Options{Observers: []page.Observer{l.casts}}, site)
	}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Live = l })
	l.rig = r
	session := r.finish(`{"prompt":"brief: find the lamps"}`).SessionID
	tb := r.arrive(c, width, height, scheme)
	tb.Eval(`localStorage.setItem("clank-live", "true")`)
	tb.goTo(r.server.URL() + "/s/" + session)
	tb.waitFor(`document.querySelector(".pane-stage canvas")`)
	return l, c, tb
}

// ServeLive implements [dashboard.LivePane].
func (l *livePage) ServeLive(w http.ResponseWriter, r *http.Request, _ sessions.Viewer) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"clank.live"}})
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	l.mu.Lock()
	l.conn = conn
	l.mu.Unlock()
	l.conns.Add(1)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { // signs of life
		for tick := time.Tick(5 * time.Second); ctx.Err() == nil; {
			l.tell(`{}`)
			select {
			case <-ctx.Done():
			case <-tick:
			}
		}
	}()
	if l.tab != nil {
		view, err := l.casts.Watch(ctx, l.tab, screenshot.WatchOptions{FPS: 30})
		if err != nil {
			l.t.Error(err)
			return
		}
		defer view.Close()
		go l.stream(ctx, view)
	}
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var said map[string]any
		if err := json.Unmarshal(data, &said); err != nil {
			l.t.Error(err)
		}
		switch said["type"] {
		case "video": // what a browser decodes
		case "size":
			l.sizes.Add(1)
		case "ack":
			l.acks.Add(1)
			l.acked.Store(int64(said["n"].(float64)))
		default:
			l.heard <- said
		}
	}
}

func (l *livePage) stream(ctx context.Context, view *screenshot.Viewer) {
	for {
		f, err := view.Next(ctx)
		if err != nil {
			return
		}
		l.show(f.Number, f.Width, f.Height, f.ViewWidth, f.ViewHeight, f.Data)
	}
}

// show sends a picture of a viewport.
func (l *livePage) show(n, w, h int, viewW, viewH float64, picture []byte) {
	l.sendFrame(1, n, w, h, viewW, viewH, picture)
}

func (l *livePage) sendFrame(kind byte, n, w, h int, viewW, viewH float64, picture []byte) {
	head := fmt.Sprintf(`{"n":%d,"w":%d,"h":%d,"vw":%v,"vh":%v}`, n, w, h, viewW, viewH)
	msg := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(head)))
	l.send(websocket.MessageBinary, slices.Concat(msg, []byte(head), picture))
}

// tell changes the state and sends all of it.
func (l *livePage) tell(change string) {
	l.mu.Lock()
	check.Must(l.t, json.Unmarshal([]byte(change), &l.state))
	text, _ := json.Marshal(l.state)
	l.mu.Unlock()
	l.send(websocket.MessageText, text)
}

func (l *livePage) send(kind websocket.MessageType, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		_ = l.conn.Write(l.t.Context(), kind, data)
	}
}

// give grants control of the page as the answer to the pane's request.
func (l *livePage) give(tb *tab) {
	l.t.Helper()
	tb.click(".pane-acts .primary:not([hidden])")
	l.hears("take")
	l.tell(`{"control":{"holder":"you", "mine":true}}`)
	tb.waitFor(`document.activeElement.className === "pane-keys"`)
}

// hears checks the next messages of the pane.
func (l *livePage) hears(want ...string) {
	l.t.Helper()
	var got []string
	late := time.After(10 * time.Second)
	for range want {
		select {
		case said := <-l.heard:
			got = append(got, shortly(said))
		case <-late:
			l.t.Fatalf("the pane says no more than\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check.Diff(l.t, "the pane says", got, want)
}

// shortly formats a message of the pane on one line. Positions are rounded to a multiple of four pixels, because the
// mouse position is in whole pixels of the picture.
func shortly(said map[string]any) string {
	kind, _ := said["kind"].(string)
	x, _ := said["x"].(float64)
	y, _ := said["y"].(float64)
	at := fmt.Sprintf("%v,%v", 4*math.Round(x/4), 4*math.Round(y/4))
	held := ""
	if m, _ := said["mods"].(float64); m != 0 {
		held = fmt.Sprintf(" +%v", m)
	}
	switch kind {
	case "down", "up":
		return fmt.Sprintf("%s %v %v at %s%s", kind, said["button"], said["clicks"], at, held)
	case "move":
		return kind + " to " + at + held
	case "wheel":
		return fmt.Sprintf("wheel %v,%v at %s%s", said["dx"], said["dy"], at, held)
	case "keydown", "keyup":
		return fmt.Sprintf("%s %v %v %v%s", kind, said["key"], said["code"], said["keyCode"], held)
	case "text", "compose", "commit":
		return fmt.Sprintf("%s %v", kind, said["text"])
	case "touch":
		return fmt.Sprintf("touch %v %v", said["phase"], said["points"])
	}
	rest := maps.Clone(said)
	delete(rest, "type")
	text, _ := json.Marshal(rest)
	return strings.TrimSuffix(fmt.Sprintf("%v %s", said["type"], text), " {}")
}

// spot returns a position in the window, relative to the picture's size.
func (tb *tab) spot(x, y float64) map[string]any {
	tb.t.Helper()
	at, _ := tb.Eval(fmt.Sprintf(`(async () => {
		for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); // it is laid out
		const b = document.querySelector(".pane-stage canvas").getBoundingClientRect();
		return [b.left + b.width * %v, b.top + b.height * %v]; })()`, x, y)).([]any)
	return map[string]any{"x": at[0], "y": at[1]}
}

func (tb *tab) mouse(kind string, at, more map[string]any) {
	tb.t.Helper()
	params := map[string]any{"type": kind, "button": "left", "clickCount": 1}
	maps.Copy(params, at)
	maps.Copy(params, more)
	tb.Call("Input.dispatchMouseEvent", params)
}

// key presses and releases a key.
func (tb *tab) key(key, code string, keyCode, mods int) {
	tb.t.Helper()
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		tb.Call("Input.dispatchKeyEvent", map[string]any{
			"type": kind, "key": key, "code": code, "windowsVirtualKeyCode": keyCode, "modifiers": mods,
		})
	}
}

func (tb *tab) touch(phase string, points ...map[string]any) {
	tb.t.Helper()
	points = append([]map[string]any{}, points...)
	tb.Call("Input.dispatchTouchEvent", map[string]any{"type": phase, "touchPoints": points})
}

// both returns the pane's messages for a key that is pressed and released.
func both(key string) []string { return []string{"keydown " + key, "keyup " + key} }

// paneShows is the colour in the middle of the picture, each part in steps of 64.
const paneShows = `(() => { const c = document.querySelector(".pane-stage canvas"); if (c.hidden) return "";
	const probe = window.probe ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	probe.drawImage(c, c.width / 2, c.height / 2, 1, 1, 0, 0, 1, 1);
	return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map((n) => Math.round(n / 64)).join(); })()`

const paneStatus = `document.querySelector(".pane-status").textContent`

func TestThePaneShowsThePageAndSendsInput(t *testing.T) {
	l, c, tb := watchPage(t, true, 1400, 860, "light")
	tb.waitFor(paneShows + ` === "0,4,0"`)
	_, err := l.tab.Act(browsertest.Within(t, browsertest.Patience),
		page.Action{Kind: actiontable.KindEvaluate, Fn: `() => { document.body.style.background = "#ff00ff" }`})
	check.Must(t, err)
	tb.waitFor(paneShows + ` === "4,0,4"`)
	eventually(t, "the pane says that it has shown pictures, and how large they are", func() bool {
		return l.acked.Load() > 0 && l.sizes.Load() > 0
	})
	tb.mouse("mousePressed", tb.spot(.5, .5), nil) // nobody has taken the page
	tb.mouse("mouseReleased", tb.spot(.5, .5), nil)
	l.give(tb)

	width, _ := tb.Eval(`innerWidth`).(float64)
	size := browsertest.JS(t, l.tab, `() => [innerWidth, innerHeight]`)
	var view [2]float64
	check.Must(t, json.Unmarshal([]byte(size), &view))
	at := func(x, y float64) string { return fmt.Sprintf("%v,%v", x*view[0], y*view[1]) }
	for _, tc := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a click", func() {
			tb.mouse("mouseMoved", tb.spot(.5, .25), map[string]any{"button": "none"})
			tb.mouse("mousePressed", tb.spot(.5, .25), nil)
			tb.mouse("mouseReleased", tb.spot(.5, .25), nil)
		}, []string{"move to " + at(.5, .25), "down left 1 at " + at(.5, .25), "up left 1 at " + at(.5, .25)}},
		{"a second click with Shift", func() {
			more := map[string]any{"clickCount": 2, "modifiers": 8}
			tb.mouse("mousePressed", tb.spot(.5, .25), more)
			tb.mouse("mouseReleased", tb.spot(.5, .25), more)
		}, []string{"down left 2 at " + at(.5, .25) + " +8", "up left 2 at " + at(.5, .25) + " +8"}},
		{"the right button", func() {
			tb.mouse("mousePressed", tb.spot(.25, .5), map[string]any{"button": "right"})
			tb.mouse("mouseReleased", tb.spot(.25, .5), map[string]any{"button": "right"})
		}, []string{"down right 1 at " + at(.25, .5), "up right 1 at " + at(.25, .5)}},
		{"a drag that ends outside", func() {
			outside := map[string]any{"x": width - 2, "y": tb.spot(0, .5)["y"], "buttons": 1}
			tb.mouse("mousePressed", tb.spot(.25, .5), nil)
			tb.mouse("mouseMoved", outside, nil)
			tb.mouse("mouseReleased", outside, nil)
		}, []string{"down left 1 at " + at(.25, .5), "move to " + at(1, .5), "up left 1 at " + at(1, .5)}},
		{"a wheel", func() {
			tb.mouse("mouseWheel", tb.spot(.5, .5), map[string]any{"button": "none", "deltaX": 0, "deltaY": 120})
		}, []string{"wheel 0,120 at " + at(.5, .5)}},
		{"another layout", func() { tb.key("z", "KeyY", 90, 0) }, both("z KeyY 90")},
		{"AltGr as Windows tells it", func() { tb.key("@", "KeyQ", 81, 3) }, both("@ KeyQ 81 +3")},
		{"Tab stays in the page", func() { tb.key("Tab", "Tab", 9, 8) }, both("Tab Tab 9 +8")},
		{"a dead key", func() {
			tb.key("Dead", "BracketRight", 221, 0)
			tb.Call("Input.imeSetComposition", map[string]any{"text": "´", "selectionStart": 1, "selectionEnd": 1})
			tb.Insert("é")
		}, []string{"compose ´", "compose é", "commit é"}},
		{"an input method", func() {
			tb.Call("Input.imeSetComposition", map[string]any{"text": "か", "selectionStart": 1, "selectionEnd": 1})
			tb.key("Process", "KeyN", 229, 0)
			tb.Call("Input.imeSetComposition", map[string]any{"text": "かん", "selectionStart": 2, "selectionEnd": 2})
			tb.Insert("漢")
		}, []string{"compose か", "compose かん", "compose 漢", "commit 漢"}},
		{"text without keys", func() { tb.Insert("wörter") }, []string{"text wörter"}},
		{"a deletion without keys", func() {
			tb.Call("Input.dispatchKeyEvent", map[string]any{
				"type": "rawKeyDown", "key": "Unidentified", "windowsVirtualKeyCode": 229,
				"commands": []string{"deleteBackward"},
			})
		}, both("Backspace Backspace 8")},
		{"a paste", func() {
			tb.key("v", "KeyV", 86, 2)
			tb.Eval(`(() => { const clipboardData = new DataTransfer(); clipboardData.setData("text/plain", "one\ntwo");
				document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData })); })()`)
		}, []string{"text one\ntwo"}},
		{"a copy", func() { tb.key("c", "KeyC", 67, 2) }, []string{`do {"what":"copy"}`}},
		{
			"keys of the browser", func() { tb.key("F5", "F5", 116, 0); tb.key("ArrowLeft", "ArrowLeft", 37, 1) },
			[]string{`do {"what":"reload"}`, `do {"what":"back"}`},
		},
	} {
		tc.do()
		if t.Run(tc.name, func(t *testing.T) { l.t = t; l.hears(tc.want...) }); t.Failed() {
			break
		}
	}
	l.t = t
	check.Equal(t, "afterwards the focus is on", tb.Eval(`document.activeElement.className`), "pane-keys")

	tb.Eval(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	tb.key("x", "KeyX", 88, 4)
	l.send(websocket.MessageText, []byte(`{"type":"clipboard","text":"one lamp"}`))
	l.hears(append([]string{`do {"what":"copy"}`}, both("Delete Delete 46")...)...)
	tb.waitFor(`window.copied === "one lamp" && ` + paneStatus + ` === "Copied."`)

	tb.EscapeTwice()
	l.hears(both("Escape Escape 27")...)
	tb.waitFor(`document.activeElement.textContent === "Give back"`)
	tb.click(".pane-acts .ghost:not([hidden])")
	l.hears("offer")
	tb.press("Enter")
	l.hears("give")
	c.clean()
}

func TestThePaneAnswersForThePage(t *testing.T) {
	l, c, tb := watchPage(t, true, 1400, 860, "dark")
	tb.waitFor(paneShows + ` === "0,4,0"`)
	const dialog = `document.querySelector(".pane-card")?.innerText`
	const confirm = `{"dialog":{"kind":"confirm", "text":"Delete <b>all</b>?"}}`
	const none = `{"dialog":null, "chooser":false}`
	l.tell(confirm)
	tb.waitFor(dialog + ` === "The page says: Delete <b>all</b>?"`) // whoever watches cannot answer
	l.tell(none)
	l.give(tb)
	for _, tc := range []struct {
		state string
		do    func()
		want  string
	}{
		{confirm, func() { tb.click(".pane-card .ghost") }, `do {"accept":false,"text":"","what":"dialog"}`},
		{`{"dialog":{"kind":"prompt", "text":"Name?"}}`, func() {
			tb.waitFor(`document.activeElement.matches(".pane-card input")`)
			tb.Insert("Ada")
			tb.press("Enter")
		}, `do {"accept":true,"text":"Ada","what":"dialog"}`},
		{`{"dialog":{"kind":"beforeunload"}}`, func() {
			tb.waitFor(`document.activeElement.textContent === "Leave the page"`)
			tb.press("Enter")
		}, `do {"accept":true,"text":"","what":"dialog"}`},
		{`{"chooser":true}`, func() {
			tb.Eval(`(() => { const input = document.querySelector(".pane-card input"), list = new DataTransfer();
				list.items.add(new File(["a lamp"], "lamp.txt"));
				input.files = list.files;
				input.dispatchEvent(new Event("change")); })()`)
		}, `do {"files":[{"data":"YSBsYW1w","name":"lamp.txt"}],"what":"files"}`},
		{`{"chooser":true}`, func() { tb.click(".pane-card .ghost") }, `do {"files":[],"what":"files"}`},
		{none, func() { tb.click(`[data-tab="2"]`) }, `do {"tab":"2","what":"tabSelect"}`},
		{none, func() { tb.click(`[aria-label="Close the tab Chairs"]`) }, `do {"tab":"2","what":"tabClose"}`},
		{none, func() { tb.click(`[aria-label="New tab"]`) }, `do {"what":"tabNew"}`},
		{none, func() { tb.click(`[aria-label="Forward"]`) }, `do {"what":"forward"}`},
		{none, func() {
			tb.Eval(`document.querySelector("[aria-label=Address]").focus()`)
			tb.Insert("example.com/a b")
			tb.press("Enter")
		}, `do {"url":"https://example.com/a b","what":"navigate"}`},
		{`{"task":{"id":"t", "state":"running", "label":"click"}}`, func() {
			const stop = `document.querySelector(".pane-acts .ghost:last-child")`
			tb.waitFor("!" + stop + ".hidden")
			tb.Eval(stop + ".click()")
		}, "stop"},
	} {
		l.tell(tc.state)
		asks := strings.Contains(tc.state, "kind") || strings.Contains(tc.state, `"chooser":true`)
		tb.waitFor(fmt.Sprintf(`Boolean(document.querySelector(".pane-card")) === %v`, asks))
		tc.do()
		l.hears(tc.want)
		l.tell(none)
		tb.waitFor(`!document.querySelector(".pane-card")`)
	}

	l.tell(`{"control":{"holder":"you", "mine":true, "wanted":["Bo"]}, "viewers":["you", "Bo", "you"]}`)
	tb.waitFor(paneStatus + ` === "Bo would like to take over."`)
	tb.waitFor(`document.querySelector(".pane-viewers").textContent === "3 watching: you (2), Bo"`)
	l.tell(`{"control":{"holder":"Bo"}}`)
	tb.waitFor(paneStatus + ` === "Bo controls the page." && document.activeElement.textContent === "Ask for it"`)
	tb.press("Enter")
	l.hears("take")
	l.send(websocket.MessageText, []byte(`{"type":"error","text":"Bo works this page now"}`))
	tb.waitFor(paneStatus + ` === "Bo works this page now."`)
	c.clean()
}

func TestAcceptingATakeOverOpensTheSession(t *testing.T) {
	l, c, tb := watchPage(t, true, 1400, 860, "light")
	session, _ := tb.Eval(`location.pathname.slice(3)`).(string)
	tb.click("#pane-toggle")
	tb.click("#new")
	tb.waitFor(`location.pathname === "/"`)
	got := l.rig.question(approval.Question{Class: "takeover", Session: session, Text: "Take over the page"})
	tb.click(".question .primary")
	l.hears("take")
	if a := <-got; a.err != nil || !a.answer.Allowed {
		t.Errorf("the answer is %+v", a)
	}
	l.tell(`{"control":{"holder":"you", "mine":true}}`)
	tb.waitFor(`document.activeElement.className === "pane-keys" && location.pathname === "/s/` + session + `"`)
	c.clean()
}

func TestThePaneReconnectsAndEnds(t *testing.T) {
	l, c, tb := watchPage(t, false, 1400, 860, "light")
	l.tell(`{"tabs":[]}`)
	tb.waitFor(`document.querySelector(".pane-card")?.innerText.startsWith("The page of this session is not open.")`)
	tb.click(".pane-card .primary")
	l.hears("take")
	l.tell(`{"control":{"holder":"you", "waiting":true}}`)
	tb.waitFor(paneStatus + ` === "You can take over as soon as the current step is done."`)
	l.tell(`{"tabs":[{"id":"1", "title":"Lamps", "current":true}], "control":{}}`)
	tb.waitFor(`!document.querySelector(".pane-card") && ` + paneStatus + ` === "Live"`)

	picture := func(c color.Color) []byte {
		im := image.NewRGBA(image.Rect(0, 0, 640, 400))
		for i := range 640 * 400 {
			im.Set(i%640, i/640, c)
		}
		var b bytes.Buffer
		check.Must(t, jpeg.Encode(&b, im, nil))
		return b.Bytes()
	}
	green, red := picture(color.RGBA{G: 255, A: 255}), picture(color.RGBA{R: 255, A: 255})
	for n := range 99 {
		l.show(n+1, 640, 400, 1280, 800, green)
	}
	l.show(100, 640, 400, 1280, 800, red)
	eventually(t, "the last picture is shown", func() bool { return l.acked.Load() == 100 })
	tb.waitFor(paneShows + ` === "4,0,0"`)
	if got := l.acks.Load(); got > 60 {
		t.Errorf("%d of 100 pictures that came at once were shown", got)
	}

	key, err := os.ReadFile("../internal/test/rtctest/testdata/blue.vp8")
	check.Must(t, err)
	// it begins with one that builds on others, and ends with a broken one
	for i, data := range [][]byte{{1}, key, key, {0}} {
		l.sendFrame(2, 101+i, 320, 180, 1280, 800, data)
		eventually(t, "the frame is acknowledged", func() bool { return l.acked.Load() == int64(101+i) })
	}
	tb.waitFor(paneShows + ` === "0,0,4"`)
	l.hears("pictures")
	l.show(105, 640, 400, 1280, 800, red)
	tb.waitFor(paneShows + ` === "4,0,0"`)
	for n := range int64(2) {
		l.mu.Lock()
		_ = l.conn.CloseNow()
		l.mu.Unlock()
		eventually(t, "the pane comes back", func() bool { return l.conns.Load() == n+2 })
		tb.waitFor(paneStatus + ` === "Live"`)
	}
	tb.waitFor(paneShows + ` === "4,0,0"`)
	l.send(websocket.MessageText, []byte(`{"type":"ended","reason":"the session was closed"}`))
	tb.waitFor(`document.querySelector(".pane-card")?.innerText.startsWith("The session was closed.")`)
	l.mu.Lock()
	_ = l.conn.CloseNow()
	l.mu.Unlock()
	tb.click(".pane-card button")
	eventually(t, "the pane is opened again", func() bool { return l.conns.Load() == 4 })
	tb.waitFor(paneStatus + ` === "Live"`)

	l.send(websocket.MessageText, []byte(`{"type":"ended","reason":"clank is shutting down"}`))
	tb.waitFor(`document.querySelector(".pane-card")?.innerText.startsWith("Clank is shutting down.")`)
	c.clean()
	l.rig.close()
	startIn(t, l.rig.dir, strings.TrimPrefix(l.rig.server.URL(), "http://"), func(s *dashboard.Server) { s.Live = l })
	tb.waitFor(paneStatus + ` === "Live"`)
	conns := l.conns.Load()
	tb.Eval(`globalThis.later = setTimeout; globalThis.setTimeout = (f, ms) => later(f, ms / 30)`)
	l.tell(`{}`) // and nothing after it
	eventually(t, "a pane that hears nothing connects again", func() bool { return l.conns.Load() > conns })
	tb.Eval(`globalThis.setTimeout = later`)
	l.tell(`{}`)
	tb.waitFor(paneStatus + ` === "Live"`)
	tb.click("#pane-toggle")
	tb.waitFor(`document.querySelector("#pane-box[hidden]") && document.querySelector("#pane-toggle[aria-expanded=false]")`)
}

func TestFingersOnThePane(t *testing.T) {
	l, c, tb := watchPage(t, true, 360, 740, "dark")
	tb.waitFor(paneShows + ` === "0,4,0"`)
	wide := func() float64 {
		w, _ := tb.Eval(`document.querySelector(".pane-stage canvas").getBoundingClientRect().width`).(float64)
		return w
	}
	before, left, right := wide(), tb.spot(.4, .5), tb.spot(.6, .5)
	tb.touch("touchStart", left, right)
	tb.touch("touchMove", tb.spot(.3, .5), tb.spot(.7, .5))
	tb.touch("touchEnd")
	if got := wide() / before; got < 1.9 || got > 2.1 {
		t.Errorf("two fingers twice as far apart make the picture %v times as wide", got)
	}
	l.give(tb)
	size := browsertest.JS(t, l.tab, `() => [innerWidth, innerHeight]`)
	var view [2]float64
	check.Must(t, json.Unmarshal([]byte(size), &view))
	at := func(x, y float64) string { return fmt.Sprintf("[[0 %v %v]]", x*view[0], y*view[1]) }
	tb.touch("touchStart", tb.spot(.5, .5))
	tb.touch("touchMove", tb.spot(.5, .375))
	tb.touch("touchEnd")
	l.hears("touch start "+at(.5, .5), "touch move "+at(.5, .375), "touch end []")
	tb.touch("touchStart", tb.spot(.5, .5))
	tb.touch("touchStart", tb.spot(.5, .5), tb.spot(.6, .5))
	tb.touch("touchEnd")
	l.hears("touch start "+at(.5, .5), "touch cancel []")
	for _, size := range []int{320, 2560} {
		metrics := map[string]any{"width": size, "height": 740, "deviceScaleFactor": 1, "mobile": false}
		tb.Call("Emulation.setDeviceMetricsOverride", metrics)
		tb.waitFor(fmt.Sprintf(`innerWidth === %d && document.documentElement.scrollWidth <= innerWidth`, size))
		tb.waitFor(`(() => { const stage = document.querySelector(".pane-stage"), b = stage.getBoundingClientRect();
			return b.width > 200 && b.height > 150 && b.left >= 0 && b.right <= innerWidth &&
				document.getElementById("title").offsetWidth > 200; })()`)
	}
	c.clean()
}
