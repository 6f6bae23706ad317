package page

import (
	"context"
	"log/slog"
	"time"
)

// Options adjusts a connection. The zero value is ready for use.
type Options struct {
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
	// CallTimeout bounds each single protocol call; 0 means 10 s. A shorter context wins.
	CallTimeout time.Duration
}

// TabOptions says how a tab is opened.
type TabOptions struct {
	// URL is loaded after opening; empty means about:blank. It is checked as in [Tab.Navigate].
	URL string
	// ContextID is an incognito context made by [Browser.NewContext]; empty means the browser's own profile.
	ContextID string
}

// EventKind says what happened to a tab.
type EventKind string

// The kinds of [Event].
const (
	TabOpened  EventKind = "opened"
	TabClosed  EventKind = "closed"
	TabCrashed EventKind = "crashed"
	TabChanged EventKind = "changed" // URL or title
)

// Event tells about a tab. Tabs opened by a page (window.open, target=_blank) carry their opener in Tab.Opener.
type Event struct {
	Kind EventKind
	Tab  *Tab
}

// Browser is one connection to a running Chromium. It owns its goroutines and the WebSocket, not the process.
// It is safe for concurrent use.
type Browser struct {
}

// Connect opens the browser's WebSocket (ws://…/devtools/browser/…), attaches to the tabs that exist and to those that
// come, and returns when the tabs that exist are known. A frozen tab does not delay it.
func Connect(ctx context.Context, wsURL string, opts Options) (*Browser, error) {
	return nil, ErrBrowserGone
}

// NewTab opens a tab and, if a URL is given, loads it. If loading fails the tab stays open and both the tab and the
// error are returned.
func (b *Browser) NewTab(ctx context.Context, opts TabOptions) (*Tab, error) {
	return nil, ErrBrowserGone
}

// Tabs lists the open tabs in the order they appeared. It asks no page and never blocks.
func (b *Browser) Tabs() []*Tab { return nil }

// Tab finds an open tab by its short id or its CDP target id; nil if there is none.
func (b *Browser) Tab(id string) *Tab { return nil }

// NewContext makes an incognito browser context: cookies and storage of its own, in memory only.
// proxyServer may be empty; otherwise it is a Chromium proxy rule for this context.
func (b *Browser) NewContext(ctx context.Context, proxyServer string) (string, error) {
	return "", ErrBrowserGone
}

// CloseContext closes an incognito context with all its tabs.
func (b *Browser) CloseContext(ctx context.Context, contextID string) error { return ErrBrowserGone }

// Events returns what happens to tabs from now on, oldest first, until stop is called or the connection ends, which
// closes the channel. A reader that falls behind delays nobody: its events are queued.
func (b *Browser) Events() (events <-chan Event, stop func()) { return nil, func() {} }

// Close ends the connection and waits for this package's goroutines. The browser and its tabs go on.
func (b *Browser) Close() error { return nil }

// Done is closed when the connection has ended, for whatever reason.
func (b *Browser) Done() <-chan struct{} { return nil }

// Err says why the connection ended: nil while it lives and after Close, otherwise an error that wraps [ErrBrowserGone].
func (b *Browser) Err() error { return nil }
