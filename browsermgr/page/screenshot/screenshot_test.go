package screenshot_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/screenshot"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

const geometry = `JSON.stringify([innerWidth, innerHeight, scrollX, scrollY, devicePixelRatio, document.documentElement.clientWidth,
	visualViewport.scale, Math.round(visualViewport.pageLeft), Math.round(visualViewport.pageTop), screen.width, screen.height, navigator.maxTouchPoints,
	[...document.querySelectorAll('.scroller')].map(e => e.scrollTop)])`

const tall = `<style>body{height:3000px;width:100%;background:#0000ff}</style>
	<div style="position:fixed;left:0;bottom:0;width:100px;height:50px;background:#ffff00"></div>
	<div style="height:100vh;width:200px;background:#00ffff"></div>
	<button style="position:absolute;top:2000px;left:50px;width:120px;height:40px;border:0;padding:0;background:#ff0000;color:#f00">B</button>
	<div class=scroller style="position:absolute;top:700px;left:300px;width:200px;height:100px;overflow:auto">
		<div style="height:900px;background:#808080"></div><button style="display:block;width:60px;height:30px;border:0;background:#00ff00;color:#0f0">In</button></div>`

func TestPictureShowsWhatItShouldAndLeavesThePageAlone(t *testing.T) {
	for _, dpr := range []float64{1, 3} {
		t.Run(fmt.Sprintf("dpr %g", dpr), func(t *testing.T) {
			tab := show(t, tall, dpr)
			size(t, tab, 640, 600, dpr, false)
			found := refs(t, tab, 2)
			browsertest.JS(t, tab, "(scrollTo(0, 450), document.querySelector('.scroller').scrollTop = 30, 1)")
			before := browsertest.JS(t, tab, geometry)
			n := int(dpr)
			for _, tt := range []struct {
				name          string
				opts          screenshot.Options
				width, height int
				colors        map[[2]int]string // by CSS pixel
			}{
				{"viewport", screenshot.Options{}, 640, 600, map[[2]int]string{
					{5, 5}: "#00ffff", {5, 590}: "#ffff00",
					{500, 5}: "#0000ff",
				}},
				{
					"element",
					screenshot.Options{Ref: found["B"].Ref},
					120, 40,
					map[[2]int]string{{3, 3}: "#ff0000", {117, 37}: "#ff0000"},
				},
				{
					"by selector",
					screenshot.Options{Element: "body > button", Type: "jpeg"},
					120, 40,
					map[[2]int]string{{3, 3}: "#ff0000"},
				},
				{
					"in a scroller",
					screenshot.Options{Ref: found["In"].Ref},
					60, 30,
					map[[2]int]string{{3, 3}: "#00ff00", {57, 27}: "#00ff00"},
				},
			} {
				_, img := shoot(t, tab, tt.opts)
				if got := img.Bounds().Size(); got.X != min(tt.width*n, 2000) && tt.name == "viewport" {
					t.Logf("%s scaled to %v", tt.name, got)
				}
				scale := float64(img.Bounds().Dx()) / float64(tt.width)
				if want := min(dpr, 2000/float64(max(tt.width, tt.height))); scale < want-0.01 || scale > want+0.01 {
					t.Errorf("%s: got %v, %g times its CSS pixels, want %g times", tt.name, img.Bounds().Size(), scale, want)
				}
				for at, want := range tt.colors {
					wantColor(t, img, int(float64(at[0])*scale), int(float64(at[1])*scale), want)
				}
				check.Equal(t, tt.name+": geometry afterwards", browsertest.JS(t, tab, geometry), before)
			}
			_, img := shoot(t, tab, screenshot.Options{FullPage: true})
			if got := img.Bounds().Size(); got.Y != 2000 || got.X < 426 || got.X > 428 {
				t.Errorf("full page: got %v", got)
			}
			wantColor(t, img, 5, 5, "#00ffff")
			wantColor(t, img, int(60*2000/3000), int(2010*2000/3000), "#ff0000")
			wantColor(t, img, 5, 1990, "#0000ff") // the height of the viewport is still 600
			check.Equal(t, "full page: geometry afterwards", browsertest.JS(t, tab, geometry), before)
		})
	}
}

