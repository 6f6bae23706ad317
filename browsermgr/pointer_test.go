package browsermgr_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/go-rod/rod/lib/proto"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/webp"
)

// told is a script that records mouse, key and wheel events in the page.
const told = `window.told = []; window.log = [];
	for (const type of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'auxclick', 'keydown', 'keyup', 'wheel', 'dragstart', 'drop'])
		addEventListener(type, (e) => told.push(type + ' ' + (e.key ?? e.button + '@' + e.clientX + ',' + e.clientY) + ' ' + e.detail + ' ' +
			['alt', 'ctrl', 'meta', 'shift'].filter((m) => e[m + 'Key']).join('+')), {capture: true, passive: true});
	addEventListener('mousemove', (e) => told.push('mousemove ' + e.buttons + '@' + e.clientX + ',' + e.clientY), true);`

// heard returns the events recorded since the last call.
func heard(t *testing.T, w *browsermgr.Window) []string {
	t.Helper()
	text := strings.Join(act(t, w, "evaluate", map[string]any{"fn": "told.splice(0).map((s) => s.trim()).join('; ')"}), "")
	text = strings.Trim(strings.TrimPrefix(text, "result: "), `"`)
	if text == "" {
		return nil
	}
	return strings.Split(text, "; ")
}

// recordingWindow returns a window with a page that records its events.
func recordingWindow(t *testing.T) *browsermgr.Window {
	t.Helper()
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: site(t) + "/two"})
	act(t, w, "evaluate", map[string]any{"fn": told})
	return w
}

func TestMouseAndKeysActAtAPoint(t *testing.T) {
	w := recordingWindow(t)
	write(t, w, `<button style="position:fixed;left:0;top:0;width:200px;height:100px">b</button>`)
	for _, tt := range []struct {
		kind string
		args map[string]any
		want []string
	}{
		{
			"clickCoords",
			map[string]any{"x": 10, "y": "20.5"},
			[]string{"mousemove 0@10,20", "mousedown 0@10,20 1", "mouseup 0@10,20 1", "click 0@10,20 1"},
		},
		{
			"clickCoords",
			map[string]any{"x": 10, "y": 20, "clickCount": 3, "modifiers": "Shift"},
			[]string{
				"mousemove 0@10,20", "mousedown 0@10,20 1 shift", "mouseup 0@10,20 1 shift", "click 0@10,20 1 shift",
				"mousedown 0@10,20 2 shift", "mouseup 0@10,20 2 shift", "click 0@10,20 2 shift", "dblclick 0@10,20 2 shift",
				"mousedown 0@10,20 3 shift", "mouseup 0@10,20 3 shift", "click 0@10,20 3 shift",
			},
		},
		{
			"clickCoords",
			map[string]any{"x": 1, "y": 2, "button": "middle"},
			[]string{"mousemove 0@1,2", "mousedown 1@1,2 1", "mouseup 1@1,2 1", "auxclick 1@1,2 1"},
		},
		{"pointerMove", map[string]any{"x": 30, "y": 40}, []string{"mousemove 0@30,40"}},
		{"pointerDown", map[string]any{"x": 30, "y": 40}, []string{"mousemove 0@30,40", "mousedown 0@30,40 1"}},
		{"pointerMove", map[string]any{"x": 33, "y": 44}, []string{"mousemove 1@33,44"}},
		{
			"pointerUp",
			map[string]any{"x": 35, "y": 45},
			[]string{"mousemove 1@35,45", "mouseup 0@35,45 1", "click 0@35,45 1"},
		},
		{"keyDown", map[string]any{"key": "ctrl"}, []string{"keydown Control 0 ctrl"}},
		{
			"clickCoords",
			map[string]any{"x": 5, "y": 5},
			[]string{"mousemove 0@5,5", "mousedown 0@5,5 1 ctrl", "mouseup 0@5,5 1 ctrl", "click 0@5,5 1 ctrl"},
		},
		{"press", map[string]any{"key": "Shift+ArrowUp", "count": 2}, []string{
			"keydown Shift 0 ctrl+shift", "keydown ArrowUp 0 ctrl+shift", "keyup ArrowUp 0 ctrl+shift", "keyup Shift 0 ctrl",
			"keydown Shift 0 ctrl+shift", "keydown ArrowUp 0 ctrl+shift", "keyup ArrowUp 0 ctrl+shift", "keyup Shift 0 ctrl",
		}},
		{"wheel", map[string]any{"x": 5, "y": 6, "deltaY": 10}, []string{"wheel 0@5,6 0 ctrl"}},
		{"keyUp", map[string]any{"key": "Control"}, []string{"keyup Control 0"}},
		{"press", map[string]any{"key": "x", "delayMs": 30}, []string{"keydown x 0", "keyup x 0"}},
	} {
		act(t, w, tt.kind, tt.args)
		if d := cmp.Diff(tt.want, heard(t, w)); d != "" {
			t.Errorf("%s %v (-want +got)\n%s", tt.kind, tt.args, d)
		}
	}
}

