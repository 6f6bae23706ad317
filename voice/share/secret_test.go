package share_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/login"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/videosource"
	"clank/voice/share"

	"golang.org/x/image/webp"
)

const (
	password = "correct-horse-battery"
	code     = "493017"
)

// pages are those of a site that shows what is filled into it as openly as a page can: in ink, which nothing else has,
// and whatever the type of the field was. OTHER is the same server as another site.
var pages = map[string]string{
	"/plain": `<p>` + password + `</p>`,
	"/login": `<form><input name=user value=a style="color:#000"><input id=p type=password oninput="this.type='text'; said.textContent = this.value; letters()"></form>
		<p id=said></p><p id=spread></p><div style="height:3000px"></div><p id=low></p>
		<script>const letters = () => { spread.innerHTML = [...p.value].map((c) => "<b>" + c + "</b>").join(""); low.textContent = p.value }</script>`,
	"/code":  `<form><input name=otp autocomplete=one-time-code></form>`,
	"/split": `<form>` + strings.Repeat(`<input inputmode=numeric maxlength=1 style="width:40px">`, len(code)) + `</form>`,
	"/frame": `<iframe src="OTHER/login" style="width:700px;height:300px"></iframe>`,
	"/next":  `<p id=said>nothing</p><script>said.textContent = decodeURIComponent(location.hash.slice(1))</script>`,
}

const ink = `<style>body,input{font:bold 40px monospace;color:#f0f} input{width:700px}</style>`

// cinema shows the page of a window in a share, and looks at each frame as whoever watches does.
type cinema struct {
	window *browsermgr.Window
	keeper *login.Filler
	origin string // of the site
	source *videosource.Source
	done   sync.WaitGroup

	mu     sync.Mutex
	tab    *page.Tab
	frames [2]int   // screenshots, pictures of the screencast
	leaks  []string // what kind those with ink were, and their addresses
}

func (c *cinema) look(f videosource.Frame) {
	kind, decode, data := 0, webp.Decode, asWebP(f.Data)
	if f.JPEG {
		kind, decode, data = 1, jpeg.Decode, f.Data
	}
	img, err := decode(bytes.NewReader(data))
	inked := err != nil || inkIn(img)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames[kind]++
	if inked {
		c.leaks = append(c.leaks, fmt.Sprintf("%d%s %v", kind, f.URL, err))
	}
}

func asWebP(vp8 []byte) []byte {
	part := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(12+len(vp8)))
	part = append(part, "WEBPVP8 "...)
	part = binary.LittleEndian.AppendUint32(part, uint32(len(vp8)))
	return append(part, vp8...)
}

// inkIn reports whether there is ink in a picture. Its strokes are wider than the pixels that are left out.
func inkIn(img image.Image) bool {
	p, lossy := img.(*image.YCbCr)
	for y := 0; lossy && y < p.Rect.Max.Y; y += 2 {
		for x := 0; x < p.Rect.Max.X; x += 2 {
			c := p.YCbCrAt(x, y)
			if r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr); r > 180 && b > 180 && g < 120 {
				return true
			}
		}
	}
	return false
}

// taken returns how many frames were seen of each kind, and which of them showed ink.
func (c *cinema) taken() (frames [2]int, leaks []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames, slices.Clone(c.leaks)
}

// sees waits for some more frames of each kind: pictures of what is on the page by now are among them, as it is made to
// be drawn anew. It is again once both kinds have come, or one is late: pictures of the screencast come ten times as
// fast.
func (c *cinema) sees(t *testing.T, n int) {
	t.Helper()
	before, _ := c.taken()
	want, drawn := before, time.Time{}
	browsertest.Eventually(t, "more frames", func() bool {
		now, _ := c.taken()
		switch came := now[0] >= want[0] && now[1] >= want[1]; {
		case now[0] >= before[0]+n && now[1] >= before[1]+n:
			return true
		case came || time.Since(drawn) > time.Second:
			want, drawn = [2]int{now[0] + 1, now[1] + 1}, time.Now()
			browsertest.JS(t, c.tab, `() => {
				globalThis.lamp ??= document.documentElement.appendChild(document.createElement("div"));
				lamp.style.cssText = "position: fixed; bottom: 0; right: 0; width: 9px; height: 9px";
				lamp.style.background = "hsl(" + 360 * Math.random() + " 20% 90%)";
			}`)
		}
		return false
	})
}

func (c *cinema) open(t *testing.T, url string) *page.Tab {
	t.Helper()
	ctx := browsertest.Within(t, browsertest.Patience)
	check.Must(t, check.Err(c.window.Act(ctx, "navigate", map[string]any{"url": url})))
	var tab *page.Tab
	check.Must(t, c.window.WithTab(ctx, func(t *page.Tab) error { tab = t; return nil }))
	c.tab = tab
	return tab
}

type entry struct{}

