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
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

// Defaults for the Manager's fields.
const (
	// FirstPort and LastPort bound the DevTools ports of managed browsers.
	FirstPort = 18800
	LastPort  = 18899
)

// Manager owns browsers. Its fields are set before [Manager.Open] and not changed afterwards. It is safe for concurrent
// use.
type Manager struct {
	// Home is the directory that holds browser/<profile>/user-data. Required.
	Home string
	// Profile is the profile of windows that name none; empty means [profile.DefaultName].
	Profile string
	// FirstPort and LastPort bound the DevTools ports to use; both zero mean the package's constants.
	FirstPort, LastPort int
	// IdleAfter is how long an unused browser runs before it is stopped; zero keeps it running.
	IdleAfter time.Duration
	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger
	// Config, if set, is called at each start for the settings that apply to all profiles unless a profile
	// overrides them.
	Config func() profile.Config
	// NewObservers, if set, makes the observers of each new connection to a profile's browser; see
	// [Lease.Observers]. local reports that we start the browser, on this machine. Observers that implement
	// io.Closer are closed when the connection has ended.
	NewObservers func(profile string, local bool) []page.Observer
	// Gate, if set, decides what pages may reach.
	Gate Gate
	// DevToolsToken reports whether a token allows a program to use a browser's DevTools port; nil allows nobody.
	DevToolsToken func(token string) bool
	// OnDevToolsPort, if set, is called with the DevTools port of each browser on this machine, if known, before
	// its pages load, so that pages can be kept from it. It may be called more than once for a port.
	OnDevToolsPort func(port int)
	// Endpoints, if set, decides where browsers on other machines may be.
	Endpoints profile.EndpointPolicy
	// Redact, if set, removes secrets from messages of browsers; see [page.Options].
	Redact func(message []byte) []byte
	// Secrets, if set, knows the secrets in pages, which are neither shown nor copied.
	Secrets Secrets
	// StateKeys, if set, returns the keys that encrypt the state of people's places while their browsers do not
	// run; see [profile.PackState]. Nil leaves the state unencrypted.
	StateKeys func(ctx context.Context) ([]string, error)
	// CheckRename, if set, returns an error if a profile cannot be renamed now because something else refers to
	// it.
	CheckRename func(ctx context.Context, name string) error
	// OnSent, if set, is called with each CDP request as it is sent, for measurements. It must not
	// block.
	OnSent func(method string, params any)

	store *profile.Store

	mu               sync.Mutex
	opened           bool
	closed           chan struct{} // closed by Close
	profiles         map[string]*profileState
	windows          map[string]*Window
	encoders         encoderHost
	steps            stepSlots
	roomTurn         chan struct{}  // holds a token while a running browser is being stopped to make room
	packingAbandoned chan struct{}  // closed to abandon packing; see [Manager.packState]
	abandonPacking   func()         // closes packingAbandoned
	wg               sync.WaitGroup // watchers of browsers, and tabs closing in the background
}

// ProxyListener listens for the traffic of browsers that we start.
type ProxyListener interface {
	// Listen returns the proxy that all traffic of a browser goes through, as http://host:port. It is called at each
	// start; "" means no proxy.
	Listen(ctx context.Context, profile string) (proxy string, err error)
	// StopListening ends what Listen began; the browser has ended, or did not start.
	StopListening(profile string)
}

// Gate decides what pages may reach; [clank/browsermgr/egress.Proxy] implements it. It proxies browsers that we
// start, and checks each request of other browsers, which do not use its proxy.
type Gate interface {
	RequestPolicy
	ProxyListener
	// Watch records the requests refused to the tab with that CDP target id from now on. finish, which must be
	// called once, waits for late refusals and returns the first.
	Watch(profile, target string) (finish func(ctx context.Context) error)
	// ExplainDocument returns why a document did not load in the tab with that CDP target id, which a browser
	// behind a proxy cannot know; nil if the Gate does not know either. address was requested at since or later.
	ExplainDocument(profile, target, address string, since time.Time) error
	// RefusalCount returns how many requests of a profile's pages were refused.
	RefusalCount(profile string) uint64
}

