package browsermgr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/intercept"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/browsermgr/webcodecs"
)

// What holds unless the Manager's fields say otherwise.
const (
	// FirstPort and LastPort bound the DevTools ports of managed browsers.
	FirstPort = 18800
	LastPort  = 18899
)

// Manager owns browsers. Its fields are set before [Manager.Open] and not changed afterwards. It is safe for concurrent
// use.
type Manager struct {
	// Home is the directory below which browser/<profile>/user-data lie. Required.
	Home string
	// Profile is the name of the profile that windows use which name none; empty means [profile.DefaultName].
	Profile string
	// FirstPort and LastPort bound the DevTools ports that are given out; both zero mean the package's constants.
	FirstPort, LastPort int
	// IdleAfter is how long a browser runs without being used before it is stopped; zero keeps it.
	IdleAfter time.Duration
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
	// Config, if set, is asked at each start what holds for all profiles, unless one says otherwise.
	Config func() profile.Config
	// NewObservers, if set, makes the observers of each new connection to a profile's browser; see [Lease.Observers].
	// local says that it is started by us, on this machine. Those that are an io.Closer are closed when the connection
	// has ended.
	NewObservers func(profile string, local bool) []page.Observer
	// Gate, if set, judges what pages reach.
	Gate Gate
	// DevToolsToken says whether a token lets a program use a browser's DevTools, where a port is wanted for them; nil
	// lets nobody.
	DevToolsToken func(token string) bool
	// OnDevToolsPort, if set, is told the port of the DevTools of each browser on this machine before its pages load,
	// as far as it is known then: pages are to be kept from it. It may be told the same one again.
	OnDevToolsPort func(port int)
	// Endpoints, if set, judges where browsers on other machines may be.
	Endpoints profile.EndpointPolicy
	// Redact, if set, takes secrets out of what browsers tell; see [page.Options].
	Redact func(message []byte) []byte
	// Secrets, if set, knows the secrets in pages: they are neither shown nor copied.
	Secrets Secrets
	// StateKeys, if set, returns the keys that the state of persons' places is encrypted with while their browsers do
	// not run; see [profile.PackState]. Nil leaves it in the clear.
	StateKeys func(ctx context.Context) ([]string, error)
	// CheckRename, if set, says why a profile cannot have another name now: something else names it.
	CheckRename func(ctx context.Context, name string) error
	// OnSent, if set, is called with the name of each protocol method as it is sent, for measuring. It must not block.
	OnSent func(method string)

	store *profile.Store

	mu       sync.Mutex
	opened   bool
	closed   chan struct{} // closed by Close
	profiles map[string]*profileState
	windows  map[string]*Window
	encoders webcodecs.Host
	roomTurn chan struct{}  // holds a token while room for one more browser is made
	hurry    chan struct{}  // closed when packing is given up; see [Manager.packState]
	giveUp   func()         // closes hurry
	wg       sync.WaitGroup // browsers' watchers, and tabs that are being closed on the side
}

// Gate judges what pages reach. [clank/browsermgr/egress.Proxy] is one. It is asked to listen for browsers that we
// start, and to judge each request of the others, which go their own way.
type Gate interface {
	intercept.RequestPolicy
	// Listen returns the proxy that all traffic of a browser we start goes through, as http://host:port. It is asked
	// at each start; "" lets the browser do without.
	Listen(ctx context.Context, profile string) (proxy string, err error)
	// Watch notes what the tab with that CDP target id is refused from now on, so that windows can tell it. finish,
	// which is called once, waits for late refusals and returns the first.
	Watch(profile, target string) (finish func(ctx context.Context) error)
	// ExplainDocument says why a document did not load in the tab with that CDP target id, of which a browser behind a
	// proxy knows no more than that; nil if it does not know either. address is what was asked for, since is when.
	ExplainDocument(profile, target, address string, since time.Time) error
	// RefusalCount counts what the pages of a profile were refused.
	RefusalCount(profile string) uint64
}