func TestHeldKeysAndButtonsAreReleasedWithTheirDocument(t *testing.T) {
	w := recordingWindow(t)
	act(t, w, "keyDown", map[string]any{"key": "Shift"})
	act(t, w, "pointerDown", map[string]any{"x": 5, "y": 5})
	check.Fails(t, check.Err(w.Act(t.Context(), "pointerDown", map[string]any{"x": 5, "y": 5})), page.ErrInvalid)
	act(t, w, "reload", nil)
	act(t, w, "evaluate", map[string]any{"fn": told})
	act(t, w, "clickCoords", map[string]any{"x": 8, "y": 8})
	got := heard(t, w)
	if want := []string{"mousemove 0@8,8", "mousedown 0@8,8 1", "mouseup 0@8,8 1", "click 0@8,8 1"}; !cmp.Equal(want,
		got[max(len(got)-4, 0):]) {
		t.Errorf("got %q, want free hands on a new page", got)
	}
	act(t, w, "pointerDown", map[string]any{"x": 9, "y": 9})
	act(t, w, "pointerUp", map[string]any{"x": 9, "y": 9})
}

func TestTextIsTypedIntoTheFocusedElement(t *testing.T) {
	w := recordingWindow(t)
	write(t, w, `<input id=a value=old autofocus><textarea id=b>old</textarea><div id=c contenteditable>old</div><iframe id=far style="position:fixed;left:0;top:100px;width:300px;height:200px;border:7px solid;padding:3px"></iframe>`)
	for _, tt := range []struct {
		id, text string
		clear    bool
		want     string
	}{
		{"a", "Grüße, 世界! A~b", true, "Grüße, 世界! A~b"},
		{"a", "", true, ""},
		{"b", "one\r\ntwo\n", true, "one\ntwo\n"},
		{"b", "three", false, "one\ntwo\nthree"},
		{"c", "rich 🎉", true, "rich 🎉"},
		{"b", strings.Repeat("long ", 500) + "\nend", true, strings.Repeat("long ", 500) + "\nend"},
	} {
		act(t, w, "evaluate", map[string]any{"fn": `const e = document.querySelector('#` + tt.id +
			`'); e.focus(); e.setSelectionRange?.(9e6, 9e6); return ''`})
		act(t, w, "insertText", map[string]any{"text": tt.text, "clear": tt.clear})
		notes := act(t, w, "evaluate", map[string]any{"fn": `const e = document.querySelector('#` + tt.id +
			`'); return JSON.stringify(e.value ?? e.innerText) === ` + "JSON.stringify(" + quoted(tt.want) + `)`})
		contains(t, notes, "true")
	}
}

func TestInputReachesFramesOfOtherSites(t *testing.T) {
	w := recordingWindow(t)
	u, _, _ := state(t, w)
	far := strings.Replace(strings.Replace(u, "127.0.0.1", "localhost", 1), "/two", "/form", 1)
	write(t, w, `<iframe src="`+far+
		`" style="position:fixed;left:40px;top:100px;width:300px;height:200px;border:7px solid;padding:3px"></iframe>`)
	act(t, w, "wait", map[string]any{"loadState": "networkidle"})
	eventually(t, "the frame is there", func() bool {
		text, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{})
		return err == nil && strings.Contains(text, "Name")
	})
	act(t, w, "clickCoords", map[string]any{"x": 40 + 10 + 8 + 90, "y": 100 + 10 + 8 + 10}) // border, padding, body, label
	act(t, w, "insertText", map[string]any{"text": "Ada 👩"})
	act(t, w, "insertText", map[string]any{"text": "Grace", "clear": true})
	eventually(t, "the frame has the text", func() bool {
		text, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{})
		return err == nil && strings.Contains(text, "Grace") && !strings.Contains(text, "Ada")
	})
}

// quoted returns a text as a JavaScript literal.
func quoted(s string) string { return "`" + strings.ReplaceAll(s, "\n", `\n`) + "`" }

