package browsermgr_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/internal/test/browsertest"

	"golang.org/x/image/webp"
)

// filmed returns a picture of the window, which must be lossy WebP.
func filmed(t *testing.T, w *browsermgr.Window, quality int, scale float64) (image.Image, string) {
	t.Helper()
	data, url, err := w.CaptureWebP(t.Context(), quality, scale)
	browsertest.Must(t, err)
	if !bytes.Contains(data[:min(len(data), 4096)], []byte("VP8 ")) {
		t.Errorf("got %q…, want a lossy picture", data[:min(len(data), 64)])
	}
	img, err := webp.Decode(bytes.NewReader(data))
	browsertest.Must(t, err)
	return img, url
}

// near reports whether a pixel has about that colour.
func near(img image.Image, x, y int, want color.RGBA) bool {
	r, g, b, _ := img.At(x, y).RGBA()
	off := func(got uint32, want uint8) bool { return max(int(got>>8), int(want))-min(int(got>>8), int(want)) > 12 }
	return !off(r, want.R) && !off(g, want.G) && !off(b, want.B)
}

func TestAWindowIsFilmedAsPicturesAre(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
		fmt.Fprint(w, `<!doctype html><title>Red</title><body style="margin:0;background:#c81e1e"><div style="height:5000px"></div>`)
	}))
	defer server.Close()
	var hiding atomic.Bool
	m := manager(t, func(m *browsermgr.Manager) {
		m.HiddenAreas = func(context.Context, *page.Tab) ([]page.Area, error) {
			if hiding.Load() {
				return []page.Area{{Left: 0, Top: 0, Right: 100, Bottom: 100}}, nil
			}
			return nil, nil
		}
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
		t.Errorf("got %v inside and %v outside of what must not be seen, want %v and %v", covered.At(50, 50), covered.At(150, 150), grey, red)
	}
	small, _ := filmed(t, w, 80, 0.5)
	if !near(small, 25, 25, grey) || !near(small, 75, 75, red) {
		t.Errorf("got %v inside and %v outside in a small picture, want %v and %v", small.At(25, 25), small.At(75, 75), grey, red)
	}
	hiding.Store(false)

	var open *page.DialogError
	if _, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": "void setTimeout(() => alert(1))"}); err != nil && !errors.As(err, &open) {
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
	browsertest.Must(t, w.Close(t.Context()))
	if _, _, err := w.CaptureWebP(t.Context(), 80, 1); err == nil {
		t.Error("a window that is closed was filmed")
	}
}
