package screenshot_test

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// open opens a tab on its own connection and closes both when the test ends.
func open(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return openIn(tb, browser.Connect(tb, page.Options{}), url)
}

func openIn(tb testing.TB, b *page.Browser, url string) *page.Tab {
	tb.Helper()
	return browsertest.Tab(tb, b, page.TabOptions{URL: url})
}

// site serves pages by path; HOST in them is the server under the name of another site.
func site(tb testing.TB, pages map[string]string) string {
	tb.Helper()
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, "<!doctype html><meta name=viewport content='width=device-width'><style>body{margin:0}</style>"+
			strings.ReplaceAll(pages[r.URL.Path], "HOST", browsertest.LocalhostURL(r)))
	}).URL
}

// show opens a tab with one page, at 800 by 600 pixels and the given density.
func show(tb testing.TB, html string, dpr float64) *page.Tab {
	tb.Helper()
	tab := open(tb, "")
	size(tb, tab, 800, 600, dpr, false)
	browsertest.Navigate(tb, tab, site(tb, map[string]string{"/": html}))
	return tab
}

func size(tb testing.TB, tab *page.Tab, width, height int, dpr float64, mobile bool) {
	tb.Helper()
	check.Must(tb, tab.MainFrame().Do(browsertest.Within(tb, browsertest.Patience),
		proto.EmulationSetDeviceMetricsOverride{
			Width: width, Height: height, DeviceScaleFactor: dpr, Mobile: mobile,
		}))
}

// refs waits until a snapshot has the wanted number of refs with a name.
func refs(tb testing.TB, tab *page.Tab, wanted int) map[string]screenshot.Label {
	tb.Helper()
	ctx := browsertest.Within(tb, browsertest.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		snap, err := tab.Snapshot(ctx, page.SnapshotOptions{})
		check.Must(tb, err)
		found := map[string]screenshot.Label{}
		for _, r := range snap.Refs() {
			if r.Name != "" {
				found[r.Name] = screenshot.Label{Ref: r.Ref, Role: r.Role, Name: r.Name}
			}
		}
		if len(found) >= wanted {
			return found
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("got refs %v in\n%s", found, snap.Text)
		}
	}
}

func shoot(tb testing.TB, tab *page.Tab, o screenshot.Options) (screenshot.Image, image.Image) {
	tb.Helper()
	o.Timeout = time.Minute // the race detector makes scaling slow
	shot, err := screenshot.TakeScreenshot(browsertest.Within(tb, time.Minute), tab, o)
	check.Must(tb, err)
	img, kind, err := image.Decode(bytes.NewReader(shot.Data))
	check.Must(tb, err)
	if got := img.Bounds().Size(); kind != shot.Type || got != image.Pt(shot.Width, shot.Height) {
		tb.Errorf("got %s of %v, said to be %s of %dx%d", kind, got, shot.Type, shot.Width, shot.Height)
	}
	return shot, img
}

// wantColor compares a pixel with #rrggbb approximately, since JPEG is lossy.
func wantColor(tb testing.TB, img image.Image, x, y int, want string) {
	tb.Helper()
	r, g, b, _ := img.At(x, y).RGBA()
	var wr, wg, wb uint32
	check.Must(tb, check.Err(fmt.Sscanf(want, "#%02x%02x%02x", &wr, &wg, &wb)))
	far := func(a, b uint32) bool { return max(a, b)-min(a, b) > 40 }
	if far(r>>8, wr) || far(g>>8, wg) || far(b>>8, wb) {
		tb.Errorf("pixel %d,%d: got #%02x%02x%02x, want %s", x, y, r>>8, g>>8, b>>8, want)
	}
}