func TestDragsFollowTheirPath(t *testing.T) {
	w := recordingWindow(t)
	act(t, w, "dragCoords", map[string]any{"path": []any{"10, 10", "50.5,10", "50,90"}, "button": "right"})
	got := heard(t, w)
	for _, want := range []string{"mousedown 2@10,10", "mousemove 2@50,10", "mousemove 2@50,90", "mouseup 2@50,90"} {
		contains(t, got, want)
	}
	for _, kinds := range [][]string{{"dragCoords"}, {"pointerDown", "pointerMove", "pointerUp"}} {
		write(t, w, `<div id=a draggable=true style="position:fixed;left:0;top:0;width:80px;height:80px">a</div><div id=b style="position:fixed;left:200px;top:200px;width:80px;height:80px">b</div>`)
		act(t, w, "evaluate", map[string]any{"fn": `const b = document.querySelector('#b');
			document.querySelector('#a').ondragstart = (e) => e.dataTransfer.setData('text/plain', 'cargo');
			b.ondragover = (e) => e.preventDefault(); b.ondrop = (e) => { e.preventDefault(); b.textContent = e.dataTransfer.getData('text/plain'); }; return ''`})
		if len(kinds) == 1 {
			act(t, w, "dragCoords", map[string]any{"path": []string{"20,20", "220,220"}})
		} else {
			act(t, w, "pointerDown", map[string]any{"x": 20, "y": 20})
			for _, at := range []int{40, 90, 220} {
				act(t, w, "pointerMove", map[string]any{"x": at, "y": at})
			}
			act(t, w, "pointerUp", map[string]any{"x": 220, "y": 220})
		}
		contains(t, act(t, w, "evaluate", map[string]any{"fn": "document.querySelector('#b').textContent"}), "cargo")
		heard(t, w)
		act(t, w, "clickCoords", map[string]any{"x": 300, "y": 300})
		if got := heard(t, w); len(got) != 4 {
			t.Errorf("%v: a click after it is told as %q", kinds, got)
		}
	}
}

func TestTheWheelScrollsWhatIsUnderIt(t *testing.T) {
	w := recordingWindow(t)
	write(t, w, `<div id=box style="position:fixed;left:0;top:0;width:200px;height:200px;overflow:auto"><p style="height:2000px">x</div><p style="height:5000px">`)
	act(t, w, "wheel", map[string]any{"x": 100, "y": 100, "deltaY": 300})
	act(t, w, "wheel", map[string]any{"x": 400, "y": 100, "deltaY": "120"})
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "[document.querySelector('#box').scrollTop, scrollY]"}),
		"[300,120]")
}

func TestAScreenshotReportsTheSizeOfItsCoordinates(t *testing.T) {
	w := recordingWindow(t)
	for _, factor := range []float64{0, 1.5, 2} {
		for _, pinch := range []float64{1, 1.25} {
			scaled(t, w, factor, pinch)
			shot, err := w.Screenshot(t.Context(), "")
			check.Must(t, err)
			size, err := jpeg.DecodeConfig(bytes.NewReader(shot.Data))
			if err != nil || shot.MediaType != "image/jpeg" {
				t.Fatal(shot.MediaType, err)
			}
			want := 1001.0
			if factor == 0 {
				want = 1280
			}
			want /= pinch
			if math.Abs(shot.Width-want) > 1 ||
				math.Abs(shot.Width/shot.Height-float64(size.Width)/float64(size.Height)) > 0.01 {
				t.Errorf("factor %v, pinch %v: got %v×%v of %v×%v, want a width of %v", factor, pinch, shot.Width, shot.Height,
					size.Width, size.Height, want)
			}
		}
	}
}

// scaled sets the device scale factor of a viewport of 1001×601 (0: unchanged) and the page's pinch zoom.
func scaled(t *testing.T, w *browsermgr.Window, factor, pinch float64) {
	t.Helper()
	err := w.WithTab(t.Context(), func(tab *page.Tab) error {
		if factor > 0 {
			err := tab.MainFrame().Do(t.Context(), proto.EmulationSetDeviceMetricsOverride{
				Width: 1001, Height: 601,
				DeviceScaleFactor: factor,
			})
			if err != nil {
				return err
			}
		}
		return tab.MainFrame().Do(t.Context(), proto.EmulationSetPageScaleFactor{PageScaleFactor: pinch})
	})
	check.Must(t, err)
}

func TestScreenshotBehindADialogFailsAtOnce(t *testing.T) {
	w := recordingWindow(t)
	write(t, w, `<button style="position:fixed;left:0;top:0;width:200px;height:100px" onclick="confirm('Sure?')">b</button>`)
	contains(t, act(t, w, "clickCoords", map[string]any{"x": 10, "y": 10}), "Sure?")
	check.Fails(t, check.Err(w.Screenshot(t.Context(), "")), nil, "Sure?")
	act(t, w, "dialog", map[string]any{"accept": true})
	if shot, err := w.Screenshot(t.Context(), ""); err != nil || shot.Width != 1280 || shot.Height != 720 {
		t.Errorf("got %v×%v, %v", shot.Width, shot.Height, err)
	}
}