func TestSmallPictureIsChromiumsOwn(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 390, 664, 3, true)
	browsertest.Navigate(t, tab, site(t, map[string]string{"/": tall}))
	browsertest.JS(t, tab, "(scrollTo(0, 700), 1)")
	before := browsertest.JS(t, tab, geometry)
	shot, _ := shoot(t, tab, screenshot.Options{Type: "gif"})
	if shot.Type != "png" || shot.Width != 1170 || shot.Height != 1992 {
		t.Errorf("got %s of %dx%d, want a png of 1170x1992", shot.Type, shot.Width, shot.Height)
	}
	shot, _ = shoot(t, tab, screenshot.Options{FullPage: true})
	if shot.Height != 2000 || shot.Type != "jpeg" {
		t.Errorf("full page: got %s of %dx%d", shot.Type, shot.Width, shot.Height)
	}
	check.Equal(t, "geometry afterwards", browsertest.JS(t, tab, geometry), before)
}

func TestScrollBarsComeBack(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("scroll bars take no room there")
	}
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	// A window without a display: ours that are headless have no scroll bars.
	p, err := chrome.Launch(t.Context(), chrome.LaunchOptions{
		Executable: exe.Path, NoSandbox: true, Args: []string{"--headless=new"}, Env: append(os.Environ(), "DISPLAY=:none"),
		Timeout: time.Minute, ReadyTimeout: time.Minute,
	})
	check.Must(t, err)
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	tab := openIn(t, browsertest.Connect(t, p, page.Options{}), site(t, map[string]string{"/": tall +
		`<div style="position:absolute;right:0;top:10px;width:40px;height:40px;background:#ff0000"></div>`}))
	browsertest.JS(t, tab, "(scrollTo(0, 450), 1)")
	before := browsertest.JS(t, tab, geometry)
	browsertest.WantJS(t, tab, "innerWidth > document.documentElement.clientWidth", "true")
	_, img := shoot(t, tab, screenshot.Options{FullPage: true})
	wantColor(t, img, img.Bounds().Dx()-3, int(20*2000/3000), "#ff0000") // nothing is cut off at the right
	shoot(t, tab, screenshot.Options{Element: "body > button"})
	check.Equal(t, "geometry afterwards", browsertest.JS(t, tab, geometry), before)
	browsertest.WantJS(t, tab, "document.adoptedStyleSheets.length", "0")
}

func TestElementsOfFramesAndShadowRoots(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 800, 600, 2, false)
	browsertest.Navigate(t, tab, site(t, map[string]string{
		"/": `<div style="height:1500px"></div><div id=host></div>
			<iframe style="width:400px;height:200px;border:5px solid;padding:7px;margin:3px" src="HOST/far"></iframe>
			<script>host.attachShadow({mode:'open'}).innerHTML = '<button style="width:80px;height:30px;border:0;background:#ff00ff;color:#f0f">Shade</button>'</script>`,
		"/far": `<div style="height:700px"></div><button style="width:90px;height:40px;border:0;background:#00ff00;color:#0f0">Far</button>
			<div style="height:700px"></div>`,
	}))
	found := refs(t, tab, 2)
	before := browsertest.JS(t, tab, geometry)
	_, img := shoot(t, tab, screenshot.Options{Ref: found["Shade"].Ref})
	if got := img.Bounds().Size(); got.X != 160 || got.Y != 60 {
		t.Errorf("shadow root: got %v", got)
	}
	wantColor(t, img, 5, 5, "#ff00ff")
	_, img = shoot(t, tab, screenshot.Options{Ref: found["Far"].Ref, Labels: []screenshot.Label{found["Far"]}})
	if got := img.Bounds().Size(); got.X != 180 || got.Y != 80 {
		t.Errorf("frame: got %v", got)
	}
	wantColor(t, img, 170, 70, "#00ff00")
	wantColor(t, img, 2, 78, "#ffb020")
	check.Equal(t, "geometry afterwards", browsertest.JS(t, tab, geometry), before)
}