func (entry) Username() string { return "ada" }
func (entry) Password() string { return password }

func (c *cinema) fill(t *testing.T, tab *page.Tab, origins ...string) {
	t.Helper()
	_, err := c.keeper.Fill(browsertest.Within(t, browsertest.Patience), tab, login.FillRequest{
		Name: "shop", Origins: origins, Reveal: func(context.Context, string) (login.Secret, error) { return entry{}, nil },
	})
	check.Must(t, err)
}

func (c *cinema) fillCode(t *testing.T, tab *page.Tab) {
	t.Helper()
	give := func(context.Context, string) (string, error) { return code, nil }
	if _, err := c.keeper.FillCode(browsertest.Within(t, browsertest.Patience), tab, "shop", []string{c.origin}, len(code),
		give); err != nil {
		t.Fatal(err)
	}
}

func openCinema(t *testing.T) *cinema {
	t.Helper()
	c := &cinema{keeper: &login.Filler{}}
	server := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, browsertest.Head+ink+strings.ReplaceAll(pages[r.URL.Path], "OTHER", browsertest.LocalhostURL(r)))
	})
	c.origin = server.URL
	dir, err := os.MkdirTemp("", "clank") //nolint:usetesting // sockets of the browser want a short path
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	browsers := &browsermgr.Manager{
		Home: dir, FirstPort: 18640, LastPort: 18649, Secrets: c.keeper,
		Config: func() profile.Config {
			return profile.Config{Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
		},
	}
	check.Must(t, browsers.Open(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		_ = browsers.Close(ctx)
	})
	w, _, err := browsers.Window(browsertest.Within(t, 2*browsertest.Patience),
		browsermgr.WindowOptions{Key: "s1", URL: c.origin + "/plain"})
	check.Must(t, err)
	c.window = w
	if _, err := w.Act(browsertest.Within(t, browsertest.Patience), "resize",
		map[string]any{"width": 720, "height": 400}); err != nil {
		t.Fatal(err)
	}
	c.share(t)
	return c
}

// share begins a share of the window, and watches it.
func (c *cinema) share(t *testing.T) {
	t.Helper()
	h := newHall(t, &stage{name: "the page"})
	h.screen = func(context.Context) (videosource.Screenshotter, error) { return c.window, nil }
	h.NewSource = func() *videosource.Source {
		return &videosource.Source{ActiveFPS: 30, IdleFPS: 30, MaxLoad: 1, Heartbeat: time.Hour}
	}
	h.share(t, call, "s1", ada)
	st, _ := h.Current(call)
	watch, ok := h.Watch(st.ID)
	if !ok {
		t.Fatal("there is no share")
	}
	c.source = watch.Source
	for _, format := range []videosource.Format{videosource.KeyFrames, videosource.JPEG} {
		v := c.source.SubscribeTo(format)
		c.done.Go(func() {
			for f := range v.Frames() {
				c.look(f)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := h.Stop(context.Background(), share.CallRef{ID: call.ID}, home); err != nil {
			t.Error(err)
		}
		c.done.Wait()
	})
}

func TestASharedFrameNeverShowsWhatWasFilledIn(t *testing.T) {
	c := openCinema(t)
	browsertest.Eventually(t, "ink in each kind of frame where nothing was filled in", func() bool {
		_, leaks := c.taken()
		seen := strings.Join(leaks, " ")
		return strings.Contains(seen, "0http") && strings.Contains(seen, "1http")
	})
	c.open(t, "about:blank")
	c.sees(t, 2)
	_, known := c.taken()
	for _, step := range []struct {
		name string
		does func()
	}{
		{"where it is filled in and shown, moves, and is cut", func() {
			tab := c.open(t, c.origin+"/login")
			c.fill(t, tab, c.origin)
			c.sees(t, 1)
			browsertest.JS(t, tab, `() => scrollTo({top: 3000, behavior: 'smooth'})`)
			c.sees(t, 2)
			browsertest.JS(t, tab, `() => { said.remove(); spread.remove(); low.remove(); p.value = p.value.slice(2); scrollTo(0, 0) }`)
		}},
		{"on the next page, which repeats it", func() { c.open(t, c.origin+"/next#"+password) }},
		{"in a field for a code", func() { c.fillCode(t, c.open(t, c.origin+"/code")) }},
		{"in fields for one digit each", func() { c.fillCode(t, c.open(t, c.origin+"/split")) }},
		{"in a frame of another site", func() {
			c.fill(t, c.open(t, c.origin+"/frame"), c.origin, strings.Replace(c.origin, "127.0.0.1", "localhost", 1))
		}},
	} {
		step.does()
		c.sees(t, 2) // the second was begun after the first had come
		_, now := c.taken()
		if len(now) > len(known) {
			t.Errorf("%s: %d frames show it: %v", step.name, len(now)-len(known), now[len(known):])
		}
		known = now
	}
}
