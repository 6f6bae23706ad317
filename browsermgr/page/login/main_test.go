package login_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/login"
	"clank/browsermgr/page/screenshot"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

const word = "correct-horse-battery"

// keeper is the Filler of all tests. They fill in the same word, for different origins.
var (
	keeper  login.Filler
	manager *browsermgr.Manager
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	manager = &browsermgr.Manager{
		Home: dir, FirstPort: 18910, LastPort: 18929, Secrets: &keeper,
		Config: func() profile.Config {
			return profile.Config{Headless: new(true), NoSandbox: true}
		},
	}
	ctx := context.Background()
	if err := manager.Open(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		_ = manager.Close(ctx)
	}()
	return m.Run()
}

// site serves pages by path; OTHER in them is the server under the name of another site.
func site(tb testing.TB, pages map[string]string) string {
	tb.Helper()
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, "<!doctype html><meta charset=utf-8><title>Test</title>"+
			strings.ReplaceAll(pages[r.URL.Path], "OTHER", browsertest.LocalhostURL(r)))
	}).URL
}

// idle is a window left by one test for the next: opening one takes three times as long as a navigation.
var idle *browsermgr.Window

// open opens an address in a tab that no other test uses meanwhile.
func open(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	ctx := browsertest.Within(tb, time.Minute)
	w := idle
	if idle = nil; w == nil {
		var err error
		w, _, err = manager.Window(ctx, browsermgr.WindowOptions{Key: rand.Text(), Ephemeral: true})
		check.Must(tb, err)
	}
	tb.Cleanup(func() {
		if idle != nil || tb.Failed() {
			_ = w.Close(context.Background())
			return
		}
		idle = w
	})
	var tab *page.Tab
	check.Must(tb, w.WithTab(ctx, func(t *page.Tab) error { tab = t; return nil }))
	browsertest.Navigate(tb, tab, url)
	// Frames are part of what is waited for.
	check.Must(tb,
		check.Err(tab.Act(ctx, page.Action{Kind: actiontable.KindWait, LoadState: "load", TimeoutMs: 60_000})))
	return tab
}

// show opens a tab with one page and returns its origin.
func show(tb testing.TB, html string) (tab *page.Tab, origin string) {
	tb.Helper()
	origin = site(tb, map[string]string{"/": html})
	return open(tb, origin+"/"), origin
}

// js evaluates an expression in the page.
func js(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	res, err := tab.Act(browsertest.Within(tb, 30*time.Second),
		page.Action{Kind: actiontable.KindEvaluate, Fn: expression})
	check.Must(tb, err)
	var s string
	if err := json.Unmarshal(res.Value, &s); err != nil {
		return string(res.Value)
	}
	return s
}

// secret is the secret of an entry.
type secret struct{ user, pass string }

func (s secret) Username() string { return s.user }
func (s secret) Password() string { return s.pass }

// request returns a request to fill in a login for origins, and counts how often the secret was revealed.
func request(revealed *int, origins ...string) login.FillRequest {
	var mu sync.Mutex
	return login.FillRequest{
		Name: "shop", Origins: origins,
		Reveal: func(_ context.Context, origin string) (login.Secret, error) {
			mu.Lock()
			defer mu.Unlock()
			*revealed++
			if slices.Contains(origins, origin) {
				return secret{"ada", word}, nil
			}
			return nil, errors.New("revealed for " + origin)
		},
	}
}

func fill(tb testing.TB, tab *page.Tab, origins ...string) (login.FillResult, error) {
	tb.Helper()
	n := 0
	return keeper.Fill(browsertest.Within(tb, time.Minute), tab, request(&n, origins...))
}