func TestElementsOfFramesOfAnotherOriginInTheProcess(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 800, 600, 1, false)
	port := site(t, map[string]string{
		"/far": `<div style="height:700px"></div><button style="width:90px;height:40px;border:0;background:#00ff00;color:#0f0">Far</button><div style="height:700px"></div>`,
	})
	browsertest.Navigate(t, tab, site(t, map[string]string{
		"/": `<div style="height:1500px"></div><iframe style="width:400px;height:200px;border:5px solid;padding:7px;margin:3px" src="` + port + `/far"></iframe>`,
	}))
	found := refs(t, tab, 1)
	before := browsertest.JS(t, tab, geometry)
	shot, img := shoot(t, tab, screenshot.Options{Ref: found["Far"].Ref, Labels: []screenshot.Label{found["Far"]}})
	if got := img.Bounds().Size(); got.X != 90 || got.Y != 40 || shot.Drawn != 1 {
		t.Errorf("got %v with %d labels", got, shot.Drawn)
	}
	wantColor(t, img, 85, 35, "#00ff00")
	wantColor(t, img, 1, 39, "#ffb020")
	check.Equal(t, "geometry afterwards", browsertest.JS(t, tab, geometry), before)
}

func TestRemoteFramesAreDrawnInAFullPage(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 800, 600, 1, false)
	browsertest.Navigate(t, tab, site(t, map[string]string{
		"/":    `<div style="height:1200px"></div><iframe style="width:400px;height:200px;border:0;display:block" src="HOST/far"></iframe>`,
		"/far": `<body style="background:#00ff00"><button>Far</button>`,
	}))
	refs(t, tab, 1)
	_, img := shoot(t, tab, screenshot.Options{FullPage: true})
	wantColor(t, img, 200, 1300, "#00ff00")
}

func TestFramesThatHangAreLeftOutOfAFullPage(t *testing.T) {
	hang := make(chan struct{})
	var hangs atomic.Bool
	url := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		case "/hangs":
			hangs.Store(true)
		case "/one":
			browsertest.HTML(w, `<button>One</button><script>
				fetch("/hang").then(() => { navigator.sendBeacon("/hangs"); for (;;); })</script>`)
		case "/two":
			browsertest.HTML(w, `<button>Two</button>`)
		default:
			host := browsertest.LocalhostURL(r)
			browsertest.HTML(w, `<body style="background:#00ff00"><div style="height:1200px"></div><iframe src="`+host+`/one"></iframe>
				<div style="height:1200px"></div><iframe src="`+host+`/two"></iframe>`)
		}
	}).URL
	tab := browsertest.Tab(t, browsertest.Connect(t, browsertest.Launch(t), page.Options{}), page.TabOptions{})
	size(t, tab, 800, 600, 1, false)
	browsertest.Navigate(t, tab, url)
	refs(t, tab, 2)
	close(hang)
	browsertest.Eventually(t, "the frame hangs", hangs.Load)
	_, img := shoot(t, tab, screenshot.Options{FullPage: true})
	wantColor(t, img, 400, 500, "#00ff00")
}

func TestWhatCannotBeShown(t *testing.T) {
	tab := show(t, `<button>Here</button><button id=hid>Hidden later</button>`, 1)
	found := refs(t, tab, 2)
	browsertest.JS(t, tab, "(hid.hidden = true, 1)")
	for _, tt := range []struct {
		name string
		opts screenshot.Options
		want error
		text string
	}{
		{
			"full page of an element",
			screenshot.Options{FullPage: true, Ref: "e1"},
			page.ErrInvalid,
			"fullPage is not supported for element screenshots",
		},
		{
			"full page of a selector",
			screenshot.Options{FullPage: true, Element: "p"},
			page.ErrInvalid,
			"fullPage is not supported for element screenshots",
		},
		{"unknown ref", screenshot.Options{Ref: "e99"}, page.ErrUnknownRef, "Unknown ref e99"},
		{"no ref at all", screenshot.Options{Ref: "nonsense"}, nil, "nonsense"},
		{"no match", screenshot.Options{Element: ".none"}, page.ErrNotInteractable, "not found"},
		{"no selector", screenshot.Options{Element: "[["}, page.ErrInvalid, "not a CSS selector"},
		{"hidden", screenshot.Options{Ref: found["Hidden later"].Ref}, page.ErrNotInteractable, "not visible"},
	} {
		start := time.Now()
		_, err := screenshot.TakeScreenshot(browsertest.Within(t, browsertest.Patience), tab, tt.opts)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, err, tt.want, tt.text)
		}
		if d := time.Since(start); d > 9*time.Second {
			t.Errorf("%s: it took %s", tt.name, d)
		}
	}
}

