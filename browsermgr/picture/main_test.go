package picture_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/picture"

	"github.com/go-rod/rod/lib/proto"
)

// shared is the browser of the whole test binary, launched when the first test wants it: fuzzing does without.
var (
	launchShared = sync.OnceValues(launch)
	launched     *chromium
)

func shared(tb testing.TB) *chromium {
	tb.Helper()
	browser, err := launchShared()
	if err != nil {
		tb.Fatal(err)
	}
	launched = browser
	return browser
}

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	defer func() {
		if launched != nil {
			launched.stop()
		}
	}()
	return m.Run()
}

// chromium is a browser process that belongs to the tests.
type chromium struct {
	url string
	cmd *exec.Cmd
	dir string
}

func findChromium() (string, error) {
	if path := os.Getenv("CLANK_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("these tests need Chromium: set CLANK_CHROMIUM or put chromium or google-chrome on PATH")
}

func launch() (*chromium, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0",
		"--disable-features=DeferRendererTasksAfterInput",
		"--user-data-dir="+filepath.Join(dir, "data"), "--window-size=1280,800", "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	c := &chromium{cmd: cmd, dir: dir}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				found <- url
				break
			}
		}
		_, _ = io.Copy(io.Discard, stderr)
	}()
	select {
	case c.url = <-found:
	case <-time.After(30 * time.Second):
	}
	if c.url == "" {
		c.stop()
		return nil, fmt.Errorf("%s did not open its DevTools port", path)
	}
	return c, nil
}

// stop ends the browser's whole process group and removes its profile.
func (c *chromium) stop() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.cmd.Wait()
	// The group's last writers may still be ending.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for tries := 0; os.RemoveAll(c.dir) != nil && tries < 20; tries++ {
		<-tick.C
	}
}

// connect opens a connection that is closed when the test ends.
func connect(tb testing.TB) *page.Browser {
	tb.Helper()
	b, err := page.Connect(within(tb, 45*time.Second), shared(tb).url, page.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// open opens a tab in a connection of its own and closes both at the end.
func open(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return openIn(tb, connect(tb), url)
}

func openIn(tb testing.TB, b *page.Browser, url string) *page.Tab {
	tb.Helper()
	tab, err := b.NewTab(within(tb, 45*time.Second), page.TabOptions{URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		_ = tab.Close(ctx)
	})
	return tab
}

// within is a context that ends before the test does.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// site serves pages by path; HOST in them is the server under the name of another site.
func site(tb testing.TB, pages map[string]string) string {
	tb.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><meta name=viewport content='width=device-width'><style>body{margin:0}</style>"+
			strings.ReplaceAll(pages[r.URL.Path], "HOST", "http://localhost:"+port))
	}))
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// show opens a tab with one page, at 800 by 600 pixels and the given density.
func show(tb testing.TB, html string, dpr float64) *page.Tab {
	tb.Helper()
	tab := open(tb, "")
	size(tb, tab, 800, 600, dpr, false)
	navigate(tb, tab, site(tb, map[string]string{"/": html}))
	return tab
}

func size(tb testing.TB, tab *page.Tab, width, height int, dpr float64, mobile bool) {
	tb.Helper()
	must(tb, tab.Main().Do(within(tb, 45*time.Second), proto.EmulationSetDeviceMetricsOverride{
		Width: width, Height: height, DeviceScaleFactor: dpr, Mobile: mobile,
	}))
}

func navigate(tb testing.TB, tab *page.Tab, url string) {
	tb.Helper()
	if _, err := tab.Navigate(within(tb, 45*time.Second), url); err != nil {
		tb.Fatal(err)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func js(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	res, err := tab.Act(within(tb, 45*time.Second), page.Action{Kind: page.KindEvaluate, Fn: expression})
	if err != nil {
		tb.Fatal(err)
	}
	return string(res.Value)
}

// refs waits until a snapshot has as many refs with a name as wanted.
func refs(tb testing.TB, tab *page.Tab, wanted int) map[string]picture.Label {
	tb.Helper()
	ctx := within(tb, 45*time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		snap, err := tab.Snapshot(ctx, page.SnapshotOptions{})
		must(tb, err)
		found := map[string]picture.Label{}
		for _, r := range snap.Refs() {
			if r.Name != "" {
				found[r.Name] = picture.Label{Ref: r.Ref, Role: r.Role, Name: r.Name}
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

func shoot(tb testing.TB, tab *page.Tab, o picture.Options) (picture.Image, image.Image) {
	tb.Helper()
	o.Timeout = time.Minute // the race detector makes scaling slow
	shot, err := picture.Screenshot(within(tb, time.Minute), tab, o)
	if err != nil {
		tb.Fatal(err)
	}
	img, kind, err := image.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		tb.Fatal(err)
	}
	if got := img.Bounds().Size(); kind != shot.Type || got != image.Pt(shot.Width, shot.Height) {
		tb.Errorf("got %s of %v, said to be %s of %dx%d", kind, got, shot.Type, shot.Width, shot.Height)
	}
	return shot, img
}

// wantColor compares a pixel with #rrggbb, roughly: a JPEG is not exact.
func wantColor(tb testing.TB, img image.Image, x, y int, want string) {
	tb.Helper()
	r, g, b, _ := img.At(x, y).RGBA()
	var wr, wg, wb uint32
	if _, err := fmt.Sscanf(want, "#%02x%02x%02x", &wr, &wg, &wb); err != nil {
		tb.Fatal(err)
	}
	far := func(a, b uint32) bool { return max(a, b)-min(a, b) > 40 }
	if far(r>>8, wr) || far(g>>8, wg) || far(b>>8, wb) {
		tb.Errorf("pixel %d,%d: got #%02x%02x%02x, want %s", x, y, r>>8, g>>8, b>>8, want)
	}
}
