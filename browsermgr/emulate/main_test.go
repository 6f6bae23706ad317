package emulate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	"clank/browsermgr/cdp"
	"clank/browsermgr/emulate"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

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

// connect opens a connection with a State of its own that ends with the test.
func connect(tb testing.TB) (*page.Browser, *emulate.State) {
	tb.Helper()
	state := emulate.New(nil)
	b, err := page.Connect(within(tb, 45*time.Second), shared(tb).url, page.Options{Observers: []page.Observer{state}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b, state
}

// isolated makes a browser context that is closed when the test ends.
func isolated(tb testing.TB, b *page.Browser) string {
	tb.Helper()
	id, err := b.NewContext(within(tb, 45*time.Second), "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		_ = b.CloseContext(ctx, id)
	})
	return id
}

// open opens a tab in a context of its own.
func open(tb testing.TB, url string) (*page.Tab, *emulate.State) {
	tb.Helper()
	b, state := connect(tb)
	return openIn(tb, b, isolated(tb, b), url), state
}

func openIn(tb testing.TB, b *page.Browser, contextID, url string) *page.Tab {
	tb.Helper()
	tab, err := b.NewTab(within(tb, 45*time.Second), page.TabOptions{URL: url, ContextID: contextID})
	if err != nil {
		tb.Fatal(err)
	}
	return tab
}

// within is a context that ends before the test does.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

func serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// site serves the same page everywhere, with a frame of another site at /framed.
func site(tb testing.TB) *httptest.Server {
	tb.Helper()
	return serve(tb, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.URL.Path == "/framed" {
			fmt.Fprintf(w, `<!doctype html><meta name=viewport content="width=device-width"><iframe allow=geolocation src="http://localhost:%s/inner"></iframe>`, port(r.Host))
			return
		}
		fmt.Fprintf(w, `<!doctype html><meta name=viewport content="width=device-width"><title>Test</title><pre>%s</pre>`, r.URL.Path)
	})
}

func port(host string) string {
	_, p, _ := strings.Cut(host, ":")
	return p
}

// js evaluates an expression in the main frame and returns its JSON.
func js(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	res, err := tab.Act(within(tb, 45*time.Second), page.Action{Kind: page.KindEvaluate, Fn: expression})
	if err != nil {
		tb.Fatal(err)
	}
	return string(res.Value)
}

// inFrame evaluates an expression in the frame of another process, once there is one.
func inFrame(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	ctx := within(tb, 45*time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if frames := tab.Frames(); len(frames) > 1 {
			res, err := cdp.Ask[frame.Remote[json.RawMessage]](ctx, frames[1].Session, proto.RuntimeEvaluate{
				Expression: "location.pathname === '/inner' && " + expression, ReturnByValue: true, AwaitPromise: true,
			})
			if err == nil && res.Exception == nil && string(res.Result.Value) != "false" {
				return string(res.Result.Value)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatal("no frame of another process")
		}
	}
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

func wantJS(tb testing.TB, tab *page.Tab, expression, want string) {
	tb.Helper()
	if got := js(tb, tab, expression); got != want {
		tb.Errorf("%s: got %s, want %s", expression, got, want)
	}
}
