package screenshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/screenshot"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
	_ "golang.org/x/image/webp"
)

// live opens a tab with screencasts. sent counts the requests of each method.
func live(t *testing.T, html string) (*page.Tab, *screenshot.Screencasts, func(method string) int64) {
	t.Helper()
	var starts, stops, acks atomic.Int64
	counters := map[string]*atomic.Int64{
		"Page.startScreencast": &starts, "Page.stopScreencast": &stops,
		"Page.screencastFrameAck": &acks,
	}
	casts := screenshot.NewScreencasts(nil)
	b := browser.Connect(t, page.Options{
		Observers: []page.Observer{casts},
		Options: cdp.Options{OnSent: func(method string, _ any) {
			if n := counters[method]; n != nil {
				n.Add(1)
			}
		}},
	})
	tab := openIn(t, b, site(t, map[string]string{"/": html, "/next": `<body style="background:#ff00ff">`}))
	t.Cleanup(func() { _ = casts.Close() })
	return tab, casts, func(method string) int64 { return counters[method].Load() }
}

func watch(t *testing.T, casts *screenshot.Screencasts, tab *page.Tab, o screenshot.WatchOptions) *screenshot.Viewer {
	t.Helper()
	v, err := casts.Watch(browsertest.Within(t, browsertest.Patience), tab, o)
	check.Must(t, err)
	t.Cleanup(v.Close)
	return v
}

func next(t *testing.T, v *screenshot.Viewer) screenshot.Frame {
	t.Helper()
	f, err := v.Next(browsertest.Within(t, browsertest.Patience))
	check.Must(t, err)
	return f
}

// until reads frames until the middle of one has this colour.
func until(t *testing.T, v *screenshot.Viewer, color string) screenshot.Frame {
	t.Helper()
	ctx := browsertest.Within(t, 30*time.Second)
	for {
		f, err := v.Next(ctx)
		if err != nil {
			t.Fatalf("no frame in %s: %v", color, err)
		}
		img, kind, err := image.Decode(bytes.NewReader(f.Data))
		check.Must(t, err)
		if size := img.Bounds().Size(); kind != f.Type || size != image.Pt(f.Width, f.Height) {
			t.Errorf("got %s of %v, said to be %s of %dx%d", kind, size, f.Type, f.Width, f.Height)
		}
		r, g, b, _ := img.At(f.Width/2, f.Height/2).RGBA()
		if near(fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8), color) {
			return f
		}
	}
}

func near(a, b string) bool {
	var x, y [3]int
	_, _ = fmt.Sscanf(a, "#%02x%02x%02x", &x[0], &x[1], &x[2])
	_, _ = fmt.Sscanf(b, "#%02x%02x%02x", &y[0], &y[1], &y[2])
	for i := range x {
		if max(x[i], y[i])-min(x[i], y[i]) > 24 {
			return false
		}
	}
	return true
}

func TestLiveViewFollowsThePage(t *testing.T) {
	tab, casts, _ := live(t, `<body style="background:#00ff00">`)
	v := watch(t, casts, tab, screenshot.WatchOptions{MaxWidth: 400, MaxHeight: 400, FPS: 60})
	f := until(t, v, "#00ff00")
	if f.Width > 400 || f.Height > 400 || f.ViewWidth < 1000 || f.Type != "jpeg" || f.Number < 1 ||
		time.Since(f.At) > time.Minute {
		t.Errorf("got frame %dx%d of a viewport %gx%g at %s", f.Width, f.Height, f.ViewWidth, f.ViewHeight, f.At)
	}
	browsertest.JS(t, tab, "(document.body.style.background = '#0000ff', 1)")
	until(t, v, "#0000ff")
	browsertest.Navigate(t, tab, strings.Replace(tab.URL(), "127.0.0.1", "localhost", 1)+"next") // in another process
	until(t, v, "#ff00ff")
	tab.MainFrame().Post(proto.PageCrash{})
	<-crashed(t, tab)
	browsertest.Navigate(t, tab, strings.Replace(tab.URL(), "/next", "/", 1))
	until(t, v, "#00ff00")
}

func TestStillPageIsShownToANewViewer(t *testing.T) {
	tab, casts, sent := live(t, `<body style="background:#00ff00">`)
	first := watch(t, casts, tab, screenshot.WatchOptions{})
	f := until(t, first, "#00ff00")
	second := watch(t, casts, tab, screenshot.WatchOptions{})
	if g := next(t, second); g.Number < f.Number {
		t.Errorf("got frame %d, want the last, %d", g.Number, f.Number)
	}
	check.Equal(t, "casts for two viewers", sent("Page.startScreencast"), 1)
	second.Refresh()
	if g := next(t, second); g.Number <= f.Number {
		t.Errorf("got frame %d, want a new one", g.Number)
	}
	first.Close()
	browsertest.JS(t, tab, "(document.body.style.background = '#0000ff', 1)")
	until(t, second, "#0000ff")
	second.Close()
	stops := sent("Page.stopScreencast")
	check.Fails(t, check.Err(second.Next(t.Context())), screenshot.ErrScreencastOver)
	third := watch(t, casts, tab, screenshot.WatchOptions{})
	until(t, third, "#0000ff")
	if n := sent("Page.startScreencast"); n != 3 || stops < 3 {
		t.Errorf("got %d starts and %d stops", n, stops)
	}
}

