package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/egress"
	"clank/browsermgr/page/login"
	"clank/browsermgr/profile"
	"clank/cancel"
	"clank/internal/budget"
	"clank/internal/demoshop"
	"clank/internal/liveview"
	"clank/internal/recording"
	"clank/internal/recording/video"
	"clank/internal/settings"
	"clank/internal/sqlite"
	"clank/internal/telemetry"
	"clank/internal/vault"
	"clank/sessions"
	"clank/sessions/access"
)

// closeTimeout bounds a graceful shutdown, including the five seconds that Chromium gets.
const closeTimeout = 12 * time.Second

// browserIdleTimeout is how long a browser without a page keeps running: a start costs half a second, an idle browser
// a hundred megabytes.
const browserIdleTimeout = 10 * time.Minute

// Server holds the components of a running clank: state, browsers, models, and the task manager.
type Server struct {
	Home         *Home
	logger       *slog.Logger
	Db           *sqlite.DB
	homeDB       *sqlite.DB // with the settings and what was spent; Db unless the state is temporary
	Settings     *settings.Manager
	scopes       cancel.Scopes
	gate         *egress.Proxy
	OwnListeners listenerSet
	allowedHosts []string // hosts that pages may reach in addition to those of the settings
	Browsers     *browsermgr.Manager
	features     *control.Features
	Tools        *BrowserTools
	tokens       *access.TokenStore
	LocalSecret  string // secret of this run, for other programs of the same user
	models       *ModelFinder
	budget       *budget.Enforcer
	telemetry    *telemetry.Recorder
	Approver     *Approver
	downloads    *DownloadApprover
	Sessions     *sessions.Manager
	recorder     *recording.Recorder
	disk         *diskLimiter
	Inbox        *FileInbox
	films        *video.Recorder
	Web          *WebServices
	CallService  *CallService // nil unless running as a server
	Vault        *vault.Vault // nil if it cannot be opened
	LoginFiller  login.Filler
	ShopURL      string
	boardURL     atomic.Pointer[string] // of the dashboard; nil while it is not open
	damage       atomic.Pointer[error]  // of the database; nil while none is known
	Live         *liveview.Server
	nodes        nodeBook

	keys      serviceKeys
	getenv    func(string) string // the environment and the vault's service keys
	environ   func(string) string // the environment only
	version   string
	abort     context.Context //nolint:containedctx // [Options.AbortContext]
	StateDir  string          // directory of the state
	Ephemeral bool            // store nothing but what is spent: another process owns the home

	browserMu     sync.Mutex
	browserFound  chrome.Executable // the browser whose build date the dashboard shows
	browserWanted string            // the setting for which it was found

	closersLock sync.Mutex                    // Discord is connected in the background
	Closers     []func(context.Context) error // run last to first
}

// Options configure a Server.
type Options struct {
	Getenv         func(string) string // the environment, including secrets
	Logger         *slog.Logger
	Version        string          // of clank
	AbortContext   context.Context //nolint:containedctx // ends when the user forces an exit; a signal
	Ephemeral      bool
	ShopAddr       string                          // listen address of the demo shop
	OnProtocolCall func(method string, params any) // see [browsermgr.Manager.OnSent]; nil except in measurements
}

// Open opens the components in order of their dependencies. If one fails, those already open are closed.
func Open(ctx context.Context, h *Home, opts Options) (_ *Server, err error) {
	a := &Server{
		Home: h, logger: opts.Logger, environ: opts.Getenv, version: opts.Version, abort: opts.AbortContext,
		Ephemeral: opts.Ephemeral,
	}
	a.getenv = a.keys.behind(opts.Getenv)
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close(opts.AbortContext))
		}
	}()
	if err := a.openStateDir(); err != nil {
		return nil, err
	}
	if err := a.openDatabase(ctx); err != nil {
		return nil, err
	}
	a.telemetry = &telemetry.Recorder{
		Store: a.Db, Metrics: telemetry.NewMetrics(a.version), Logger: a.logger,
	}
	a.telemetry.Metrics.Registry.MustRegister(gauges{a})
	if a.telemetry.Tracer, err = telemetry.OpenTracer(ctx, a.getenv, a.version, a.logger); err != nil {
		return nil, err
	}
	a.onClose(a.telemetry.Tracer.Close)
	a.LocalSecret = access.NewSecret()
	if a.tokens, err = access.OpenTokens(a.Home.TokenFile()); err != nil {
		return nil, err
	}
	if err := a.openShop(ctx, opts.ShopAddr); err != nil {
		return nil, err
	}
	if err := a.openBudget(ctx); err != nil {
		return nil, err
	}
	a.models = a.newModelFinder()
	a.openVault(ctx)
	a.Approver = a.newApprover()
	a.inBackground(ctx, func(ctx context.Context) { a.telemetry.FollowConsents(ctx, a.Approver.Approvals) })
	a.downloads = &DownloadApprover{Approver: a.Approver}
	if err := a.openGate(ctx); err != nil {
		return nil, err
	}
	a.recorder = a.NewRecorder()
	if err := a.openBrowsers(ctx, opts); err != nil {
		return nil, err
	}
	if err := a.openSessions(ctx); err != nil {
		return nil, err
	}
	a.openFilms(ctx)
	a.Web = a.OpenWeb()
	return a, nil
}