func TestPictureDoesNotWaitForAnAction(t *testing.T) {
	tab := show(t, `<body style="background:#00ff00">`, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "() => { window.begun = true; return new " +
			"Promise(() => {}) }", TimeoutMs: 60000})
		done <- err
	}()
	browsertest.Eventually(t, "the action to begin", func() bool {
		res, err := cdp.Ask[proto.RuntimeEvaluateResult](t.Context(), tab.MainFrame().Session,
			proto.RuntimeEvaluate{Expression: "window.begun === true", ReturnByValue: true})
		check.Must(t, err)
		return res.Result.Value.Bool()
	})
	_, img := shoot(t, tab, screenshot.Options{})
	wantColor(t, img, 5, 5, "#00ff00")
	select {
	case err := <-done:
		t.Errorf("the action ended: %v", err)
	default:
	}
	cancel()
	check.Fails(t, <-done, context.Canceled)
}

func TestPictureEndsWithItsReason(t *testing.T) {
	tab := show(t, `<button>B</button>`, 1)
	stopped := errors.New("stopped by ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for _, o := range []screenshot.Options{{}, {FullPage: true}} {
		check.Fails(t, check.Err(screenshot.TakeScreenshot(ctx, tab, o)), stopped)
	}
	res, err := tab.Act(browsertest.Within(t, browsertest.Patience),
		page.Action{Kind: actiontable.KindEvaluate, Fn: "alert(1)"})
	check.Must(t, err)
	var dialog *page.DialogError
	for _, o := range []screenshot.Options{{}, {FullPage: true}} {
		if _, err := screenshot.TakeScreenshot(browsertest.Within(t, browsertest.Patience), tab, o); !res.BlockedByDialog ||
			!errors.As(err, &dialog) {
			t.Errorf("behind a dialog: got %v", err)
		}
	}
	check.Must(t, tab.AnswerDialog(browsertest.Within(t, browsertest.Patience), true, ""))
	check.Must(t, tab.Close(browsertest.Within(t, browsertest.Patience)))
	check.Fails(t, check.Err(screenshot.TakeScreenshot(browsertest.Within(t, browsertest.Patience), tab,
		screenshot.Options{})),
		page.ErrTabGone)
}

func TestNoPictureOfACrashedPage(t *testing.T) {
	// Chromium does not always survive it, so this one is of no other test.
	b := browsertest.Connect(t, browsertest.Launch(t), page.Options{})
	tab := openIn(t, b, "about:blank")
	tab.MainFrame().Post(proto.PageCrash{})
	<-crashed(t, tab)
	_, err := screenshot.TakeScreenshot(browsertest.Within(t, browsertest.Patience), tab,
		screenshot.Options{FullPage: true})
	if !errors.Is(err, page.ErrTabCrashed) && !errors.Is(err, page.ErrBrowserGone) {
		t.Errorf("got %v", err)
	}
}

// crashed waits until the tab has crashed and returns a closed channel.
func crashed(t *testing.T, tab *page.Tab) <-chan struct{} {
	t.Helper()
	browsertest.Eventually(t, "the page crashed", func() bool { return tab.Err() != nil })
	done := make(chan struct{})
	close(done)
	return done
}

func TestPDF(t *testing.T) {
	tab := show(t, `<body style="background:#ff0000"><h1>Paper</h1>`, 1)
	data, err := screenshot.PrintPDF(browsertest.Within(t, 30*time.Second), tab)
	check.Must(t, err)
	if !strings.HasPrefix(string(data), "%PDF-") || !strings.Contains(string(data), "/MediaBox [0 0 59") &&
		!strings.Contains(string(data), "/MediaBox [0 0 595") {
		t.Errorf("got %d bytes that begin with %.20q", len(data), data)
	}
}

