package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

// shared is the browser of all tests. Its microphone plays a tone.
var shared browsertest.Shared

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "clank-*")
	if err != nil {
		panic(err)
	}
	sound := filepath.Join(dir, "tone.wav")
	if err := os.WriteFile(sound, toneFile(), 0o600); err != nil {
		panic(err)
	}
	shared.Args = []string{
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", "--use-file-for-fake-audio-capture=" + sound, "--mute-audio",
	}
	code := shared.Run(m)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// chromium is a browser context of one test: what one test leaves there no other sees.
type chromium struct {
	t       *testing.T
	conn    *cdp.Conn
	ctx     context.Context
	context proto.BrowserBrowserContextID

	mu     sync.Mutex
	wrongs []string // what the pages complained about: errors, refused loads
}

// launch gives a test the browser of all tests.
func launch(t *testing.T) *chromium {
	t.Helper()
	if testing.Short() {
		t.Skip("pages in a real browser take long")
	}
	c := &chromium{t: t, ctx: browsertest.Within(t, 2*time.Minute)}
	var err error
	c.conn, err = cdp.Dial(c.ctx, shared.Process(t).WebSocketURL, cdp.Options{CallTimeout: 20 * time.Second})
	must(t, err)
	c.conn.Start(func(ev cdp.Event) {
		if ev.Method == "Runtime.exceptionThrown" || ev.Method == "Log.entryAdded" {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.wrongs = append(c.wrongs, string(ev.Params))
		}
	})
	browser := c.conn.Session("", cdp.ErrGone)
	c.context = ask[proto.TargetCreateBrowserContextResult](c, browser, proto.TargetCreateBrowserContext{}).BrowserContextID
	t.Cleanup(func() {
		_ = browser.Do(context.WithoutCancel(c.ctx), proto.TargetDisposeBrowserContext{BrowserContextID: c.context})
		c.conn.Close()
	})
	return c
}

func ask[R any](c *chromium, s *cdp.Session, req proto.Request) R {
	c.t.Helper()
	res, err := cdp.Ask[R](c.ctx, s, req)
	must(c.t, err)
	return res
}

// tab is a page in the browser.
type tab struct {
	*chromium

	session *cdp.Session
}

// open opens a page with a viewport of width by height, in the given scheme,
// light or dark.
func (c *chromium) open(url string, width, height int, scheme string) *tab {
	c.t.Helper()
	browser := c.conn.Session("", cdp.ErrGone)
	create := proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: c.context}
	target := ask[proto.TargetCreateTargetResult](c, browser, create).TargetID
	attach := proto.TargetAttachToTarget{TargetID: target, Flatten: true}
	tb := &tab{c, c.conn.Session(string(ask[proto.TargetAttachToTargetResult](c, browser, attach).SessionID), cdp.ErrGone)}
	tb.do(proto.PageEnable{})
	tb.do(proto.RuntimeEnable{})
	tb.do(proto.LogEnable{})
	tb.do(proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	tb.do(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	tb.goTo(url)
	return tb
}

func (tb *tab) do(req proto.Request) {
	tb.t.Helper()
	must(tb.t, tb.session.Do(tb.ctx, req))
}

func (tb *tab) goTo(url string) {
	tb.t.Helper()
	tb.do(proto.PageNavigate{URL: url})
	eventually(tb.t, "the page is loaded", func() bool {
		return tb.eval(`location.href !== "about:blank" && document.readyState === "complete"`) == true
	})
}

// reload loads the page again.
func (tb *tab) reload() {
	tb.t.Helper()
	tb.eval("window.before = true")
	tb.do(proto.PageReload{})
	tb.waitFor(`!window.before && document.readyState === "complete"`)
}

// eval returns the value of a JavaScript expression; nil where a page is just
// being replaced.
func (tb *tab) eval(expression string) any {
	tb.t.Helper()
	req := proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true, AwaitPromise: true}
	res, err := cdp.Ask[proto.RuntimeEvaluateResult](tb.ctx, tb.session, req)
	if err != nil {
		return nil
	}
	if res.ExceptionDetails != nil {
		tb.t.Fatalf("%s: %+v", expression, res.ExceptionDetails.Exception)
	}
	return res.Result.Value.Val()
}

// waitFor waits until a JavaScript expression is true.
func (tb *tab) waitFor(expression string) {
	tb.t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for tb.eval(`Boolean(`+expression+`)`) != true {
		select {
		case <-tick.C:
		case <-deadline:
			tb.t.Fatalf("never true: %s\nthe page says:\n%v", expression, tb.eval("document.body.innerText"))
		}
	}
}

func (tb *tab) typeText(text string) {
	tb.t.Helper()
	tb.do(proto.InputInsertText{Text: text})
}

func (tb *tab) press(key string) {
	tb.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37}
	ev := proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: codes[key]}
	if key == "Enter" {
		ev.Text = "\r"
	}
	tb.do(ev)
	ev.Type, ev.Text = proto.InputDispatchKeyEventTypeKeyUp, ""
	tb.do(ev)
}

// click clicks what selector names, through the element itself.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	sel, _ := json.Marshal(selector)
	tb.waitFor(fmt.Sprintf("document.querySelector(%s)", sel))
	tb.eval(fmt.Sprintf("document.querySelector(%s).click()", sel))
}

// clean checks that no page complained.
func (c *chromium) clean() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.wrongs {
		c.t.Errorf("a page complained: %s", w)
	}
	c.wrongs = nil
}
