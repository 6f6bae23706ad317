package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Options configures a connection. The zero value is ready for use.
type Options struct {
	cdp.Options // CallTimeout: 0 means 10 s

	// Logger receives events that no caller sees; nil discards them.
	Logger *slog.Logger
	// Observers receive the events of all tabs.
	Observers []Observer
	// FirstTabNumber is the number of the first tab; 0 means 1.
	FirstTabNumber int
	// HiddenAreas, if set, returns the areas to cover in pictures of a tab; nil means that there are no secrets
	// anywhere. If it fails no picture is returned.
	HiddenAreas func(ctx context.Context, t *Tab) ([]Area, error)
	// Holds, if set, reports whether the pages of a tab hold a secret. While they do, or if it fails, nothing is copied
	// to the clipboard.
	Holds func(ctx context.Context, t *Tab) (bool, error)
	// Started reports that we started the browser, so that its pages can be kept from reading its clipboard.
	Started bool
	// OnScreen reports that a browser we started shows windows. It then shares the desktop's clipboard, so pages may
	// not write to it either.
	OnScreen bool
	// Joined reports that the browser is a person's own. Keys that copy or paste are refused there.
	Joined bool
}

// TabOptions configures a new tab.
type TabOptions struct {
	// URL is loaded after opening; empty means about:blank. It is parsed as in [Tab.Navigate].
	URL string
	// ContextID is an incognito context made by [Browser.NewContext]; empty means the browser's default context.
	ContextID string
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of [Event].
const (
	TabOpened  EventKind = "opened"
	TabClosed  EventKind = "closed"
	TabCrashed EventKind = "crashed"
	TabChanged EventKind = "changed" // URL or title
)

// Event is a change of a tab. A tab that a page opened (window.open, target=_blank) has its opener in Tab.Opener.
type Event struct {
	Kind EventKind
	Tab  *Tab
}

// Browser is a connection to a running Chromium. It owns its goroutines and the connection, not the process. It is safe
// for concurrent use.
type Browser struct {
	conn        *cdp.Conn
	rootSession *cdp.Session
	log         *slog.Logger

	observers   []Observer
	hiddenAreas func(ctx context.Context, t *Tab) ([]Area, error) // may be nil
	holds       func(ctx context.Context, t *Tab) (bool, error)   // may be nil
	clipboards

	mu            sync.Mutex
	sessions      map[string]attachment // by session id
	tabs          []*Tab                // open ones, in order of appearance
	openers       map[string]string     // target id → target id of the opener, for tabs not attached yet
	lastTabNumber int
	tabsChanged   chan struct{} // closed and replaced whenever a tab opens or closes
	holdBegins    chan struct{} // closed and replaced whenever a takeover begins
	queues        map[*EventQueue[Event]]struct{}
	closed        bool
	wg            sync.WaitGroup
}

// Connect opens the browser's WebSocket (ws://…/devtools/browser/…), attaches to present and future tabs, and returns
// when the present ones are known. A frozen tab does not delay it.
func Connect(ctx context.Context, wsURL string, opts Options) (*Browser, error) {
	opts = opts.withDefaults()
	c, err := cdp.Dial(ctx, wsURL, opts.Options)
	if err != nil {
		return nil, err
	}
	return attach(ctx, c, opts)
}

// ConnectPipe is Connect over the pipe of a browser that we started. The Browser owns the pipe.
func ConnectPipe(ctx context.Context, pipe *cdp.Pipe, opts Options) (*Browser, error) {
	opts = opts.withDefaults()
	return attach(ctx, cdp.New(pipe, opts.Options), opts)
}

func (opts Options) withDefaults() Options {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.CallTimeout <= 0 {
		opts.CallTimeout = 10 * time.Second
	}
	return opts
}

func attach(ctx context.Context, c *cdp.Conn, opts Options) (*Browser, error) {
	b := &Browser{
		log: opts.Logger, observers: opts.Observers, hiddenAreas: opts.HiddenAreas, holds: opts.Holds,
		lastTabNumber: max(opts.FirstTabNumber-1, 0), sessions: map[string]attachment{}, openers: map[string]string{},
		clipboards:  clipboards{started: opts.Started, onScreen: opts.OnScreen, joined: opts.Joined},
		tabsChanged: make(chan struct{}), holdBegins: make(chan struct{}), queues: map[*EventQueue[Event]]struct{}{},
	}
	b.conn = c
	b.rootSession = c.Session("", cdp.ErrGone)
	c.Start(b.handleEvent) // the connection outlives this call
	b.wg.Go(b.watchConnection)
	if err := b.denyClipboard(ctx, ""); err != nil {
		_ = b.Close()
		return nil, err
	}
	discover := b.rootSession.Begin(proto.TargetSetDiscoverTargets{Discover: true})
	follow := b.rootSession.Begin(autoAttach("page"))
	for _, call := range []*cdp.Call{discover, follow} {
		if err := call.Wait(ctx, nil); err != nil {
			_ = b.Close()
			return nil, fmt.Errorf("attach to the browser: %w", err)
		}
	}
	return b, nil
}

// autoAttach asks for sessions of related targets of these types. New targets are paused until they are set up, so that
// no dialog is missed.
//
// For a page, frame or worker, kinds must include everything that its renderer starts: Chromium pauses workers and
// worklets before it applies the filter, so one that the filter excludes would never run.
func autoAttach(kinds ...string) proto.Request {
	var filter proto.TargetTargetFilter
	for _, kind := range kinds {
		filter = append(filter, &proto.TargetFilterEntry{Type: kind})
	}
	return proto.TargetSetAutoAttach{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: true, Filter: filter}
}

// watchConnection closes all tabs when the connection has ended.
func (b *Browser) watchConnection() {
	<-b.conn.Done()
	b.mu.Lock()
	tabs := slices.Clone(b.tabs)
	b.tabs = nil
	b.closed = true
	b.signalTabs()
	b.mu.Unlock()
	for _, t := range tabs {
		t.markClosed(b.conn.GoneError())
	}
	b.mu.Lock()
	for f := range b.queues {
		f.End()
	}
	b.mu.Unlock()
}

// signalTabs wakes goroutines that wait for tabs. The caller holds b.mu.
func (b *Browser) signalTabs() {
	close(b.tabsChanged)
	b.tabsChanged = make(chan struct{})
}

// NewTab opens a tab and, if a URL is given, loads it. If loading fails the tab stays open and both the tab and the
// error are returned.
func (b *Browser) NewTab(ctx context.Context, opts TabOptions) (*Tab, error) {
	if opts.URL != "" {
		if _, err := address.Parse(opts.URL); err != nil {
			return nil, err
		}
	}
	t, err := b.openTab(ctx, opts.ContextID)
	if errors.Is(err, ErrTabCrashed) { // a retry gets a new process
		b.log.Warn("a new tab crashed; opening another")
		t, err = b.openTab(ctx, opts.ContextID)
	}
	if err != nil {
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	if opts.URL == "" || opts.URL == "about:blank" {
		return t, nil
	}
	_, err = t.Navigate(ctx, opts.URL)
	return t, err
}

// openTab opens an empty tab. If it crashes before it is set up, it is closed and the error wraps ErrTabCrashed.
func (b *Browser) openTab(ctx context.Context, contextID string) (*Tab, error) {
	res, err := cdp.Ask[proto.TargetCreateTargetResult](ctx, b.rootSession, proto.TargetCreateTarget{
		URL: "about:blank", BrowserContextID: proto.BrowserBrowserContextID(contextID),
	})
	if err != nil {
		return nil, err
	}
	t, err := b.awaitTab(ctx, string(res.TargetID))
	if err != nil {
		return nil, err
	}
	select {
	case <-t.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if errors.Is(t.setUpErr, ErrTabCrashed) {
		b.rootSession.Post(proto.TargetCloseTarget{TargetID: proto.TargetTargetID(t.targetID)})
		return nil, t.setUpErr
	}
	return t, nil
}

// awaitTab waits until a target is attached.
func (b *Browser) awaitTab(ctx context.Context, target string) (*Tab, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.conn.Timeout(),
		fmt.Errorf("no session for the new tab within %s", b.conn.Timeout()))
	defer cancel()
	for {
		b.mu.Lock()
		t, changed, closed := b.findTab(target), b.tabsChanged, b.closed
		b.mu.Unlock()
		if t != nil {
			return t, nil
		}
		if closed {
			return nil, b.conn.GoneError()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// findTab returns a tab by its short id or target id. The caller holds b.mu.
func (b *Browser) findTab(id string) *Tab {
	for _, t := range b.tabs {
		if t.id == id || t.targetID == id {
			return t
		}
	}
	return nil
}

// Tabs lists the open tabs in the order they appeared. It queries no page and never blocks.
func (b *Browser) Tabs() []*Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tabs)
}

// Tab returns an open tab by its short id or CDP target id; nil if there is none.
func (b *Browser) Tab(id string) *Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.findTab(id)
}

// NewContext creates an incognito browser context, which has its own cookies and storage in memory only. proxyServer is
// a Chromium proxy rule for this context and may be empty.
func (b *Browser) NewContext(ctx context.Context, proxyServer string) (string, error) {
	res, err := cdp.Ask[proto.TargetCreateBrowserContextResult](ctx, b.rootSession, proto.TargetCreateBrowserContext{
		ProxyServer: proxyServer,
	})
	if err != nil {
		return "", fmt.Errorf("make a browser context: %w", err)
	}
	if err := b.denyClipboard(ctx, string(res.BrowserContextID)); err != nil {
		return "", errors.Join(err, b.CloseContext(ctx, string(res.BrowserContextID)))
	}
	return string(res.BrowserContextID), nil
}

// CloseContext closes an incognito context with all its tabs.
func (b *Browser) CloseContext(ctx context.Context, contextID string) error {
	err := b.rootSession.Do(ctx,
		proto.TargetDisposeBrowserContext{BrowserContextID: proto.BrowserBrowserContextID(contextID)})
	if err != nil {
		return fmt.Errorf("close browser context: %w", err)
	}
	b.forgetClipboard(contextID)
	return nil
}

// Close closes the connection and waits for this package's goroutines. The browser and its tabs keep running.
func (b *Browser) Close() error {
	b.conn.Close()
	b.wg.Wait()
	return nil
}

// Done returns a channel that is closed when the connection has ended, for whatever reason.
func (b *Browser) Done() <-chan struct{} { return b.conn.Done() }

// Err returns why the connection ended: nil while it is open and after Close, otherwise an error that wraps
// [ErrBrowserGone].
func (b *Browser) Err() error { return b.conn.Err() }