func TestHighlightShowsForAWhile(t *testing.T) {
	tab := show(t, `<div style="height:1500px"></div><button id=b style="outline:0">B</button>
		<script>window.changes=0; new MutationObserver(() => changes++).observe(document,{subtree:true,attributes:true,childList:true})</script>`, 1)
	found := refs(t, tab, 1)
	want, got := `"rgb(255, 69, 0) solid 3px / 2px"`, ""
	for tries := 0; tries < 5 && got != want; tries++ { // it shows for two seconds, which a busy machine may miss
		check.Must(t, screenshot.Highlight(browsertest.Within(t, browsertest.Patience), tab, found["B"].Ref))
		got = browsertest.JS(t, tab, "getComputedStyle(b).outline + ' / ' + getComputedStyle(b).outlineOffset")
	}
	check.Equal(t, "outline", got, want)
	browsertest.JS(t, tab, "Promise.all(b.getAnimations().map(a => a.finished)).then(() => 1)")
	browsertest.WantJS(t, tab, "getComputedStyle(b).outlineStyle + changes + b.getAnimations().length", `"none00"`)
	for ref, want := range map[string]error{"e99": page.ErrUnknownRef, "": page.ErrInvalid} {
		if err := screenshot.Highlight(browsertest.Within(t, browsertest.Patience), tab, ref); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", ref, err, want)
		}
	}
}

const labelled = `<style>body{height:600px;background:#fff} button{position:absolute;border:0;padding:0;width:121px;height:45px;background:#0000ff;color:#00f}</style>
	<button style="left:33px;top:51px">One</button><button style="left:201px;top:203px">Two</button><button style="left:60px;top:500px">Below</button>
	<button id=gone style="left:200px;top:20px">Gone</button><button id=hid style="left:270px;top:120px">Hid</button>`

// blue returns the bounding box of the blue pixels in an area.
func blue(img image.Image, area image.Rectangle) image.Rectangle {
	var found image.Rectangle
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); b>>8 > 180 && r>>8 < 90 && g>>8 < 90 {
				found = found.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return found
}

// wantBox compares an annotation with the drawn box, to one pixel. plain is the same picture without labels.
func wantBox(t *testing.T, plain image.Image, a screenshot.Annotation) {
	t.Helper()
	if got, ok := drawnAt(plain, a); !ok {
		t.Errorf("%s: the box is %+v, but the element is drawn at %v", a.Name, a.Box, got)
	}
}

// drawnAt returns where an element is drawn, and whether that is its box.
func drawnAt(plain image.Image, a screenshot.Annotation) (got image.Rectangle, ok bool) {
	b := a.Box
	box := image.Rect(b.X, b.Y, b.X+b.Width, b.Y+b.Height)
	got = blue(plain, box.Inset(-12).Intersect(plain.Bounds()))
	off := func(p, q int) bool { return math.Abs(float64(p-q)) > 1 }
	return got, !off(got.Min.X, box.Min.X) && !off(got.Min.Y, box.Min.Y) &&
		!off(got.Max.X, box.Max.X) && !off(got.Max.Y, box.Max.Y)
}

func TestLabelsAreWhereTheElementsAre(t *testing.T) {
	for _, dpr := range []float64{1, 3} {
		t.Run(fmt.Sprintf("dpr %g", dpr), func(t *testing.T) {
			tab := show(t, labelled, dpr)
			size(t, tab, 400, 300, dpr, false)
			found := refs(t, tab, 5)
			browsertest.JS(t, tab, "(gone.remove(), hid.style.visibility = 'hidden', scrollTo(0, 17), 1)")
			labels := []screenshot.Label{
				found["One"], found["Two"], found["Below"], found["Gone"], found["Hid"],
				{Ref: "rubbish"},
				{},
			}
			before := browsertest.JS(t, tab, geometry+"+document.documentElement.outerHTML")
			for _, tt := range []struct {
				name    string
				opts    screenshot.Options
				drawn   []string
				skipped int
			}{
				{"viewport", screenshot.Options{}, []string{"One", "Two"}, 5},
				{"full page", screenshot.Options{FullPage: true}, []string{"One", "Two", "Below"}, 4},
				{"element", screenshot.Options{Element: "body > button"}, []string{"One"}, 6},
			} {
				_, plain := shoot(t, tab, tt.opts)
				tt.opts.Labels = labels
				shot, img := shoot(t, tab, tt.opts)
				if shot.Drawn != len(tt.drawn) || shot.Skipped != tt.skipped || len(shot.Annotations) != 4 || shot.Truncated {
					t.Errorf("%s: got %d drawn, %d skipped, %d listed", tt.name, shot.Drawn, shot.Skipped, len(shot.Annotations))
				}
				for _, a := range shot.Annotations {
					for _, name := range tt.drawn {
						if a.Name != name {
							continue
						}
						wantBox(t, plain, a)
						wantColor(t, img, a.Box.X+1, max(a.Box.Y-3, 1), "#ffb020")
						if a.Role != "button" || "e"+strconv.Itoa(a.Number) != a.Ref {
							t.Errorf("got annotation %+v", a)
						}
					}
				}
				if after := browsertest.JS(t, tab, geometry+"+document.documentElement.outerHTML"); after != before {
					t.Errorf("%s: the page changed", tt.name)
				}
			}
		})
	}
}