// Close closes the components in reverse order. When hurry is done, it stops the rest without waiting.
func (a *Server) Close(hurry context.Context) error {
	ctx, cancelGrace := context.WithTimeout(hurry, closeTimeout)
	defer cancelGrace()
	a.closersLock.Lock()
	closers := a.Closers
	a.Closers = nil
	a.closersLock.Unlock()
	var errs []error
	for _, c := range slices.Backward(closers) {
		errs = append(errs, c(ctx))
	}
	return errors.Join(errs...)
}

func (a *Server) onClose(f func(context.Context) error) {
	a.closersLock.Lock()
	defer a.closersLock.Unlock()
	a.Closers = append(a.Closers, f)
}

// inBackground runs do until the server closes.
func (a *Server) inBackground(ctx context.Context, do func(context.Context)) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { do(life) })
	a.onClose(func(context.Context) error {
		end()
		work.Wait()
		return nil
	})
}

// openStateDir chooses the state directory: the home, or a temporary directory of this process.
func (a *Server) openStateDir() error {
	a.StateDir = a.Home.Dir
	if !a.Ephemeral {
		removeUnfinished(os.TempDir())
		removeUnfinished(filepath.Dir(a.StateDir))
		return nil
	}
	place, err := os.MkdirTemp("", "clank-")
	if err != nil {
		return fmt.Errorf("make a place for the state: %w", err)
	}
	a.StateDir = place
	a.onClose(func(context.Context) error { return os.RemoveAll(place) })
	return nil
}

func (a *Server) openDatabase(ctx context.Context) error {
	h := a.Home
	if a.Ephemeral {
		h = &Home{Dir: a.StateDir}
	}
	db, err := h.OpenDatabase(ctx)
	if err != nil {
		return err
	}
	a.Db = db
	a.onClose(func(context.Context) error { return db.Close() })
	a.homeDB = db
	if a.Ephemeral { // its state is temporary, but the settings and limits of the home hold
		if a.homeDB, err = a.Home.OpenDatabase(ctx); err != nil {
			return err
		}
		a.onClose(func(context.Context) error { return a.homeDB.Close() })
	} else if err := a.Home.storeVersion(a.version); err != nil {
		return err
	}
	a.Settings = &settings.Manager{
		Store: a.homeDB, Guilds: a.homeDB, Log: a.logger, Providers: ModelProviders(), Check: CheckReach,
		ServerModels: choosableModels,
	}
	return a.Settings.Open(ctx)
}

// openShop starts the demo shop on addr, or on a free port if that is taken.
func (a *Server) openShop(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		ln, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("start the demo shop: %w", err)
	}
	a.ShopURL = "http://" + ln.Addr().String() + "/"
	shop := &http.Server{Handler: demoshop.Handler(), ReadHeaderTimeout: 10 * time.Second}
	a.onClose(serveInBackground(shop, func() error { return shop.Serve(ln) }, func(err error) {
		a.logger.Error("demo shop ended", "error", err)
	}))
	return nil
}

// serveInBackground runs serve until end is called. If the server stops for another reason, it calls failed.
func serveInBackground(s *http.Server, serve func() error, failed func(error)) (end func(context.Context) error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	return func(context.Context) error {
		err := s.Close()
		<-done
		return err
	}
}

func (a *Server) newModelFinder() *ModelFinder {
	return &ModelFinder{
		NamedPages: a.NamedPages(), Scripts: recording.ScriptStore{Dir: a.Home.ScriptsDir()},
		Settings: a.Settings, Getenv: a.getenv, Budget: a.budget, Logger: a.logger,
	}
}