// covered returns the fraction of an area of a picture that has the colour of masks.
func covered(tb testing.TB, data []byte, r image.Rectangle) float64 {
	tb.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	check.Must(tb, err)
	if r.Empty() || !r.In(img.Bounds()) {
		tb.Fatalf("%v is not in the picture of %v", r, img.Bounds())
	}
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c, ok := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			if ok && near(c.R) && near(c.G) && near(c.B) {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}

func near(v uint8) bool { return v > 0x58 && v < 0x68 }

// boxOf returns the position of an element in the viewport.
func boxOf(tb testing.TB, tab *page.Tab, expression string) image.Rectangle {
	tb.Helper()
	var r image.Rectangle
	text := js(tb, tab, `() => { const b = (`+expression+
		`).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom].map(Math.round).join(' ') }`)
	if _, err := fmt.Sscan(text, &r.Min.X, &r.Min.Y, &r.Max.X, &r.Max.Y); err != nil {
		tb.Fatalf("%q: %v", text, err)
	}
	return r
}

const echoing = `<style>body{margin:20px;font:16px monospace}</style><form><input name=user><input id=p type=password style="width:300px"></form>
	<p id=before>Nothing to hide</p><div style="height:40px"></div><p><span id=echo></span></p><textarea id=area style="width:300px"></textarea>
	<p><span id=shut style="display:inline-block"></span></p>
	<p><x-shut id=nested style="display:inline-block"></x-shut></p>
	<div style="height:1200px"></div><p><b id=low></b></p>`

// echo makes the page show the password.
const echo = `() => {
	p.type = 'text';
	echo.textContent = p.value; area.value = 'it is ' + p.value; low.textContent = p.value;
	const close = (host) => host.attachShadow({mode: 'closed'});
	close(shut).innerHTML = '<span>' + echo.innerHTML + '</span>';
	const outer = close(nested);
	outer.innerHTML = '<div></div>';
	close(outer.firstChild).innerHTML = '<b>' + echo.innerHTML + '</b>';
}`

func TestPicturesDoNotShowWhatWasFilledIn(t *testing.T) {
	tab, origin := show(t, echoing)
	check.Must(t, check.Err(fill(t, tab, origin)))
	js(t, tab, echo)
	for _, format := range []string{"png", "jpeg"} {
		data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{Format: format})
		check.Must(t, err)
		for _, id := range []string{"p", "echo", "area", "shut", "nested"} {
			if got := covered(t, data, boxOf(t, tab, id)); got < 0.99 {
				t.Errorf("%s: %.0f %% of #%s is covered", format, 100*got, id)
			}
		}
		if got := covered(t, data, boxOf(t, tab, "before")); got > 0.2 {
			t.Errorf("%s: %.0f %% of what is no secret is covered", format, 100*got)
		}
	}
	js(t, tab, `() => scrollTo(0, 3000)`)
	data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{Format: "png"})
	check.Must(t, err)
	if got := covered(t, data, boxOf(t, tab, "low")); got < 0.99 {
		t.Errorf("scrolled: %.0f %% is covered", 100*got)
	}
	whole, err := screenshot.TakeScreenshot(browsertest.Within(t, time.Minute), tab, screenshot.Options{FullPage: true})
	check.Must(t, err)
	for _, id := range []string{"p", "echo", "low"} {
		if got := covered(t, whole.Data, boxOf(t, tab, id).Add(image.Pt(0, scrolled(t, tab)))); got < 0.95 {
			t.Errorf("full page: %.0f %% of #%s is covered", 100*got, id)
		}
	}
	one, err := screenshot.TakeScreenshot(browsertest.Within(t, time.Minute), tab, screenshot.Options{Element: "#p"})
	check.Must(t, err)
	if got := covered(t, one.Data, image.Rect(0, 0, one.Width, one.Height)); got < 0.95 {
		t.Errorf("element: %.0f %% is covered", 100*got)
	}
	check.Fails(t, check.Err(screenshot.PrintPDF(browsertest.Within(t, time.Minute), tab)), nil, "secret")
	check.Fails(t, check.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{Format: "webp"})), nil, "use png or jpeg")
}

func scrolled(tb testing.TB, tab *page.Tab) int {
	tb.Helper()
	var n int
	check.Must(tb, check.Err(fmt.Sscan(js(tb, tab, `() => Math.round(scrollY)`), &n)))
	return n
}

func TestPicturesDoNotShowWhatTheNextPageRepeats(t *testing.T) {
	url := site(t, map[string]string{
		"/":     form,
		"/next": `<p>Your password is <span id=echo></span></p><script>echo.textContent = decodeURIComponent(location.hash.slice(1))</script>`,
	})
	tab := open(t, url+"/")
	check.Must(t, check.Err(fill(t, tab, url)))
	browsertest.Navigate(t, tab, url+"/next#"+word)
	data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{})
	check.Must(t, err)
	if got := covered(t, data, boxOf(t, tab, "echo")); got < 0.99 {
		t.Errorf("%.0f %% is covered", 100*got)
	}
}

