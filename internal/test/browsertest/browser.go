package browsertest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"
)

// Patience is how long a test waits for one operation of a browser. It is long because of busy machines and the race
// detector.
const Patience = 45 * time.Second

// Shared is the browser shared by a test binary, launched on first use, so that fuzz targets without a browser do not
// start one. The zero value is ready to use. TestMain calls its Run.
type Shared struct {
	Args []string // flags in addition to the usual ones

	mu      sync.Mutex
	process *chrome.Process
	err     error
	idleTab string // target of a tab left by a test, see [Shared.Page]
}

// Run runs the tests, then end, and closes the browser; see [check.Main].
func (s *Shared) Run(m *testing.M, end ...func() error) int {
	return check.Main(m, append(end, s.stop)...)
}

func (s *Shared) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Stop(context.Background())
	}
	return nil
}

// Process returns the browser. A failed launch is not repeated.
func (s *Shared) Process(tb testing.TB) *chrome.Process {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil && s.err == nil {
		s.process, s.err = launch(s.Args)
	}
	check.Must(tb, s.err)
	return s.process
}

// Connect opens a connection to the browser, which is closed when the test ends.
func (s *Shared) Connect(tb testing.TB, opts page.Options) *page.Browser {
	tb.Helper()
	return Connect(tb, s.Process(tb), opts)
}

// Launch starts a browser with additional arguments, which is closed when the test ends.
func Launch(tb testing.TB, args ...string) *chrome.Process {
	tb.Helper()
	p, err := launch(args)
	check.Must(tb, err)
	tb.Cleanup(func() { _ = p.Stop(context.Background()) })
	return p
}

func launch(args []string) (*chrome.Process, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		return nil, err
	}
	return chrome.Launch(ctx, chrome.LaunchOptions{
		Executable: exe.Path, Headless: true, NoSandbox: true, Args: args,
		Timeout: time.Minute, ReadyTimeout: time.Minute,
	})
}

// Kill kills the browser, simulating a crash.
func Kill(tb testing.TB, p *chrome.Process) {
	tb.Helper()
	process, err := os.FindProcess(p.PID)
	check.Must(tb, err)
	check.Must(tb, process.Kill())
}

// Connect opens a connection to a browser, which is closed when the test ends.
func Connect(tb testing.TB, p *chrome.Process, opts page.Options) *page.Browser {
	tb.Helper()
	b, err := page.Connect(Within(tb, Patience), p.WebSocketURL, opts)
	check.Must(tb, err)
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// Tab opens a tab, which is closed when the test ends.
func Tab(tb testing.TB, b *page.Browser, opts page.TabOptions) *page.Tab {
	tb.Helper()
	tab := newTab(tb, b, opts)
	tb.Cleanup(func() { closeTab(tb, tab) })
	return tab
}

func newTab(tb testing.TB, b *page.Browser, opts page.TabOptions) *page.Tab {
	tb.Helper()
	tab, err := b.NewTab(Within(tb, Patience), opts)
	check.Must(tb, err)
	return tab
}

func closeTab(tb testing.TB, tab *page.Tab) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := tab.Close(ctx); err != nil && !errors.Is(err, page.ErrBrowserGone) {
		tb.Errorf("close tab: %v", err)
	}
}

// Navigate navigates a tab to an address.
func Navigate(tb testing.TB, tab *page.Tab, url string) {
	tb.Helper()
	check.Must(tb, check.Err(tab.Navigate(Within(tb, Patience), url)))
}

// JS evaluates an expression or function in a tab's main frame and returns the JSON of its value.
func JS(tb testing.TB, tab *page.Tab, fn string) string {
	tb.Helper()
	res, err := tab.Act(Within(tb, Patience), page.Action{Kind: actiontable.KindEvaluate, Fn: fn})
	check.Must(tb, err)
	return string(res.Value)
}

// WantJS checks the result of [JS].
func WantJS(tb testing.TB, tab *page.Tab, fn, want string) {
	tb.Helper()
	check.Equal(tb, fn, JS(tb, tab, fn), want)
}