func TestLabelsOfAPinchedPageAndItsFrames(t *testing.T) {
	tab := open(t, "")
	size(t, tab, 390, 664, 2, true)
	browsertest.Navigate(t, tab, site(t, map[string]string{
		"/": labelled + `<iframe style="position:absolute;left:40px;top:150px;width:200px;height:120px;border:4px solid;padding:3px" src="HOST/far"></iframe>`,
		"/far": `<style>button{position:absolute;border:0;padding:0;left:21px;top:31px;width:60px;height:20px;background:#0000ff;color:#00f}</style>
			<button>Far</button><button style="top:500px">Deep</button>`,
	}))
	found := refs(t, tab, 7)
	labels := []screenshot.Label{found["One"], found["Far"], found["Deep"]}
	for _, scale := range []float64{1, 1.6} {
		check.Must(t, tab.MainFrame().Do(browsertest.Within(t, browsertest.Patience),
			proto.EmulationSetPageScaleFactor{PageScaleFactor: scale}))
		browsertest.Eventually(t, "the page has that scale", func() bool {
			return browsertest.JS(t, tab, "visualViewport.scale.toFixed(2)") == fmt.Sprintf(`"%.2f"`, scale)
		})
		before := browsertest.JS(t, tab, geometry)
		for _, o := range []screenshot.Options{{}, {FullPage: true}, {Ref: found["One"].Ref}} {
			bare := o
			o.Labels = labels
			shot, _ := shoot(t, tab, o)
			for _, a := range shot.Annotations {
				if a.Name == "One" || a.Name == "Far" && o.Ref == "" {
					browsertest.Eventually(t, a.Name+" is drawn in its box", func() bool { // the frame may be drawn late
						_, plain := shoot(t, tab, bare)
						_, ok := drawnAt(plain, a)
						return ok
					})
				}
			}
			want := 2
			if o.Ref != "" {
				want = 1
			}
			if shot.Drawn != want || len(shot.Annotations) != 3 {
				t.Errorf("scale %g, %+v: got %d drawn of %d", scale, o.FullPage, shot.Drawn, len(shot.Annotations))
			}
		}
		check.Equal(t, fmt.Sprintf("scale %g: geometry afterwards", scale), browsertest.JS(t, tab, geometry), before)
	}
}

func TestAtMostSoManyLabels(t *testing.T) {
	tab := show(t, strings.Repeat("<button>x</button>", 180), 1)
	snap, err := tab.Snapshot(browsertest.Within(t, browsertest.Patience), page.SnapshotOptions{})
	check.Must(t, err)
	var labels []screenshot.Label
	for _, r := range snap.Refs() {
		labels = append(labels, screenshot.Label{Ref: r.Ref, Role: r.Role, Name: r.Name})
	}
	shot, _ := shoot(t, tab, screenshot.Options{Labels: labels})
	if !shot.Truncated || shot.Drawn != screenshot.MaxLabels || len(shot.Annotations) != screenshot.MaxLabels {
		t.Errorf("got %d drawn, truncated %t", shot.Drawn, shot.Truncated)
	}
	shot, _ = shoot(t, tab, screenshot.Options{Labels: []screenshot.Label{}})
	if shot.Annotations == nil || shot.Drawn != 0 || shot.Skipped != 0 {
		t.Errorf("no labels: got %+v", shot.Annotations)
	}
}