func TestMouseButtonsBackAndForwardNavigate(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/"})
	act(t, w, "navigate", map[string]any{"url": base + "/two"})
	there := [][2]string{{"back", base + "/"}, {"forward", base + "/two"}}
	for _, to := range slices.Repeat(there, 8) { // a click may come while the document is being replaced
		act(t, w, "clickCoords", map[string]any{"x": 1, "y": 2, "button": to[0]})
		eventually(t, "it is at "+to[1], func() bool { u, _, _ := state(t, w); return u == to[1] })
	}
}

// filmed returns a picture of the window, which must be lossy WebP.
func filmed(t *testing.T, w *browsermgr.Window, quality int, scale float64) (image.Image, string) {
	t.Helper()
	data, url, err := w.CaptureWebP(t.Context(), quality, scale)
	check.Must(t, err)
	if !bytes.Contains(data[:min(len(data), 4096)], []byte("VP8 ")) {
		t.Errorf("got %q…, want a lossy picture", data[:min(len(data), 64)])
	}
	img, err := webp.Decode(bytes.NewReader(data))
	check.Must(t, err)
	return img, url
}

// near reports whether a pixel has approximately that colour.
func near(img image.Image, x, y int, want color.RGBA) bool {
	r, g, b, _ := img.At(x, y).RGBA()
	off := func(got uint32, want uint8) bool { return max(int(got>>8), int(want))-min(int(got>>8), int(want)) > 12 }
	return !off(r, want.R) && !off(g, want.G) && !off(b, want.B)
}

// corner hides the corner of every page while its value is set.
type corner struct{ hiding *atomic.Bool }

func (c corner) HiddenAreas(context.Context, *page.Tab) ([]page.Area, error) {
	if c.hiding.Load() {
		return []page.Area{{Left: 0, Top: 0, Right: 100, Bottom: 100}}, nil
	}
	return nil, nil
}

func (corner) Holds(context.Context, *page.Tab) (bool, error) { return false, nil }

func TestAWindowIsFilmedAsPicturesAre(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
		fmt.Fprint(w, `<!doctype html><title>Red</title><body style="margin:0;background:#c81e1e"><div style="height:5000px"></div>`)
	}))
	defer server.Close()
	var hiding atomic.Bool
	m := manager(t, func(m *browsermgr.Manager) {
		m.Secrets = corner{&hiding}
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": server.URL + "/"})
	red, grey := color.RGBA{R: 0xc8, G: 0x1e, B: 0x1e}, color.RGBA{R: 0x60, G: 0x60, B: 0x60}
	act(t, w, "evaluate", map[string]any{"fn": "scrollTo(0, 200)"})

	whole, url := filmed(t, w, 100, 1)
	if url != server.URL+"/" || !near(whole, 50, 50, red) {
		t.Errorf("got %v at 50, 50 of %s, want %v of %s/", whole.At(50, 50), url, red, server.URL)
	}
	half, _ := filmed(t, w, 40, 0.5)
	if got, want := half.Bounds().Dx(), whole.Bounds().Dx()/2; got < want-16 || got > want+1 || !near(half, 50, 50, red) {
		t.Errorf("got a width of %d and %v, want about %d and %v", got, half.At(50, 50), want, red)
	}

	hiding.Store(true)
	covered, _ := filmed(t, w, 80, 1)
	if !near(covered, 50, 50, grey) || !near(covered, 150, 150, red) || covered.Bounds() != whole.Bounds() {
		t.Errorf("got %v inside and %v outside of what must not be seen, want %v and %v", covered.At(50, 50),
			covered.At(150, 150), grey, red)
	}
	small, _ := filmed(t, w, 80, 0.5)
	if !near(small, 25, 25, grey) || !near(small, 75, 75, red) {
		t.Errorf("got %v inside and %v outside in a small picture, want %v and %v", small.At(25, 25), small.At(75, 75), grey,
			red)
	}
	hiding.Store(false)

	var open *page.DialogError
	if _, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": "void setTimeout(() => alert(1))"}); err != nil &&
		!errors.As(err, &open) {
		t.Fatal(err)
	}
	eventually(t, "a dialog", func() bool {
		_, _, err := w.CaptureWebP(t.Context(), 80, 1)
		return errors.As(err, &open)
	})
	kill(t, m)
	eventually(t, "the end of the browser", func() bool {
		_, _, err := w.CaptureWebP(t.Context(), 80, 1)
		return err != nil && err.Error() == "no page is open"
	})
	eventually(t, "no process of it", func() bool { return len(processesOf(t, m.Home)) == 0 })
	check.Must(t, w.Close(t.Context()))
	_, _, err := w.CaptureWebP(t.Context(), 80, 1)
	check.Fails(t, err, nil, "the window is closed")
}