// NamedPages returns the pages that people can refer to by name.
func (a *Server) NamedPages() map[string]string {
	return map[string]string{"the demo shop": a.ShopURL}
}

// devToolsPortCount is the size of the port range for the DevTools ports of browsers.
const devToolsPortCount = 100

func (a *Server) openBrowsers(ctx context.Context, opts Options) error {
	a.disk = &diskLimiter{
		Dir: a.StateDir, Limits: func() DiskLimits { return diskLimits(a.Settings.Current()) }, Free: freeBytes,
		Running: a.recorder.Running, Logger: a.logger,
	}
	a.inBackground(ctx, a.disk.Run)
	a.Inbox = &FileInbox{
		Dir: filepath.Join(a.StateDir, inboundFolder), Disk: a.disk,
		MaxBytes: func() int64 { return int64(a.Settings.Current().Browser.MaxUpload) << 20 },
	}
	a.features = &control.Features{Dir: a.StateDir, Held: true, Host: fileHost{a}, Logger: a.logger}
	first := a.Settings.Current().Browser.FirstPort
	a.Browsers = &browsermgr.Manager{
		Home:           a.StateDir,
		Config:         a.browserConfig,
		NewObservers:   a.features.Observe,
		OnDevToolsPort: a.OwnListeners.addPort,
		FirstPort:      first,
		LastPort:       first + devToolsPortCount - 1,
		IdleAfter:      browserIdleTimeout,
		Logger:         a.logger,
		OnSent:         opts.OnProtocolCall,
		CheckRename:    a.checkRename,
		Gate:           a.gate,
		Endpoints:      a,
		Secrets:        &a.LoginFiller,
	}
	a.downloads.Tabs = a.Browsers
	if a.Vault != nil {
		a.Browsers.Redact = a.Vault.ScrubJSON
	}
	if !a.Ephemeral { // a temporary directory is removed as a whole
		a.Browsers.StateKeys = a.stateKeys
	}
	secrets, err := a.controlSecrets()
	if err != nil {
		return err
	}
	a.Browsers.DevToolsToken = func(token string) bool {
		return access.IsSecret(token, secrets.Token) || secrets.Issued(token)
	}
	if err := a.Browsers.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.Browsers.Close)
	return nil
}

// NoSandboxEnv is the environment variable that lets browsers start without their sandbox.
const NoSandboxEnv = "CLANK_NO_SANDBOX"

// noSandbox reports whether the settings or the environment disable the browser sandbox.
func (a *Server) noSandbox() bool {
	return a.Settings.Current().Browser.NoSandbox || a.getenv(NoSandboxEnv) == "1"
}

// browserConfig returns the current settings for starting browsers.
func (a *Server) browserConfig() profile.Config {
	s := a.Settings.Current()
	headless := !s.Headed // a setting or the task requests a window
	b := s.Browser
	return profile.Config{
		Disabled: !s.BrowserEnabled, Executable: s.BrowserPath, Headless: &headless, NoSandbox: a.noSandbox(),
		AttachOnly:   b.AttachOnly,
		DevToolsPort: b.DevToolsPort, MaxRunning: b.MaxRunning,
		Color: b.Color, Args: b.Args(), AllowProxyBypass: s.NetworkAccess.PrivateNetwork == settings.PrivateAllowed,
		LaunchTimeout: b.LaunchTimeout, ReadyTimeout: b.ReadyTimeout, RemoteTimeout: b.RemoteTimeout,
		RemoteHandshake: b.RemoteHandshake,
		Cleanup: profile.TabCleanup{
			Disabled: !b.TabCleanup, IdleAfter: b.TabIdle, MaxPerOwner: b.TabsPerSession,
			Interval: b.TabSweepInterval, FreezeAfter: b.FreezeAfter,
		},
	}
}

func (a *Server) openSessions(ctx context.Context) error {
	a.Sessions = &sessions.Manager{
		Store:          a.recorder.PruningStore(a.telemetry.SessionStore(a.Db)),
		Backends:       a.backends(),
		DefaultRuntime: browseagent.Runtime,
		Policy:         a,
		Limits:         a.sessionLimits,
		Files:          a.Inbox,
		Machine:        machineMemory{a},
		Scopes:         &a.scopes,
		Logger:         a.logger,
	}
	a.Approver.Tasks = a.Sessions
	if err := a.Sessions.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.Sessions.Close)
	a.openLive()
	return nil
}