// Secrets knows the secrets that were filled into pages, as [clank/browsermgr/page/login.Filler] does.
type Secrets interface {
	// HiddenAreas finds what pictures of a tab must not show; see [page.Options].
	HiddenAreas(ctx context.Context, t *page.Tab) ([]page.Area, error)
	// Holds reports whether the pages of a tab hold a secret; see [page.Options].
	Holds(ctx context.Context, t *page.Tab) (bool, error)
}

// WindowOptions says which window is wanted, and what it is like if it has to be made.
type WindowOptions struct {
	// Key is whose it is: the id of a session. Required.
	Key string
	// URL is where a new window opens; empty means about:blank.
	URL string
	// Profile is whose cookies and storage it has; empty means the Manager's. An open window stays in its profile.
	Profile string
	// Headed asks for a window on the screen.
	Headed bool
	// Ephemeral keeps cookies and storage apart from the profile, in memory only, and forgets them with the window.
	Ephemeral bool
}

// Open makes the Manager ready, and ends and removes what a former run that died has left. It starts no browser.
func (m *Manager) Open(ctx context.Context) error {
	if m.Home == "" {
		return errors.New("open browser manager: no home directory given")
	}
	m.Logger = cmp.Or(m.Logger, slog.New(slog.DiscardHandler))
	m.Profile = cmp.Or(m.Profile, profile.DefaultName)
	if err := profile.CheckName(m.Profile); err != nil {
		return fmt.Errorf("open browser manager: %w", err)
	}
	if m.FirstPort == 0 && m.LastPort == 0 {
		m.FirstPort, m.LastPort = FirstPort, LastPort
	}
	m.store = &profile.Store{
		Path: filepath.Join(m.Home, "browser", "profiles.json"), FirstPort: m.FirstPort, LastPort: m.LastPort, DefaultName: m.Profile,
		PortInUse: func(port int) bool { return !chrome.PortFree(context.WithoutCancel(ctx), port) },
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opened {
		return errors.New("open browser manager: it is open")
	}
	m.opened = true
	m.closed = make(chan struct{})
	m.profiles = map[string]*profileState{}
	m.windows = map[string]*Window{}
	m.roomTurn = make(chan struct{}, 1)
	m.hurry = make(chan struct{})
	m.giveUp = sync.OnceFunc(func() { close(m.hurry) })
	m.encoders.Options = m.encoderOptions
	profile.ReapOrphans(ctx, m.userDataDir("*"), m.Logger)
	if m.StateKeys != nil {
		m.wg.Go(m.packLeftStates)
	}
	return nil
}

func (m *Manager) userDataDir(profile string) string {
	return filepath.Join(m.Home, "browser", profile, "user-data")
}

// Window returns the window of a key: the one that is open, or a new one at opts.URL. It starts the browser if none
// runs. restored says that a page had to be opened again: that of a window whose browser had ended, or opts.URL; what
// was typed into it is lost. If the page cannot be loaded the window is there all the same, and says so with its next
// action. It is worked until [Window.Rest]: its pages are not frozen.
func (m *Manager) Window(ctx context.Context, opts WindowOptions) (w *Window, restored bool, err error) {
	if opts.Key == "" {
		return nil, false, errors.New("open window: no key given")
	}
	w, err = m.findOrMakeWindow(opts)
	if err != nil {
		return nil, false, fmt.Errorf("open window: %w", err)
	}
	w.mu.Lock()
	w.working = true
	w.mu.Unlock()
	use, restored, err := w.acquireTab(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("open window: %w", err)
	}
	use.release()
	return w, restored, nil
}

// CheckInstance returns nil if a place can have a profile of that name, "<base>@<place>". The error wraps [ErrInvalid].
func (m *Manager) CheckInstance(name string) error {
	p, err := m.store.Ensure(name)
	if err != nil {
		return err
	}
	_, err = m.resolve(p)
	return err
}

// findOrMakeWindow finds or makes the window, without a browser.
func (m *Manager) findOrMakeWindow(opts WindowOptions) (*Window, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	profile, err := m.store.Ensure(cmp.Or(opts.Profile, m.Profile))
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed() {
		return nil, ErrClosed
	}
	w := m.windows[opts.Key]
	if w == nil {
		w = &Window{manager: m, key: opts.Key, profile: profile.Name, readyTurn: make(chan struct{}, 1)}
		m.windows[opts.Key] = w
	}
	w.applyOptions(opts)
	return w, nil
}

// checkOpen returns an error unless the Manager is open.
func (m *Manager) checkOpen() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed() {
		return ErrClosed
	}
	return nil
}