func TestASlowViewerHoldsUpNobodyAndGetsTheLatest(t *testing.T) {
	tab, casts, _ := live(t, `<body style="background:#00ff00"><div id=d style="width:90px;height:90px;background:#888"></div>
		<script>let n = 0; (function move() { d.style.marginLeft = (n += 3) % 500 + 'px'; requestAnimationFrame(move); })()</script>`)
	quick := watch(t, casts, tab, screenshot.WatchOptions{FPS: 60, MaxWidth: 300})
	slow := watch(t, casts, tab, screenshot.WatchOptions{FPS: 60, MaxWidth: 300})
	next(t, slow)
	var last screenshot.Frame
	for range 15 {
		last = next(t, quick)
	}
	if f := next(t, slow); f.Number < last.Number {
		t.Errorf("the slow viewer got frame %d, the other has %d", f.Number, last.Number)
	}
}

// TestTheLastFrameIsShownThoughManyCameBeforeIt tests frames that Chromium drops: it sends at most three without an
// acknowledgement.
func TestTheLastFrameIsShownThoughManyCameBeforeIt(t *testing.T) {
	tab, casts, _ := live(t, `<body style="background:#00ff00">`)
	v := watch(t, casts, tab, screenshot.WatchOptions{FPS: 1, MaxWidth: 300})
	until(t, v, "#00ff00")
	browsertest.JS(t, tab, `new Promise(done => {
		let n = 0;
		(function flash() {
			document.body.style.background = ++n < 30 ? (n % 2 ? '#0000ff' : '#00ff00') : '#ff0000';
			n < 30 ? requestAnimationFrame(flash) : done(1);
		})();
	})`)
	until(t, v, "#ff0000")
}

func TestNobodyTakingFramesSlowsTheCastDown(t *testing.T) {
	tab, casts, sent := live(t, `<body><div id=d style="width:90px;height:90px;background:#888"></div>
		<script>let n = 0; (function move() { d.style.marginLeft = (n += 3) % 500 + 'px'; requestAnimationFrame(move); })()</script>`)
	v := watch(t, casts, tab, screenshot.WatchOptions{FPS: 60, MaxWidth: 300})
	next(t, v)
	before, start := sent("Page.screencastFrameAck"), time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	<-ctx.Done() // the viewer is busy
	acks := sent("Page.screencastFrameAck") - before
	if most := 4 * (1 + int64(time.Since(start)/time.Second)); acks > most {
		t.Errorf("%d frames were asked for in %s that nobody took", acks, time.Since(start))
	}
	f := next(t, v)
	if age := time.Since(f.At); age > 15*time.Second {
		t.Errorf("the latest frame is %s old", age)
	}
}

func TestViewersAreServedTogether(t *testing.T) {
	tab, casts, _ := live(t, `<body style="background:#00ff00">`)
	small := watch(t, casts, tab, screenshot.WatchOptions{MaxWidth: 200, Quality: 10, WebP: true})
	if f := next(t, small); f.Width > 200 || f.Type != "webp" && f.Type != "jpeg" {
		t.Errorf("got %s of width %d", f.Type, f.Width)
	}
	large := watch(t, casts, tab, screenshot.WatchOptions{MaxWidth: 600})
	for f := next(t, large); f.Width <= 200 || f.Type != "jpeg"; f = next(t, large) {
		t.Logf("still %s of width %d", f.Type, f.Width)
	}
	large.Close()
	for f := next(t, small); f.Width > 200; f = next(t, small) {
		t.Logf("still of width %d", f.Width)
	}
	for _, o := range []screenshot.WatchOptions{{FPS: 61}, {Quality: 101}, {MaxWidth: -1}} {
		check.Fails(t, check.Err(casts.Watch(t.Context(), tab, o)), page.ErrInvalid)
	}
}

func TestViewEndsWithItsReason(t *testing.T) {
	tab, casts, _ := live(t, `<body>`)
	v := watch(t, casts, tab, screenshot.WatchOptions{})
	next(t, v)
	stopped := errors.New("stopped by ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	check.Fails(t, check.Err(v.Next(ctx)), stopped)
	check.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	for {
		_, err := v.Next(browsertest.Within(t, browsertest.Patience))
		if err == nil {
			continue
		}
		check.Fails(t, err, page.ErrTabGone)
		break
	}
	check.Fails(t, check.Err(casts.Watch(t.Context(), tab, screenshot.WatchOptions{})), page.ErrTabGone)
	tab, casts, _ = live(t, `<body>`)
	check.Must(t, casts.Close())
	check.Fails(t, check.Err(casts.Watch(t.Context(), tab, screenshot.WatchOptions{})), screenshot.ErrScreencastOver)
}

func TestAHeldTabIsShownToItsHolderAlone(t *testing.T) {
	tab, casts, _ := live(t, `<body style="background:#00ff00">`)
	quick := screenshot.WatchOptions{FPS: 60}
	other := watch(t, casts, tab, quick)
	next(t, other)
	hold := &page.Hold{}
	tab.BeginHold(hold)
	holder := hold.Context(browsertest.Within(t, browsertest.Patience))
	mine, err := casts.Watch(holder, tab, quick)
	check.Must(t, err)
	defer mine.Close()
	paint := page.Action{Kind: actiontable.KindEvaluate, Fn: `void (document.body.style.background = "#ff0000")`}
	check.Must(t, check.Err(tab.Act(holder, paint)))
	until(t, mine, "#ff0000")
	seen, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, check.Err(other.Next(seen)), context.Canceled)
	tab.EndHold()
	casts.Refresh(tab)
	until(t, other, "#ff0000")
}
