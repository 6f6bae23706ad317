package main

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
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/control"
	"clank/browsermgr/egress"
	"clank/browsermgr/login"
	"clank/browsermgr/plan"
	"clank/budget"
	"clank/cancel"
	"clank/internal/asking"
	"clank/internal/demoshop"
	"clank/internal/home"
	"clank/internal/models"
	"clank/internal/phone"
	"clank/internal/spending"
	"clank/internal/toolbox"
	"clank/runs"
	"clank/runs/script"
	"clank/sessions"
	"clank/settings"
	"clank/sqlite"
	"clank/tokens"
	"clank/vault"
)

// closeGrace bounds an orderly end. Chromium is given five seconds of it.
const closeGrace = 12 * time.Second

// browserIdle is how long a browser without a page is kept: another start costs
// half a second, and an idle one a hundred megabytes.
const browserIdle = 10 * time.Minute

// app is everything behind the doors: the state, the browser, the mind and the
// manager of tasks.
type app struct {
	home     *home.Home
	logger   *slog.Logger
	db       *sqlite.DB
	settings *settings.Live
	scopes   cancel.Scopes
	gate     *egress.Gate
	own      doorplates
	allow    []string // hosts that pages may reach besides those of the settings
	browsers *browsermgr.Manager
	features *control.Features
	tools    *toolbox.Box
	tokens   *tokens.Store
	local    string // secret of this run, for other programs of the same person
	models   *models.Finder
	budget   *budget.Keeper
	asker    *asking.Asker
	programs *asking.Programs
	manager  *sessions.Manager
	recorder *runs.Recorder
	web      *web
	phone    *phone.Exchange // nil but for a server
	vault    *vault.Vault    // nil if it cannot be opened
	logins   login.Keeper
	shop     *http.Server
	shopURL  string

	getenv    func(string) string
	version   string
	place     string // directory in which the state lies
	throwaway bool   // keep nothing: another process owns the home

	closers []func(context.Context) error // run last to first
}

// appOptions configure an app.
type appOptions struct {
	getenv    func(string) string // the environment, secrets among it
	logger    *slog.Logger
	version   string          // of the program
	hurry     context.Context //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
	throwaway bool
	shopAddr  string              // where the demo shop listens
	sent      func(method string) // see [browsermgr.Manager.Sent]; nil outside of measurements
}

// openApp opens the parts in the order in which they need each other. What was
// opened is closed again if a later part fails.
func openApp(ctx context.Context, h *home.Home, opts appOptions) (_ *app, err error) {
	a := &app{home: h, logger: opts.logger, getenv: opts.getenv, version: opts.version, throwaway: opts.throwaway}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(opts.hurry))
		}
	}()
	if err := a.openPlace(); err != nil {
		return nil, err
	}
	if err := a.openState(ctx); err != nil {
		return nil, err
	}
	a.local = tokens.Secret()
	if a.tokens, err = tokens.Open(a.home.TokenFile(), nil); err != nil {
		return nil, err
	}
	if err := a.openShop(ctx, opts.shopAddr); err != nil {
		return nil, err
	}
	if a.budget, err = spending.Open(ctx, a.db, a.settings.Now, a.logger); err != nil {
		return nil, err
	}
	a.models = a.newModels()
	a.openVault(ctx)
	a.asker = a.newAsker()
	a.programs = &asking.Programs{Asker: a.asker, Owner: func(target string) (string, string) { return a.browsers.Owner(target) }}
	if err := a.openGate(ctx); err != nil {
		return nil, err
	}
	if err := a.openBrowsers(ctx, opts); err != nil {
		return nil, err
	}
	if err := a.openManager(ctx); err != nil {
		return nil, err
	}
	a.web = a.openWeb()
	return a, nil
}

// close ends the parts, last opened first. When hurry ends, what is left is
// ended without waiting.
func (a *app) close(hurry context.Context) error {
	ctx, cancelGrace := context.WithTimeout(hurry, closeGrace)
	defer cancelGrace()
	var errs []error
	for _, c := range slices.Backward(a.closers) {
		errs = append(errs, c(ctx))
	}
	a.closers = nil
	return errors.Join(errs...)
}

func (a *app) onClose(f func(context.Context) error) { a.closers = append(a.closers, f) }

