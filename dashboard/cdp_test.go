package dashboard_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// chromium is a browser as a test has it, spoken to over the Chrome DevTools
// Protocol: what one test leaves there no other sees.
type chromium struct {
	t       *testing.T
	conn    *websocket.Conn
	ctx     context.Context
	context string // the browser context of its pages

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	wrongs  []string // what the pages complained about: errors, refused loads
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// launch gives a test the browser of all tests, or one of its own if that needs flags.
func launch(t *testing.T, flags ...string) *chromium {
	t.Helper()
	if testing.Short() {
		t.Skip("pages in a real browser take long")
	}
	start := shared
	if len(flags) > 0 {
		start = func() (*process, error) { return startChromium(flags...) }
	}
	p, err := start()
	if err != nil {
		t.Fatal(err)
	}
	if len(flags) > 0 {
		t.Cleanup(func() {
			if err := p.end(); err != nil {
				t.Error(err)
			}
		})
	}
	ctx, done := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(done)
	c := &chromium{t: t, ctx: ctx, waiting: map[int]chan reply{}}
	if c.conn, _, err = websocket.Dial(ctx, p.address, nil); err != nil {
		t.Fatal(err)
	}
	c.conn.SetReadLimit(64 << 20)
	go c.read()
	var made struct{ BrowserContextID string }
	c.must("", "Target.createBrowserContext", nil, &made)
	c.context = made.BrowserContextID
	t.Cleanup(func() {
		_, _ = c.send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": c.context})
		_ = c.conn.CloseNow()
	})
	return c
}

func (c *chromium) read() {
	for {
		_, data, err := c.conn.Read(c.ctx)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			reply
		}
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		c.mu.Lock()
		if ch := c.waiting[m.ID]; m.ID != 0 && ch != nil {
			ch <- m.reply
			delete(c.waiting, m.ID)
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded":
			c.wrongs = append(c.wrongs, string(m.Params))
		}
		c.mu.Unlock()
	}
}

func (c *chromium) send(session, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	c.next++
	id, ch := c.next, make(chan reply, 1)
	c.waiting[id] = ch
	c.mu.Unlock()
	data, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": session})
	if session == "" {
		data, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err != nil {
		return nil, err
	}
	if err := c.conn.Write(c.ctx, websocket.MessageText, data); err != nil {
		return nil, err
	}
	select {
	case r := <-ch:
		if r.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		return r.Result, nil
	case <-time.After(20 * time.Second):
		return nil, fmt.Errorf("%s: no answer", method)
	}
}

// tab is a page in the browser.
type tab struct {
	*chromium

	session string
}

// open opens a page with a viewport of width by height, in the given scheme,
// light or dark.
func (c *chromium) open(url string, width, height int, scheme string) *tab {
	c.t.Helper()
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	c.must("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": c.context}, &target)
	c.must("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	tb := &tab{c, session.SessionID}
	tb.cdp("Page.enable", nil)
	tb.cdp("Runtime.enable", nil)
	tb.cdp("Log.enable", nil)
	tb.size(width, height)
	tb.cdp("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"},
	}})
	tb.goTo(url)
	return tb
}

func (c *chromium) must(session, method string, params, out any) {
	c.t.Helper()
	res, err := c.send(session, method, params)
	if err != nil {
		c.t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(res, out); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (tb *tab) cdp(method string, params any) {
	tb.t.Helper()
	tb.must(tb.session, method, params, nil)
}

func (tb *tab) size(width, height int) {
	tb.t.Helper()
	tb.cdp("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
}

func (tb *tab) goTo(url string) {
	tb.t.Helper()
	tb.cdp("Page.navigate", map[string]any{"url": url})
	eventually(tb.t, "the page is loaded", func() bool {
		return tb.eval(`location.href !== "about:blank" && document.readyState === "complete"`) == true
	})
}

// reload loads the page again.
func (tb *tab) reload() {
	tb.t.Helper()
	tb.eval("window.before = true")
	tb.cdp("Page.reload", nil)
	tb.waitFor(`!window.before && document.readyState === "complete"`)
}

// eval returns the value of a JavaScript expression; nil where a page is just
// being replaced.
func (tb *tab) eval(expression string) any {
	tb.t.Helper()
	res, err := tb.send(tb.session, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		return nil
	}
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	if err := json.Unmarshal(res, &out); err != nil {
		tb.t.Fatal(err)
	}
	if out.ExceptionDetails != nil {
		tb.t.Fatalf("%s: %s", expression, out.ExceptionDetails)
	}
	return out.Result.Value
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
	tb.cdp("Input.insertText", map[string]any{"text": text})
}

func (tb *tab) press(key string) {
	tb.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37}
	down := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
	if key == "Enter" {
		down["text"] = "\r"
	}
	tb.cdp("Input.dispatchKeyEvent", down)
	tb.cdp("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": codes[key]})
}

// click clicks what selector names, through the element itself.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	sel, _ := json.Marshal(selector)
	tb.waitFor(fmt.Sprintf("document.querySelector(%s)", sel))
	tb.eval(fmt.Sprintf("document.querySelector(%s).click()", sel))
}

// shot keeps a picture of the page where CLANK_SHOTS names a folder.
func (tb *tab) shot(name string) {
	tb.t.Helper()
	dir := os.Getenv("CLANK_SHOTS")
	if dir == "" {
		return
	}
	var out struct{ Data string }
	tb.must(tb.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &out)
	data, err := base64.StdEncoding.DecodeString(out.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600)
	}
	if err != nil {
		tb.t.Fatal(err)
	}
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