// isClosed reports whether the Manager cannot be used. The caller holds m.mu.
func (m *Manager) isClosed() bool {
	if !m.opened {
		return true
	}
	select {
	case <-m.closed:
		return true
	default:
		return false
	}
}

// untilClosed derives a context that also ends when the Manager is closed.
func (m *Manager) untilClosed(ctx context.Context) (derived context.Context, release func()) {
	derived, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-m.closed:
			cancel(ErrClosed)
		case <-derived.Done():
		}
	})
	return derived, func() {
		cancel(nil)
		watch.Wait()
	}
}

// Lookup returns the window of a key if there is one that is not parked. It starts and opens nothing.
func (m *Manager) Lookup(key string) (*Window, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.windows[key]
	if !ok || w.isAway() {
		return nil, false
	}
	return w, true
}

// CloseWindow closes the window of a key, be it parked or not. An unknown key is no error.
func (m *Manager) CloseWindow(ctx context.Context, key string) error {
	m.mu.Lock()
	w, ok := m.windows[key]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	return w.Close(ctx)
}

// BrowserStatus describes one profile's browser.
type BrowserStatus struct {
	Profile     string
	Running     bool
	PID         int
	Port        int
	Version     string
	Headless    bool
	Sandbox     bool
	SandboxNote string
	Windows     int // windows that have tabs in it
}

// Status lists the profiles that were in use since Open, by name. It asks no browser.
func (m *Manager) Status() []BrowserStatus {
	m.mu.Lock()
	profiles := make([]*profileState, 0, len(m.profiles))
	for _, p := range m.profiles {
		if p.current() != nil {
			profiles = append(profiles, p)
		}
	}
	m.mu.Unlock()
	var list []BrowserStatus
	for _, p := range profiles {
		list = append(list, p.status())
	}
	slices.SortFunc(list, func(a, b BrowserStatus) int { return strings.Compare(a.Profile, b.Profile) })
	return list
}

// Close ends all windows and browsers, in the way that keeps cookies, and returns when nothing of them is left. When
// ctx ends the browsers are killed, and what is not packed yet stays in the clear. Closing twice is no error.
func (m *Manager) Close(ctx context.Context) error {
	if m.giveUp != nil {
		defer context.AfterFunc(ctx, m.giveUp)()
	}
	m.mu.Lock()
	if m.opened && !m.isClosed() {
		close(m.closed)
	}
	profiles := make([]*profileState, 0, len(m.profiles))
	for _, p := range m.profiles {
		profiles = append(profiles, p)
	}
	m.mu.Unlock()
	errs := make([]error, len(profiles))
	var stops sync.WaitGroup
	for i, p := range profiles {
		stops.Go(func() { errs[i] = p.close(ctx) })
	}
	stops.Go(m.encoders.Close)
	stops.Wait()
	m.wg.Wait()
	return errors.Join(errs...)
}

// config returns the current configuration.
func (m *Manager) config() profile.Config {
	if m.Config != nil {
		return m.Config()
	}
	return profile.Config{}
}

// MaxRunning returns how many browsers that are started here may run at once; 0 is any number.
func (m *Manager) MaxRunning() int { return m.config().MaxRunning }

func (m *Manager) resolve(p profile.Profile) (profile.Resolved, error) {
	return profile.Resolve(p, m.config())
}

func (m *Manager) connector(c profile.Config) profile.Connector {
	return profile.Connector{HTTPTimeout: c.RemoteTimeout, Handshake: c.RemoteHandshake, Policy: m.Endpoints}
}
