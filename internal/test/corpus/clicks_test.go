package corpus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/computeruse"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/corpus"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

// screen is a window as computer use works with it.
type screen struct{ *browsermgr.Window }

func (s screen) Open(context.Context, sessions.PageRequest) (sessions.Page, string, error) {
	return s.Window, "", nil
}

func (screen) Rest(string) {}

func (screen) Close(context.Context, string) error { return nil }

func (screen) Park(context.Context, string, bool) (bool, error) { return true, nil }

// window opens a window of a browser of its own, whose screen has factor pixels for each CSS pixel.
func window(t *testing.T, url string, factor float64) *browsermgr.Window {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	headless := true
	m := &browsermgr.Manager{Home: t.TempDir(), FirstPort: 18950, LastPort: 18999, Config: func() profile.Config {
		return profile.Config{
			Executable: exe.Path, Headless: &headless, NoSandbox: true, LaunchTimeout: time.Minute,
			Args: []string{fmt.Sprintf("--force-device-scale-factor=%v", factor)},
		}
	}}
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() {
		check.Must(t, m.Close(context.Background()))
	})
	w, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "pixels", URL: url})
	check.Must(t, err)
	return w
}

func act(t *testing.T, w *browsermgr.Window, kind string, args map[string]any) string {
	t.Helper()
	notes, err := w.Act(t.Context(), kind, args)
	if err != nil {
		t.Fatalf("%s %v: %v", kind, args, err)
	}
	return strings.TrimPrefix(strings.Join(notes, " "), "result: ")
}

// metrics is Emulation.setDeviceMetricsOverride of CDP.
type metrics struct {
	Width             int     `json:"width"`
	Height            int     `json:"height"`
	DeviceScaleFactor float64 `json:"deviceScaleFactor"` // 0: that of the screen
	Mobile            bool    `json:"mobile"`
}

func (metrics) ProtoReq() string { return "Emulation.setDeviceMetricsOverride" }

// view is how a page is shown.
type view struct {
	width, height int
	factor, zoom  float64
}

func (v view) String() string {
	return fmt.Sprintf("%dx%d factor %v zoom %v", v.width, v.height, v.factor, v.zoom)
}

// show loads the page of targets in a view.
func show(t *testing.T, w *browsermgr.Window, url string, v view) {
	t.Helper()
	err := w.WithTab(t.Context(), func(tab *page.Tab) error {
		return tab.MainFrame().Do(t.Context(), metrics{Width: v.width, Height: v.height})
	})
	check.Must(t, err)
	act(t, w, "navigate", map[string]any{"url": fmt.Sprintf("%s/?zoom=%v", url, v.zoom)})
	act(t, w, "wait", map[string]any{"fn": "window.ready"})
	// Just after the device scale factor was changed, Chromium may route input by the old one, into frames far away.
	act(t, w, "evaluate", map[string]any{"fn": "addEventListener('pointermove', (e) => { window.moved = e.clientX " +
		"}, true)"})
	x := 290.0
	browsertest.Eventually(t, "the mouse is where it is moved to", func() bool {
		x = 581 - x // moved each time
		act(t, w, "pointerMove", map[string]any{"x": x, "y": 360})
		return act(t, w, "evaluate", map[string]any{"fn": "window.moved"}) == fmt.Sprint(x)
	})
}

func TestClicksLandWhereThePictureShowsTheirTarget(t *testing.T) {
	server := httptest.NewServer(Site(browsertest.LocalhostURL))
	t.Cleanup(server.Close)
	plain := window(t, server.URL+"/", 1)
	t.Run("in a frame that has just come", func(t *testing.T) { clickWhatHasJustCome(t, plain, server.URL) })
	views := []view{{1280, 720, 1, 1.25}}
	if *otherHalf {
		views = append(views, view{1280, 720, 1.5, 1}, view{1280, 720, 1, 0.5}, view{1280, 720, 1, 0.8},
			view{1720, 1100, 1, 1}, view{1280, 720, 2, 2}, view{1280, 720, 3, 1})
	}
	for _, v := range views {
		t.Run(v.String(), func(t *testing.T) {
			w := plain
			if v.factor != 1 { // which a browser has from its start
				w = window(t, server.URL+"/", v.factor)
			}
			show(t, w, server.URL, v)
			for _, vendor := range corpus.Vendors() {
				t.Logf("%s: at most %.2f CSS px from the middle", vendor.Name, try(t, w, vendor, v))
			}
		})
	}
}