// Secrets knows which secrets were filled into pages; [clank/browsermgr/page/login.Filler] implements it.
type Secrets interface {
	// HiddenAreas returns the areas to cover in pictures of a tab; see [page.Options].
	HiddenAreas(ctx context.Context, t *page.Tab) ([]page.Area, error)
	// Holds reports whether the pages of a tab hold a secret; see [page.Options].
	Holds(ctx context.Context, t *page.Tab) (bool, error)
}

// WindowOptions identifies a window and says how to make it if it does not exist.
type WindowOptions struct {
	// Key identifies the owner: the id of a session. Required.
	Key string
	// URL is where a new window opens; empty means about:blank.
	URL string
	// Profile has the cookies and storage to use; empty means the Manager's. An existing window keeps its profile.
	Profile string
	// Headed asks for a visible browser window.
	Headed bool
	// Ephemeral keeps cookies and storage apart from the profile, in memory only, and discards them with the
	// window.
	Ephemeral bool
}

// Open prepares the Manager, and ends browsers and removes files that a crashed run has left. It starts no
// browser.
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
		Path: filepath.Join(m.Home, "browser", "profiles.json"), FirstPort: m.FirstPort, LastPort: m.LastPort,
		DefaultName: m.Profile,
		PortInUse:   func(port int) bool { return !chrome.PortFree(context.WithoutCancel(ctx), port) },
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
	m.packingAbandoned = make(chan struct{})
	m.abandonPacking = sync.OnceFunc(func() { close(m.packingAbandoned) })
	m.encoders.manager = m
	profile.ReapOrphans(ctx, m.userDataDir("*"), m.Logger)
	if m.StateKeys != nil {
		m.wg.Go(m.packLeftStates)
	}
	return nil
}

func (m *Manager) userDataDir(profile string) string {
	return filepath.Join(m.Home, "browser", profile, "user-data")
}

// Window returns the window of a key: the existing one, or a new one at opts.URL. It starts the browser if
// necessary. If a page had to be opened for that (the pages of a window that was parked or whose browser had ended, or
// opts.URL), reopened says in a sentence what was restored and what was lost. A page that fails to load is reported
// there, too, not as an error. The window's pages are not frozen until [Window.Rest].
func (m *Manager) Window(ctx context.Context, opts WindowOptions) (w *Window, reopened string, err error) {
	if opts.Key == "" {
		return nil, "", errors.New("open window: no key given")
	}
	w, err = m.findOrMakeWindow(opts)
	if err != nil {
		return nil, "", fmt.Errorf("open window: %w", err)
	}
	w.mu.Lock()
	w.working = true
	w.mu.Unlock()
	use, reopened, err := w.readyTab(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("open window: %w", err)
	}
	use.release()
	return w, reopened, nil
}

// CheckInstance returns nil if a place can have a profile named name, "<base>@<place>". The error wraps
// [ErrInvalid].
func (m *Manager) CheckInstance(name string) error {
	p, err := m.store.Ensure(name)
	if err != nil {
		return err
	}
	_, err = m.resolve(p)
	return err
}

// findOrMakeWindow finds or makes the window without starting a browser.
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

// isClosed reports whether the Manager is not open or is closing. The caller holds m.mu.
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

// Lookup returns the window of a key, if there is one that is not parked. It starts and opens nothing.
func (m *Manager) Lookup(key string) (*Window, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.windows[key]
	if !ok || w.isParkedUnused() {
		return nil, false
	}
	return w, true
}

// CloseWindow closes the window of a key, parked or not. An unknown key is no error.
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

// Status lists the profiles used since Open, by name. It does not query their browsers.
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

// Close closes all windows and shuts the browsers down so that cookies are saved, and returns when everything has
// ended. When ctx ends, the browsers are killed, and state that is not packed yet stays unencrypted. Closing twice
// is no error.
func (m *Manager) Close(ctx context.Context) error {
	if m.abandonPacking != nil {
		defer context.AfterFunc(ctx, m.abandonPacking)()
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

// MaxRunning returns how many browsers started here may run at once; 0 means no limit.
func (m *Manager) MaxRunning() int { return m.config().MaxRunning }

func (m *Manager) resolve(p profile.Profile) (profile.Resolved, error) {
	return profile.Resolve(p, m.config())
}

func (m *Manager) connector(c profile.Config) profile.Connector {
	return profile.Connector{HTTPTimeout: c.RemoteTimeout, Handshake: c.RemoteHandshake, Policy: m.Endpoints}
}