func TestPicturesDoNotShowWhatAnEarlierRunFilledIn(t *testing.T) {
	tab, origin := show(t, `<p><span id=it>correct-staple-horse</span></p>`)
	keeper.Remember([]string{origin}, "correct-staple-horse")
	data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{Format: "png"})
	check.Must(t, err)
	if got := covered(t, data, boxOf(t, tab, "it")); got < 0.9 {
		t.Errorf("%.0f %% is covered", 100*got)
	}
	check.Fails(t, do(t, tab, press("Control+a"), press("Control+c")), page.ErrSecret)
}

// A page may show the password in other ways than as one piece of text.
func TestPicturesDoNotShowThePasswordInDisguise(t *testing.T) {
	tab, origin := show(t, `<style>body{margin:20px;font:16px monospace} x-y{display:block}</style><form><input name=user><input id=p type=password></form>
		<p id=before>Nothing to hide</p><select id=other><option>Nothing here</option></select><br><div id=shown></div>`)
	check.Must(t, check.Err(fill(t, tab, origin)))
	for name, fn := range map[string]string{
		"alternative text":  "shown.innerHTML = '<img id=it width=300 height=30>'; it.alt = p.value",
		"an option":         "shown.innerHTML = '<select id=it><option>'; it.options[0].text = p.value",
		"an option's label": "shown.innerHTML = '<select id=it><option>'; it.options[0].label = 'Use ' + p.value",
		"a list of options": "shown.innerHTML = '<select id=it size=3><option>a<option>'; it.options[1].text = p.value",
		"zero-width spaces": `shown.innerHTML = '<span id=it>'; it.textContent = [...p.value].join('\u200b')`,
		"soft hyphens":      `shown.innerHTML = '<span id=it>'; it.textContent = [...p.value].join('\u00ad')`,
		"spaces":            `shown.innerHTML = '<span id=it>'; it.textContent = [...p.value].join(' ')`,
		"elements": "shown.innerHTML = '<span id=it></span>'; for (const c of p.value) " +
			"it.append(Object.assign(document.createElement('b'), {textContent: c}))",
		"backwards":           "shown.innerHTML = '<span id=it>'; it.textContent = [...p.value].reverse().join('')",
		"base64":              "shown.innerHTML = '<span id=it>'; it.textContent = btoa(p.value)",
		"base64 with a user":  "shown.innerHTML = '<span id=it>'; it.textContent = btoa('ada:' + p.value)",
		"base64, two further": "shown.innerHTML = '<span id=it>'; it.textContent = btoa('no' + p.value + '!')",
		"hex": "shown.innerHTML = '<span id=it>'; it.textContent = [...p.value].map((c) => " +
			"c.charCodeAt().toString(16)).join(' ')",
		"an address": "shown.innerHTML = '<span id=it>'; it.textContent = '/?p=' + encodeURIComponent(p.value)",
	} {
		js(t, tab, `() => { `+fn+`; return '' }`)
		data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{Format: "png"})
		check.Must(t, err)
		if got := covered(t, data, boxOf(t, tab, "it")); got < 0.9 {
			t.Errorf("%s: %.0f %% is covered", name, 100*got)
		}
		for _, id := range []string{"before", "other"} {
			if got := covered(t, data, boxOf(t, tab, id)); got > 0.2 {
				t.Errorf("%s: %.0f %% of #%s, which is no secret, is covered", name, 100*got, id)
			}
		}
	}
}

