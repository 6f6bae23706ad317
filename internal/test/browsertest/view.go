package browsertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// Views is a browser context of one test, which shares nothing with other tests, for viewing pages as in any browser.
type Views struct {
	t       *testing.T
	conn    *cdp.Conn
	ctx     context.Context //nolint:containedctx // of the test
	browser *cdp.Session
	context proto.BrowserBrowserContextID
}

// Views opens a context in the shared browser. complain is called with errors and blocked loads of pages.
func (s *Shared) Views(t *testing.T, complain func(text string)) *Views {
	t.Helper()
	return ViewsIn(t, s.Process(t), complain)
}

// ViewsIn is like [Shared.Views] with a browser of the test's own.
func ViewsIn(t *testing.T, p *chrome.Process, complain func(text string)) *Views {
	t.Helper()
	v := &Views{t: t, ctx: Within(t, 2*time.Minute)}
	var err error
	v.conn, err = cdp.Dial(v.ctx, p.WebSocketURL, cdp.Options{CallTimeout: 20 * time.Second})
	check.Must(t, err)
	v.conn.Start(func(ev cdp.Event) {
		if ev.Method == "Runtime.exceptionThrown" || ev.Method == "Log.entryAdded" {
			complain(string(ev.Params))
		}
	})
	v.browser = v.conn.Session("", cdp.ErrGone)
	v.context = ask[proto.TargetCreateBrowserContextResult](v, proto.TargetCreateBrowserContext{}).BrowserContextID
	t.Cleanup(func() {
		_ = v.browser.Do(context.WithoutCancel(v.ctx), proto.TargetDisposeBrowserContext{BrowserContextID: v.context})
		v.conn.Close()
	})
	return v
}

func ask[R any](v *Views, req proto.Request) R {
	v.t.Helper()
	res, err := cdp.Ask[R](v.ctx, v.browser, req)
	check.Must(v.t, err)
	return res
}

// View is a page.
type View struct {
	views   *Views
	session *cdp.Session
}

// Open opens an empty page with a viewport of width by height and a color scheme, light or dark.
func (v *Views) Open(width, height int, scheme string) *View {
	v.t.Helper()
	create := proto.TargetCreateTarget{URL: "about:blank", BrowserContextID: v.context}
	attach := proto.TargetAttachToTarget{TargetID: ask[proto.TargetCreateTargetResult](v, create).TargetID, Flatten: true}
	w := &View{v, v.conn.Session(string(ask[proto.TargetAttachToTargetResult](v, attach).SessionID), cdp.ErrGone)}
	w.do(proto.PageEnable{})
	w.do(proto.RuntimeEnable{})
	w.do(proto.LogEnable{})
	w.do(proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	w.do(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	return w
}

// Frame waits for a cross-site frame whose address begins with prefix. Scripts run in the frame, input goes to the
// page.
func (w *View) Frame(prefix string) *View {
	w.views.t.Helper()
	var found *View
	Eventually(w.views.t, "a frame of "+prefix, func() bool {
		for _, target := range ask[proto.TargetGetTargetsResult](w.views, proto.TargetGetTargets{}).TargetInfos {
			if target.Type != "iframe" || !strings.HasPrefix(target.URL, prefix) || target.BrowserContextID != w.views.context {
				continue
			}
			attach := proto.TargetAttachToTarget{TargetID: target.TargetID, Flatten: true}
			id := ask[proto.TargetAttachToTargetResult](w.views, attach).SessionID
			found = &View{w.views, w.views.conn.Session(string(id), cdp.ErrGone)}
			found.do(proto.RuntimeEnable{})
			found.do(proto.LogEnable{})
		}
		return found != nil
	})
	return found
}

// Screenshot returns a PNG of the viewport.
func (w *View) Screenshot() []byte {
	w.views.t.Helper()
	res, err := cdp.Ask[proto.PageCaptureScreenshotResult](w.views.ctx, w.session, proto.PageCaptureScreenshot{})
	check.Must(w.views.t, err)
	return res.Data
}

func (w *View) do(req proto.Request) {
	w.views.t.Helper()
	check.Must(w.views.t, w.session.Do(w.views.ctx, req))
}

// Navigate starts loading an address.
func (w *View) Navigate(url string) {
	w.views.t.Helper()
	w.do(proto.PageNavigate{URL: url})
}

// Reload starts reloading the page.
func (w *View) Reload() {
	w.views.t.Helper()
	w.do(proto.PageReload{})
}

// Eval returns the value of a JavaScript expression; nil while the page is being replaced.
func (w *View) Eval(expression string) any {
	w.views.t.Helper()
	req := proto.RuntimeEvaluate{Expression: expression, ReturnByValue: true, AwaitPromise: true}
	res, err := cdp.Ask[proto.RuntimeEvaluateResult](w.views.ctx, w.session, req)
	if err != nil {
		return nil
	}
	if res.ExceptionDetails != nil {
		w.views.t.Fatalf("%s: %+v", expression, res.ExceptionDetails.Exception)
	}
	return res.Result.Value.Val()
}

// Call calls a CDP method on the page.
func (w *View) Call(method string, params map[string]any) {
	w.views.t.Helper()
	w.do(call{method, params})
}

type call struct {
	method string
	params map[string]any
}

// ProtoReq implements [proto.Request].
func (c call) ProtoReq() string { return c.method }

// MarshalJSON implements [json.Marshaler].
func (c call) MarshalJSON() ([]byte, error) { return json.Marshal(c.params) }

// Insert inserts text at the caret.
func (w *View) Insert(text string) {
	w.views.t.Helper()
	w.do(proto.InputInsertText{Text: text})
}

// Press presses a key with this name and code.
func (w *View) Press(key string, code int, text string) {
	w.views.t.Helper()
	ev := proto.InputDispatchKeyEvent{
		Type: proto.InputDispatchKeyEventTypeKeyDown, Key: key, Code: key, WindowsVirtualKeyCode: code, Text: text,
	}
	w.do(ev)
	ev.Type, ev.Text = proto.InputDispatchKeyEventTypeKeyUp, ""
	w.do(ev)
}

// EscapeTwice presses Escape twice, a tenth of a second apart for the page, however slowly it handles the presses.
func (w *View) EscapeTwice() {
	w.views.t.Helper()
	now := time.Now()
	for _, ago := range []time.Duration{100 * time.Millisecond, 0} {
		ev := proto.InputDispatchKeyEvent{
			Type: proto.InputDispatchKeyEventTypeKeyDown, Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27,
			Timestamp: proto.TimeSinceEpoch(float64(now.Add(-ago).UnixMicro()) / 1e6),
		}
		w.do(ev)
		ev.Type = proto.InputDispatchKeyEventTypeKeyUp
		w.do(ev)
	}
}