// look returns where the targets are on the picture that a model was sent, in their order.
func look(r llmtest.Request) (places []corpus.PicturePoint, size image.Point, err error) {
	picture, _, err := image.Decode(bytes.NewReader(corpus.NewestPicture(r)))
	if err != nil {
		return nil, image.Point{}, fmt.Errorf("read the picture: %w", err)
	}
	seen := TargetCenters(picture)
	size = picture.Bounds().Size()
	for _, target := range Targets() {
		at, ok := seen[target.Name]
		if !ok {
			return nil, size, fmt.Errorf("%q is not on the picture", target.Name)
		}
		places = append(places, corpus.PicturePoint{X: at[0] / float64(size.X), Y: at[1] / float64(size.Y)})
	}
	return places, size, nil
}

// try lets a vendor's model click each target where it sees it, and returns how far off the worst was.
func try(t *testing.T, w *browsermgr.Window, vendor corpus.Vendor, v view) (worst float64) {
	t.Helper()
	var once sync.Once
	var unseen error
	mind, end, err := vendor.Open(func(r llmtest.Request) llmtest.Reply {
		reply := llmtest.Reply{Text: "done"}
		once.Do(func() {
			places, size, err := look(r)
			if unseen = err; err == nil {
				reply = vendor.Click(places, size)
			}
		})
		return reply
	})
	check.Must(t, err)
	agent := &computeruse.Agent{Browser: screen{w}, Model: func(context.Context, string) (computeruse.Model, error) {
		return mind, nil
	}}
	s := sessions.Session{ID: vendor.Name, URL: "http://pixels.test/"}
	for step, err := range agent.Run(t.Context(), s, sessions.Task{ID: "clicks", Prompt: "click every target"}) {
		if err != nil || step.Failed {
			t.Fatalf("%s: %s: %v %s", vendor.Name, step.Label, err, step.Text)
		}
	}
	if problems := end(); len(problems) > 0 || unseen != nil {
		t.Fatalf("%s: %v %v", vendor.Name, problems, unseen)
	}
	act(t, w, "wait", map[string]any{"fn": fmt.Sprintf("hits.length >= %d", len(Targets()))})
	var hits []Hit
	check.Must(t, json.Unmarshal([]byte(act(t, w, "evaluate", map[string]any{"fn": "hits.splice(0)"})), &hits))
	return judge(t, vendor.Name, hits, v)
}

// judge checks that each target was hit once, and how close.
func judge(t *testing.T, name string, hits []Hit, v view) (worst float64) {
	t.Helper()
	by := map[string]Hit{}
	for _, h := range hits {
		by[h.Name] = h
	}
	for _, target := range Targets() {
		h, ok := by[target.Name]
		if !ok || len(hits) != len(Targets()) {
			t.Errorf("%s: the clicks became %+v, none on %q", name, hits, target.Name)
			continue
		}
		off := max(math.Abs(h.X), math.Abs(h.Y))
		if target.Far {
			off *= v.zoom
		}
		worst = max(worst, off)
		if off > 1 {
			t.Errorf("%s: a click on %q landed %.2f, %.2f from its middle", name, target.Name, h.X, h.Y)
		}
	}
	return worst
}

// clickWhatHasJustCome clicks in frames that have just come: Chromium routes input to frames of other sites by what it
// drew last.
func clickWhatHasJustCome(t *testing.T, w *browsermgr.Window, url string) {
	t.Helper()
	rounds := 4 // one at each zoom
	if *otherHalf {
		rounds = 12
	}
	for n := range rounds {
		v := view{1280, 720, 1, []float64{0.5, 1, 1.25, 2}[n%4]}
		show(t, w, url, v)
		// Where the frame begins, its border and padding, and the target in it, which is scrolled.
		x, y := (60.5+5+31.4+Side/2)*v.zoom, (33.3+5+415.9-379+Side/2)*v.zoom
		act(t, w, "clickCoords", map[string]any{"x": x, "y": y})
		act(t, w, "wait", map[string]any{"fn": "hits.length > 0"})
		if got := act(t, w, "evaluate", map[string]any{"fn": "JSON.stringify(hits.splice(0))"}); !strings.Contains(got,
			"in a frame") {
			t.Errorf("load %d at zoom %v: the click became %s", n+1, v.zoom, got)
		}
	}
}
