package pixels_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg"
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/computeruse"
	"clank/internal/browsertest"
	"clank/internal/pixels"

	"golang.org/x/image/draw"
)

// A window is what computer use works with.
var _ computeruse.Screen = (*browsermgr.Window)(nil)

// window opens a window of a browser of its own.
func window(t *testing.T, url string) *browsermgr.Window {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	m := &browsermgr.Manager{Home: t.TempDir(), Executable: func() string { return exe.Path }, Headless: true, FirstPort: 18950, LastPort: 18999, LaunchTimeout: time.Minute}
	if err := m.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	w, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "pixels", URL: url})
	if err != nil {
		t.Fatal(err)
	}
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
	DeviceScaleFactor float64 `json:"deviceScaleFactor"`
	Mobile            bool    `json:"mobile"`
}

func (metrics) ProtoReq() string { return "Emulation.setDeviceMetricsOverride" }

// resize gives the window a viewport with a device scale factor.
func resize(t *testing.T, w *browsermgr.Window, width, height int, factor float64) {
	t.Helper()
	err := w.Tab(t.Context(), func(tab *page.Tab) error {
		return tab.Main().Do(t.Context(), metrics{Width: width, Height: height, DeviceScaleFactor: factor})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// middles are where the targets are on a picture, as somebody sees it who knows their colours.
func middles(img image.Image) map[string][2]float64 {
	sums := map[string][3]float64{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			for _, t := range pixels.Targets() {
				off := math.Abs(float64(r>>8)-float64(t.Color.R)) + math.Abs(float64(g>>8)-float64(t.Color.G)) + math.Abs(float64(bl>>8)-float64(t.Color.B))
				if off < 90 {
					s := sums[t.Name]
					sums[t.Name] = [3]float64{s[0] + float64(x) + 0.5, s[1] + float64(y) + 0.5, s[2] + 1}
				}
			}
		}
	}
	found := map[string][2]float64{}
	for name, s := range sums {
		found[name] = [2]float64{s[0] / s[2], s[1] / s[2]}
	}
	return found
}

func TestEveryVendorsClickLandsWhereItsPictureShowsTheTarget(t *testing.T) {
	server := httptest.NewServer(pixels.Site(browsertest.Elsewhere))
	t.Cleanup(server.Close)
	w := window(t, server.URL+"/")
	for _, view := range []struct {
		width, height int
		factor, zoom  float64
	}{
		{1280, 720, 1, 0.5},
		{1280, 720, 1, 0.8},
		{1280, 720, 1, 1.25},
		{1280, 720, 1.5, 1},
		{1280, 720, 2, 2},
		{1280, 720, 3, 1},
		{1720, 1100, 1, 1},
	} {
		t.Run(fmt.Sprintf("%dx%d factor %v zoom %v", view.width, view.height, view.factor, view.zoom), func(t *testing.T) {
			resize(t, w, view.width, view.height, view.factor)
			act(t, w, "navigate", map[string]any{"url": fmt.Sprintf("%s/?zoom=%v", server.URL, view.zoom)})
			act(t, w, "wait", map[string]any{"fn": "window.ready"})
			data, _, width, height, err := w.Shot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			shot, _, err := image.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for name, eye := range pixels.Eyes() {
				size := eye.Fit(image.Pt(int(math.Round(width)), int(math.Round(height))))
				worst = max(worst, try(t, w, name, eye, scaled(shot, size), view.factor, width, height, view.zoom))
			}
			t.Logf("at most %.2f CSS px from the middle", worst)
		})
	}
}

// scaled is what a vendor is sent.
func scaled(shot image.Image, size image.Point) image.Image {
	if shot.Bounds().Size() == size {
		return shot
	}
	small := image.NewRGBA(image.Rectangle{Max: size})
	draw.CatmullRom.Scale(small, small.Bounds(), shot, shot.Bounds(), draw.Src, nil)
	return small
}

// hit clicks at a point and returns what the page tells of it.
func hit(t *testing.T, w *browsermgr.Window, x, y float64) (hits []pixels.Hit) {
	t.Helper()
	act(t, w, "clickCoords", map[string]any{"x": x, "y": y})
	act(t, w, "wait", map[string]any{"fn": "hits.length > 0"})
	if err := json.Unmarshal([]byte(act(t, w, "evaluate", map[string]any{"fn": "hits.splice(0)"})), &hits); err != nil {
		t.Fatal(err)
	}
	return hits
}

// try clicks each target where a vendor's model sees it, and returns how far off the worst was.
func try(t *testing.T, w *browsermgr.Window, name string, eye pixels.Eye, picture image.Image, factor, width, height, zoom float64) (worst float64) {
	t.Helper()
	size := picture.Bounds().Size()
	seen := middles(picture)
	for _, target := range pixels.Targets() {
		at, ok := seen[target.Name]
		if !ok {
			t.Errorf("%s: %q is not on the picture", name, target.Name)
			continue
		}
		x, y := pixels.CSS(eye.Point(at[0], at[1], size), size, width, height)
		hits := hit(t, w, x, y)
		if target.Far && len(hits) == 1 && hits[0].Name == "" {
			// Chromium routes input to the frame of another process by what was last drawn of it, which a loaded machine is slow to do.
			act(t, w, "pointerMove", map[string]any{"x": 0, "y": 0})
			hits = hit(t, w, x, y)
		}
		if len(hits) != 1 || hits[0].Name != target.Name {
			t.Errorf("%s: a click on %q at %.2f, %.2f became %+v", name, target.Name, x, y, hits)
			continue
		}
		off := max(math.Abs(hits[0].X), math.Abs(hits[0].Y))
		if target.Far {
			off *= zoom
		}
		worst = max(worst, off)
		if most := pixels.Off(eye, size, float64(size.X)/width, factor); off > most {
			t.Errorf("%s: a click on %q landed %.2f, %.2f from its middle, want at most %.2f", name, target.Name, hits[0].X, hits[0].Y, most)
		}
	}
	return worst
}