func TestPicturesDoNotShowWhatWasFilledIntoAFrame(t *testing.T) {
	in := `<style>body{margin:0}</style><form><input name=user style="width:100px"><input type=password style="width:200px;height:30px" oninput="this.type = 'text'"></form>`
	port := site(t, map[string]string{"/in": in})
	for _, inner := range []string{"OTHER", port} { // of another process, and of another origin in the same
		url := site(t, map[string]string{
			"/": `<style>body{margin:0}iframe{position:absolute;left:100px;top:80px;width:500px;height:200px;border:5px solid;padding:7px}</style><iframe src="/mid"></iframe>`,
			"/mid": `<style>body{margin:0}iframe{margin:11px;width:400px;height:100px}</style><iframe src="` + inner +
				`/in"></iframe>`,
			"/in": in,
		})
		tab := open(t, url+"/")
		origin := strings.Replace(inner, "OTHER", strings.Replace(url, "127.0.0.1", "localhost", 1), 1)
		check.Must(t, check.Err(fill(t, tab, origin, url)))
		data, err := tab.Screenshot(browsertest.Within(t, time.Minute), page.ScreenshotOptions{})
		check.Must(t, err)
		left, top := 100+5+7+11+2+130, 80+5+7+11+2+5 // a place well inside of the field
		if got := covered(t, data, image.Rect(left, top, left+100, top+20)); got < 0.99 {
			t.Errorf("%s: %.0f %% is covered", inner, 100*got)
		}
	}
}

func TestTheLiveViewDoesNotShowWhatWasFilledIn(t *testing.T) {
	tab, origin := show(t, echoing)
	check.Must(t, check.Err(fill(t, tab, origin)))
	js(t, tab, echo)
	check.Fails(t, check.Err(tab.MaskImage(browsertest.Within(t, time.Minute), plain(t, tab), viewWidth(t, tab), 1)),
		nil, "areas to cover", "try again")
	for range 2 {
		data, err := tab.Capture(browsertest.Within(t, time.Minute), 30*time.Second, jpegRequest())
		check.Must(t, err)
		veiled, err := tab.MaskImage(browsertest.Within(t, time.Minute), plain(t, tab), viewWidth(t, tab), 1)
		check.Must(t, err)
		for _, id := range []string{"p", "echo", "area"} {
			if a, b := covered(t, data, boxOf(t, tab, id)), covered(t, veiled, boxOf(t, tab, id)); a < 0.95 || b < 0.95 {
				t.Errorf("%.0f %% and %.0f %% of #%s are covered", 100*a, 100*b, id)
			}
		}
	}
}

func TestAPageThatCannotBeAskedIsNotShown(t *testing.T) {
	tab, origin := show(t, echoing)
	check.Must(t, check.Err(fill(t, tab, origin)))
	ctx, cancel := context.WithTimeout(browsertest.Within(t, time.Minute), 2*time.Second)
	defer cancel()
	js(t, tab, `() => { setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 0) }`)
	check.Fails(t, check.Err(tab.Screenshot(ctx, page.ScreenshotOptions{})), context.DeadlineExceeded,
		"what the picture must not show")
}

// viewWidth returns the width of the viewport in CSS pixels.
func viewWidth(tb testing.TB, tab *page.Tab) float64 {
	tb.Helper()
	var n float64
	check.Must(tb, check.Err(fmt.Sscan(js(tb, tab, `() => innerWidth`), &n)))
	return n
}

func jpegRequest() proto.PageCaptureScreenshot {
	return proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatJpeg}
}

// plain returns a picture as Chromium takes it, without masks.
func plain(tb testing.TB, tab *page.Tab) []byte {
	tb.Helper()
	res, err := cdp.Ask[proto.PageCaptureScreenshotResult](browsertest.Within(tb, time.Minute), tab.MainFrame().Session,
		jpegRequest())
	check.Must(tb, err)
	return res.Data
}

// A picture that ends early does not keep the next one from asking for closed shadow roots.
func TestPicturesHideClosedTreesAfterOneThatEndedEarly(t *testing.T) {
	const html = `<p id=it>Light</p><script>
		it.attachShadow({mode: 'closed'}).innerHTML = '<b>correct-staple-mare</b>'</script>`
	tab, origin := show(t, html)
	keeper.Remember([]string{origin}, "correct-staple-mare")
	for limit := 200 * time.Microsecond; ; limit += limit / 10 {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, early := keeper.HiddenAreas(ctx, tab)
		cancel()
		areas, err := keeper.HiddenAreas(browsertest.Within(t, time.Minute), tab)
		if err != nil || len(areas) != 1 {
			t.Fatalf("after one that had %v (%v): got %v, %v", limit, early, areas, err)
		}
		if early == nil {
			return
		}
		browsertest.Navigate(t, tab, origin)
	}
}
