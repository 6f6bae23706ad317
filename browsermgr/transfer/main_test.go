package transfer_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/transfer"
)

// shared is the browser of the whole test binary.
var shared *chromium

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	shared, err = launch()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.stop()
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
	dir, err := os.MkdirTemp("", "transfer-")
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

// bench is a desk at a connection of its own, with the folders it works on.
type bench struct {
	*transfer.Desk
	browser   *page.Browser
	downloads string
	uploads   string
}

// open connects a desk, and closes both at the end.
func open(tb testing.TB, adjust func(*transfer.Options)) *bench {
	tb.Helper()
	return openAt(tb, shared, adjust)
}

func openAt(tb testing.TB, c *chromium, adjust func(*transfer.Options)) *bench {
	tb.Helper()
	home := tb.TempDir()
	b := &bench{downloads: filepath.Join(home, "downloads"), uploads: filepath.Join(home, "uploads")}
	if err := os.Mkdir(b.uploads, 0o700); err != nil {
		tb.Fatal(err)
	}
	opts := transfer.Options{Downloads: b.downloads, Uploads: transfer.Uploads{Folders: []string{b.uploads}}}
	if adjust != nil {
		adjust(&opts)
	}
	var err error
	if b.Desk, err = transfer.New(opts); err != nil {
		tb.Fatal(err)
	}
	b.browser, err = page.Connect(within(tb, 45*time.Second), c.url, page.Options{Observers: []page.Observer{b.Desk}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = b.browser.Close()
		if err := b.Close(); err != nil {
			tb.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(b.downloads, ".staging-*")); len(left) > 0 {
			tb.Errorf("left behind: %s", left)
		}
	})
	return b
}

// tab opens a tab that is closed at the end.
func (b *bench) tab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return b.tabIn(tb, page.TabOptions{URL: url})
}

func (b *bench) tabIn(tb testing.TB, opts page.TabOptions) *page.Tab {
	tb.Helper()
	tab, err := b.browser.NewTab(within(tb, 45*time.Second), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		if err := tab.Close(ctx); err != nil && !errors.Is(err, page.ErrBrowserGone) {
			tb.Errorf("close tab: %v", err)
		}
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

// refOf finds the ref of the element with this name.
func refOf(tb testing.TB, tab *page.Tab, name string) string {
	tb.Helper()
	snap, err := tab.Snapshot(within(tb, 45*time.Second), page.SnapshotOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range snap.Refs() {
		if r.Name == name {
			return r.Ref
		}
	}
	tb.Fatalf("no %q in\n%s", name, snap.Text)
	return ""
}

// waitFor looks at another process until something holds.
func waitFor(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("%s: it did not happen within 15s", what)
		}
	}
}
