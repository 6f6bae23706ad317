package browsermgr_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

// external is a browser that somebody else has started.
var external browsertest.Shared

// attachOnly writes a profile as a person does with an editor.
func attachOnly(t *testing.T, m *browsermgr.Manager, entry string) {
	t.Helper()
	file := filepath.Join(m.Home, "browser", "profiles.json")
	browsertest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	browsertest.Must(t, os.WriteFile(file, []byte(`{"profiles":{"ext":`+entry+`}}`), 0o600))
}

func alive(p *chrome.Process) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

func TestAttachedBrowserIsLeftAlone(t *testing.T) {
	browser := external.Process(t)
	for name, entry := range map[string]string{
		"port":          fmt.Sprintf(`{"cdpPort":%d,"attachOnly":true}`, browser.Port),
		"stale address": fmt.Sprintf(`{"cdpUrl":"ws://127.0.0.1:%d/devtools/browser/old","cdpPort":%d,"attachOnly":true}`, browser.Port, browser.Port),
	} {
		t.Run(name, func(t *testing.T) {
			m := manager(t, nil)
			attachOnly(t, m, entry)
			p := findProfile(t, m, "ext")
			eventually(t, "the browser answers before the first use", func() bool { return status(t, p).CDPReady })
			if s := status(t, p); !s.AttachOnly || s.PID != nil {
				t.Errorf("before the first use: %+v", s)
			}
			eventually(t, "the list has it as running", func() bool { return slices.Contains(running(t, m), "ext") })
			var uses sync.WaitGroup
			for range 3 {
				uses.Go(func() {
					u, err := p.Acquire(t.Context(), true)
					if err != nil {
						t.Error(err)
						return
					}
					u.Release()
				})
			}
			uses.Wait()
			tab, err := use(t, p).NewTab(t.Context(), page.TabOptions{})
			browsertest.Must(t, err)
			if s := ready(t, p); s.ProbeError != "" {
				t.Errorf("in use: %+v", s)
			}
			if !stop(t, p) || !alive(browser) {
				t.Error("stopping must drop the connection, and only that")
			}
			u := use(t, p)
			if again := u.Browser.Tab(tab.TargetID()); again == nil || again.ID() == tab.ID() {
				t.Errorf("the tab after a reconnect: %v", again)
			} else if err := again.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for range 2 {
				if !stop(t, p) {
					t.Error("stopping a browser that is not ours is always done")
				}
			}
		})
	}
}

// changer is an observer that changes how pages see the world, and notes whether it could take that back.
type changer struct {
	browser atomic.Pointer[page.Browser]
	cleared atomic.Int32
	fails   error
}

func (c *changer) Attach(t *page.Tab, _ *frame.Frame) []proto.Request {
	c.browser.Store(t.Browser())
	return nil
}

func (*changer) Event(*page.Tab, *frame.Frame, cdp.Event) {}

func (c *changer) ResetAll(ctx context.Context) error {
	c.cleared.Add(1)
	return errors.Join(c.browser.Load().RootSession().Do(ctx, proto.BrowserGetVersion{}), c.fails)
}

