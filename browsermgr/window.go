package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/browsermgr/page"
	"clank/sessions"
)

// Window is the tabs of one session. It is safe for concurrent use; actions in one tab run one at a time.
//
// A Window survives its browser: its next use reopens the current page, in a new browser if necessary.
type Window struct {
	manager   *Manager
	key       string
	profile   string
	readyTurn chan struct{} // holds a token while a tab is being acquired, parked or closed

	mu        sync.Mutex
	headed    bool
	ephemeral bool
	closed    bool
	working   bool     // a task uses it
	resting   bool     // its last task has ended, and it has not been used since
	browser   *browser // where the tabs are; nil before the first use

	networkRestarted <-chan struct{} // of browser; renewed when read

	contextID    string // of an ephemeral window, in browser
	tabs         windowTabs
	hadTab       bool          // it has had a tab
	takeover     *Takeover     // nil unless a person controls it
	parked       *parkedWindow // what its closed tabs held; nil for nothing
	parkedUnused bool          // it was parked and has not been used since

	typed typedSecrets
}

// errWindowClosed is returned if a window is closed while it is in use.
var errWindowClosed = errors.New("the window is closed")

// Key returns the key of the window's owner.
func (w *Window) Key() string { return w.key }

// tabLease is a tab in use, whose browser is not stopped for idleness until release.
type tabLease struct {
	browser *browser
	tab     *page.Tab
}

func (u tabLease) release() { u.browser.release() }

// acquireTab returns what readyTab returns, and reports a reopened page in the notes of the next action.
func (w *Window) acquireTab(ctx context.Context) (u tabLease, restored bool, err error) {
	u, reopened, err := w.readyTab(ctx)
	if reopened != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.tabs.AddNotes(reopened)
	}
	return u, reopened != "", err
}

// readyTab returns the current tab in a running browser, starting a browser or opening a tab if necessary. If a page
// had to be reopened, reopened says what was restored. The caller releases the lease.
func (w *Window) readyTab(ctx context.Context) (u tabLease, reopened string, err error) {
	if err := w.awaitTakeover(ctx); err != nil {
		return tabLease{}, "", err
	}
	if err := acquireTurn(ctx, w.readyTurn); err != nil {
		return tabLease{}, "", err
	}
	defer releaseTurn(w.readyTurn)
	w.mu.Lock()
	b, closed, headed := w.browser, w.closed, w.headed
	w.resting, w.parkedUnused = w.resting && w.takeover != nil, false
	w.mu.Unlock()
	if closed {
		return tabLease{}, "", errWindowClosed
	}
	if b == nil || !b.acquire() {
		var headless *bool // nil means the default; false if a visible window is wanted
		if headed {
			headless = new(bool)
		}
		if b, err = w.manager.profileState(w.profile).acquire(ctx, headless); err != nil {
			return tabLease{}, "", err
		}
		w.switchBrowser(b)
	}
	tab := w.currentTab()
	switch {
	case tab == nil:
		tab, reopened, err = w.reopen(ctx, b)
	case errors.Is(tab.Err(), page.ErrTabCrashed):
		reopened = w.loadPage(ctx, b, tab, tab.URL(), "the page had crashed")
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = w.explain(ctx, b, err)
		b.release()
		return tabLease{}, "", err
	}
	b.tabOwners.Touch(tab.TargetID())
	return tabLease{browser: b, tab: tab}, reopened, nil
}

// Rest marks the window as unused: its browser may be stopped to make room for another, and its pages are frozen
// after a while. The next use ends that.
func (w *Window) Rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = false
	w.resting = !w.ephemeral // the cookies of an ephemeral window would be lost
}

// switchBrowser makes b the window's browser and forgets the tabs of the previous one.
func (w *Window) switchBrowser(b *browser) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.browser == b {
		return
	}
	if w.browser != nil {
		w.tabs.BrowserGone()
	}
	w.browser, w.contextID, w.networkRestarted = b, "", b.networkRestarted()
	w.tabs.Clear()
}

// reopen opens the window's tabs with their saved state, or a single tab at its last address if nothing was saved.
// reopened says which; "" for the first tab of an empty window.
func (w *Window) reopen(ctx context.Context, b *browser) (tab *page.Tab, reopened string, err error) {
	w.mu.Lock()
	contextID, ephemeral, url, again, kept := w.contextID, w.ephemeral, w.tabs.LastURL(), w.hadTab, w.parked
	w.parked = nil
	w.mu.Unlock()
	if ephemeral && contextID == "" {
		if contextID, err = b.conn.NewContext(ctx, ""); err != nil {
			return nil, "", err
		}
		w.mu.Lock()
		w.contextID = contextID
		w.mu.Unlock()
	}
	if kept != nil && len(kept.pages) > 0 {
		return w.reopenParked(ctx, b, kept)
	}
	if tab, err = w.openTab(ctx, b); err != nil {
		return nil, "", err
	}
	if url == "" || url == "about:blank" {
		if again {
			reopened = pageClosed + "; the browser starts empty"
		}
		return tab, reopened, nil
	}
	return tab, w.loadPage(ctx, b, tab, url, pageClosed), nil
}

const pageClosed = "the page had been closed"

// loadPage loads an address in a tab and reports the outcome, after what had happened to the former page.
func (w *Window) loadPage(ctx context.Context, b *browser, tab *page.Tab, url, happened string) (reopened string) {
	notes, err := w.navigate(ctx, b, tab, url)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs.AddNotes(notes...)
	if err != nil {
		return fmt.Sprintf("%s and could not be opened again: %v", happened, err)
	}
	return fmt.Sprintf("%s and was opened again at %s; what was typed there is lost", happened, url)
}

