package intent_test

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
	b, err := page.Connect(within(tb, 30*time.Second), shared.url, page.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// openTab opens a tab in a connection of its own and closes both at the end.
func openTab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	tab, err := connect(tb).NewTab(within(tb, 30*time.Second), page.TabOptions{URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
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