func TestWhatWasChangedInABrowserThatGoesOnIsTakenBack(t *testing.T) {
	browser := external.Process(t)
	for want, fails := range map[string]error{"": nil, "the page is frozen": errors.New("the page is frozen")} {
		c, log := &changer{fails: fails}, &strings.Builder{}
		m := manager(t, func(m *browsermgr.Manager) {
			m.NewObservers = func(bool) []page.Observer { return []page.Observer{c} }
			m.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
		attachOnly(t, m, fmt.Sprintf(`{"cdpPort":%d,"attachOnly":true}`, browser.Port))
		p := findProfile(t, m, "ext")
		if _, err := use(t, p).NewTab(t.Context(), page.TabOptions{}); err != nil {
			t.Fatal(err)
		}
		if c.cleared.Load() != 0 {
			t.Error("taken back though the browser is in use")
		}
		told := func() bool { return strings.Contains(log.String(), "as it was found") }
		if !stop(t, p) || c.cleared.Load() != 1 || told() != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("failure %q: taken back %d times; log: %s", want, c.cleared.Load(), log)
		}
	}
}

func TestAttachFailureNamesTheProbeThatFailed(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		m.Config = func() profile.Config {
			return profile.Config{RemoteTimeout: 200 * time.Millisecond, RemoteHandshake: 200 * time.Millisecond}
		}
	})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	browsertest.Must(t, err)
	defer silent.Close()
	attachOnly(t, m, fmt.Sprintf(`{"cdpUrl":"ws://127.0.0.1:%d?token=s3cr3t","attachOnly":true}`, silent.Addr().(*net.TCPAddr).Port))
	p := findProfile(t, m, "ext")
	_, err = p.Acquire(t.Context(), true)
	for _, want := range []string{"discovery at", "websocket at", "no answer in time", "tried 3 times"} {
		if err == nil || !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	r, err := p.Doctor(t.Context(), false)
	if c := check(t, r, "attach-target"); err != nil || c.Status != chrome.CheckFail || !strings.Contains(c.Summary, "no answer") {
		t.Errorf("the doctor: %+v, %v", c, err)
	}
}

func TestAddressIsHeldAgainstThePolicy(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		m.AllowEndpoint = func(_ context.Context, u *url.URL) error { return fmt.Errorf("%s is on nobody's list", u.Hostname()) }
	})
	if _, err := m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "x", CDPURL: "http://metadata.invalid"}); !errors.Is(err, profile.ErrEndpointBlocked) {
		t.Errorf("create: %v", err)
	}
	attachOnly(t, m, `{"cdpUrl":"wss://metadata.invalid"}`)
	if _, err := findProfile(t, m, "ext").Acquire(t.Context(), true); !errors.Is(err, profile.ErrEndpointBlocked) {
		t.Errorf("use: %v", err)
	}
}

func TestPersonsBrowserKeepsWhatIsTheirs(t *testing.T) {
	browser := external.Process(t)
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{Name: "ext", Driver: "existing-session", UserDataDir: browser.UserDataDir})
	p := findProfile(t, m, "ext")
	if s := status(t, p); s.Running || s.CDPReady || s.Driver != "existing-session" || *s.CDPPort != browser.Port || s.ProbeError != "" {
		t.Errorf("passive status: %+v", s)
	}
	u := use(t, p)
	if !u.Joined() || u.Local() {
		t.Error("it counts as ours")
	}
	theirs := u.Browser.Tabs()
	ours, err := u.NewTab(t.Context(), page.TabOptions{})
	browsertest.Must(t, err)
	if !stop(t, p) || !alive(browser) {
		t.Error("stopping must drop the connection, and only that")
	}
	after := use(t, p).Browser
	if after.Tab(ours.TargetID()) != nil || len(after.Tabs()) != len(theirs) {
		t.Errorf("%d tabs after the stop, %d before ours", len(after.Tabs()), len(theirs))
	}
	if deleted, err := m.DeleteProfile(t.Context(), "ext"); err != nil || deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	if _, err := os.Stat(browser.UserDataDir); err != nil || !alive(browser) {
		t.Errorf("the person's data: %v", err)
	}
}

// asker returns a browser that asks its person before it lets anybody in.
func asker(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (dir string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	dir = t.TempDir()
	port := srv.Listener.Addr().(*net.TCPAddr).Port
	browsertest.Must(t, os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), fmt.Appendf(nil, "%d\n/devtools/browser/x", port), 0o600))
	return dir, asked
}

func TestRefusedConsentIsNotAskedForAgain(t *testing.T) {
	dir, asked := asker(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{Name: "ext", Driver: "existing-session", UserDataDir: dir})
	p := findProfile(t, m, "ext")
	for range 3 {
		_, err := p.Acquire(t.Context(), true)
		if !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), "Allow remote debugging?") {
			t.Errorf("got %v", err)
		}
		status(t, p)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the person was asked %d times", n)
	}
	if err := p.Start(t.Context(), browsermgr.StartOptions{}); err == nil || asked.Load() != 2 {
		t.Errorf("a start on purpose: %v, asked %d times", err, asked.Load())
	}
}