// openTab opens an empty tab of this window. The tab is assigned before a page in it can open others.
func (w *Window) openTab(ctx context.Context, b *browser) (*page.Tab, error) {
	w.mu.Lock()
	contextID := w.contextID
	w.mu.Unlock()
	tab, err := b.conn.NewTab(ctx, page.TabOptions{ContextID: contextID})
	if err != nil {
		if tab != nil {
			err = errors.Join(err, tab.Close(ctx))
		}
		return nil, err
	}
	b.assignTab(w, tab)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hadTab = true
	w.tabs.Add(tab)
	w.guardTab(b, tab)
	return tab, nil
}

// adoptTab adds a tab that a page of this window opened.
func (w *Window) adoptTab(b *browser, tab *page.Tab) {
	b.assignTab(w, tab)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		b.forgetWindow(w)
		w.manager.wg.Go(func() { _ = tab.Close(context.Background()) }) // Close has its own time limit
	case w.browser == b && !w.tabs.Has(tab) && !errors.Is(tab.Err(), page.ErrTabGone):
		w.tabs.Add(tab)
		w.guardTab(b, tab)
		w.tabs.AddNotes("a new tab opened and is the current one: " + TabLine(tab))
	}
}

// removeTab forgets a closed tab.
func (w *Window) removeTab(tab *page.Tab) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs.Remove(tab)
}

// currentTab returns the current tab; nil if there is none.
func (w *Window) currentTab() *page.Tab {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.Current()
}

// applyOptions applies opts unless the window has already had a tab.
func (w *Window) applyOptions(opts WindowOptions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hadTab {
		w.headed, w.ephemeral = opts.Headed, opts.Ephemeral
		w.tabs.SetStartURL(opts.URL)
	}
}

// Close closes the window's tabs and discards the cookies and storage of an ephemeral window. The Manager makes a
// new window for the key on request. Closing twice is no error.
func (w *Window) Close(ctx context.Context) error {
	m := w.manager
	m.mu.Lock()
	if m.windows[w.key] == w {
		delete(m.windows, w.key)
	}
	m.mu.Unlock()
	w.mu.Lock()
	w.closed, w.parked = true, nil
	w.mu.Unlock()
	if err := acquireTurn(ctx, w.readyTurn); err != nil { // then no tab is being opened, and later callers see closed
		return fmt.Errorf("close window: %w", err)
	}
	defer releaseTurn(w.readyTurn)
	w.mu.Lock()
	b, tabs, contextID := w.browser, w.tabs.All(), w.contextID
	w.contextID = ""
	w.tabs.Clear()
	w.mu.Unlock()
	if b == nil || !b.acquire() {
		return nil
	}
	defer b.release()
	defer b.forgetWindow(w)
	errs := make([]error, 0, len(tabs)+1)
	for _, tab := range tabs {
		errs = append(errs, tab.Close(ctx))
	}
	if contextID != "" {
		errs = append(errs, b.conn.CloseContext(ctx, contextID))
	}
	if err := errors.Join(errs...); err != nil && !errors.Is(err, page.ErrBrowserGone) {
		return fmt.Errorf("close window: %w", err)
	}
	return nil
}

// readTab runs read, which must not change the page, with the current tab.
func (w *Window) readTab(ctx context.Context, read func(tab *page.Tab) error) error {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return err
	}
	defer u.release()
	return w.explain(ctx, u.browser, read(u.tab))
}

// readText is readTab for a function that returns text.
func (w *Window) readText(ctx context.Context, read func(tab *page.Tab) (string, error)) (text string, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) (err error) {
		text, err = read(tab)
		return err
	})
	return w.clean(text), err
}

// WithTab runs do with the current tab, reopening it if its browser has ended.
func (w *Window) WithTab(ctx context.Context, do func(tab *page.Tab) error) error {
	return w.readTab(ctx, do)
}

// Snapshot describes the current page as text, with a ref for each element that can be acted on. o.Interactive
// lists only those elements.
func (w *Window) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) {
		snapshot, err := tab.Snapshot(ctx, page.SnapshotOptions{
			Interactive: o.Interactive, After: o.After,
			MaxChars: o.MaxChars,
		})
		return snapshot.Text, err
	})
}

// Text returns the readable text of the element with that ref, or of the page if ref is empty.
func (w *Window) Text(ctx context.Context, ref string) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) { return tab.Text(ctx, ref) })
}

// MainFrameText returns the readable text of the page without its frames, whose advertisements often change. If
// the main frame has no text, the frames are included.
func (w *Window) MainFrameText(ctx context.Context) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) {
		r, err := tab.Read(ctx, page.ReadOptions{WithoutFrames: true})
		return r.Text, err
	})
}

// State returns the address and title of the current page and a line for each tab; the current tab's begins with
// "*". It queries neither the browser nor the page. A window whose browser has ended has no tabs, only the address
// at which it will reopen. During a takeover the state from before it is returned.
func (w *Window) State(context.Context) (url, title string, tabs []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return "", "", nil, errWindowClosed
	}
	if h := w.takeover; h != nil {
		return h.state.url, h.state.title, slices.Clone(h.state.tabs), nil
	}
	url, title, tabs = w.tabs.State(w.browser != nil && w.browser.isGone())
	return w.cleanURL(url), w.clean(title), w.cleanAll(tabs), nil
}