// openPlace settles where the state lies: in the home, or in a directory that goes with this process.
func (a *app) openPlace() error {
	a.place = a.home.Dir
	if !a.throwaway {
		return nil
	}
	place, err := os.MkdirTemp("", "clank-")
	if err != nil {
		return fmt.Errorf("make a place for the state: %w", err)
	}
	a.place = place
	a.onClose(func(context.Context) error { return os.RemoveAll(place) })
	return nil
}

func (a *app) openState(ctx context.Context) error {
	db, err := sqlite.Open(ctx, filepath.Join(a.place, "clank.db"))
	if err != nil {
		return err
	}
	a.db = db
	a.onClose(func(context.Context) error { return db.Close() })
	a.settings = &settings.Live{Store: db, Log: a.logger, Providers: models.Providers(), Check: reachFaults}
	return a.settings.Open(ctx)
}

// openShop starts the demo shop on addr, or on any free port if that is taken.
func (a *app) openShop(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		ln, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return fmt.Errorf("start the demo shop: %w", err)
	}
	a.shopURL = "http://" + ln.Addr().String() + "/"
	a.shop = &http.Server{Handler: demoshop.Handler(), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.shop.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			a.logger.Error("demo shop ended", "error", err)
		}
	}()
	a.onClose(func(context.Context) error {
		err := a.shop.Close()
		<-done
		return err
	})
	return nil
}

func (a *app) newModels() *models.Finder {
	return &models.Finder{
		Places:     a.places(),
		Scripts:    script.Shelf{Dir: a.home.Scripts()}.Steps,
		Secret:     func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, a.getenv) },
		Compatible: func() string { return a.settings.Now().CompatibleURL },
		BaseURL:    a.getenv,
		Within:     a.budget.Model,
		Logger:     a.logger,
	}
}

// places are the pages people may name instead of writing an address.
func (a *app) places() map[string]string {
	return map[string]string{"the demo shop": a.shopURL}
}

// devToolsPorts is how many ports browsers get their DevTools port from.
const devToolsPorts = 100

func (a *app) openBrowsers(ctx context.Context, opts appOptions) error {
	a.features = &control.Features{
		Dir: a.place, Held: true, Allowed: a.mayDownload, Approve: a.programs.Keep, Logger: a.logger,
		MaxDownload: func() int64 { return int64(a.settings.Now().Browser.MaxDownload) << 20 },
		MaxUpload:   func() int64 { return int64(a.settings.Now().Browser.MaxUpload) << 20 },
	}
	first := a.settings.Now().Browser.FirstPort
	a.browsers = &browsermgr.Manager{
		Home:      a.place,
		Config:    a.browserConfig,
		Observe:   a.features.Observe,
		FirstPort: first,
		LastPort:  first + devToolsPorts - 1,
		IdleAfter: browserIdle,
		Logger:    a.logger,
		Sent:      opts.sent,
		Hidden:    a.logins.Hidden,
	}
	if a.vault != nil {
		a.browsers.Clean = a.vault.ScrubJSON
	}
	a.guards(a.browsers)
	if err := a.browsers.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.browsers.Close)
	return nil
}

// browserConfig is how browsers are started, as the settings have it now.
func (a *app) browserConfig() browsermgr.Config {
	s := a.settings.Now()
	headless := !s.Headed // a window is asked for, by the setting or the task
	b := s.Browser
	return browsermgr.Config{
		Disabled: !s.BrowserEnabled, Executable: s.BrowserPath, Headless: &headless, NoSandbox: b.NoSandbox, AttachOnly: b.AttachOnly,
		Color: b.Color, Args: b.Args(), Unguarded: s.Reach.PrivateNetwork == settings.PrivateAllowed,
		LaunchTimeout: b.LaunchTimeout, ReadyTimeout: b.ReadyTimeout, RemoteTimeout: b.RemoteTimeout, RemoteHandshake: b.RemoteHandshake,
		Cleanup: plan.TabCleanup{Off: !b.TabCleanup, IdleAfter: b.TabIdle, MaxPerOwner: b.TabsPerSession, Every: b.TabSweepInterval},
	}
}

func (a *app) openManager(ctx context.Context) error {
	a.recorder = a.newRecorder()
	a.manager = &sessions.Manager{
		Store:          a.recorder.Store(a.db),
		Backends:       a.backends(),
		DefaultRuntime: func() string { return browseagent.Runtime },
		Enter:          a.mayEnter,
		Profile:        a.profileFor,
		Route:          a.route,
		HandOver:       a.handOver,
		Limits:         a.limits,
		Scopes:         &a.scopes,
		Logger:         a.logger,
	}
	if err := a.manager.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.manager.Close)
	return nil
}
