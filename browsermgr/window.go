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

// Window is the tabs of one session. It is safe for concurrent use; actions in one tab take turns.
//
// A Window goes on when its browser ends: the next use opens its current page again, in a new browser if need be.
type Window struct {
	manager   *Manager
	key       string
	profile   string
	readyTurn chan struct{} // holds a token while the window is made ready

	mu        sync.Mutex
	headed    bool
	ephemeral bool
	closed    bool
	working   bool     // a task works it
	resting   bool     // its last task has ended, and nobody has used it since
	browser   *browser // where the tabs are; nil before the first use

	networkRestarted <-chan struct{} // of browser, since the last action

	contextID string // of an ephemeral window, in browser
	tabs      windowTabs
	hadTab    bool          // it had a tab once
	hands     *Hands        // of the person who works it; nil for nobody
	parked    *parkedWindow // what its tabs held that are not open; nil for nothing
	away      bool          // it was parked, and nobody has used it since

	typed typedSecrets
}

// errWindowClosed says that a window was closed while somebody used it.
var errWindowClosed = errors.New("the window is closed")

// Key returns the key of the window's owner.
func (w *Window) Key() string { return w.key }

// tabLease is a running operation: a tab of a browser that is not stopped meanwhile.
type tabLease struct {
	browser *browser
	tab     *page.Tab
}

func (u tabLease) release() { u.browser.release() }

// acquireTab returns the current tab in a running browser. restored says that a page had to be opened again for that.
// The caller calls done.
func (w *Window) acquireTab(ctx context.Context) (u tabLease, restored bool, err error) {
	if err := w.awaitHands(ctx); err != nil {
		return tabLease{}, false, err
	}
	if err := acquireTurn(ctx, w.readyTurn); err != nil {
		return tabLease{}, false, err
	}
	defer releaseTurn(w.readyTurn)
	w.mu.Lock()
	b, closed, headed := w.browser, w.closed, w.headed
	w.resting, w.away = w.resting && w.hands != nil, false
	w.mu.Unlock()
	if closed {
		return tabLease{}, false, errWindowClosed
	}
	if b == nil || !b.acquire() {
		var headless *bool // as it comes, unless a window on the screen is wanted
		if headed {
			headless = new(bool)
		}
		if b, err = w.manager.profileState(w.profile).acquire(ctx, headless); err != nil {
			return tabLease{}, false, err
		}
		w.switchBrowser(b)
	}
	tab := w.currentTab()
	switch {
	case tab == nil:
		tab, restored, err = w.reopen(ctx, b)
	case errors.Is(tab.Err(), page.ErrTabCrashed):
		restored = true
		w.loadPage(ctx, b, tab, tab.URL(), "the page had crashed and was loaded again")
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = w.explain(ctx, b, err)
		b.release()
		return tabLease{}, false, err
	}
	b.tabOwners.Touch(tab.TargetID())
	return tabLease{browser: b, tab: tab}, restored, nil
}

// Rest says that nobody needs the window for now: its browser may be stopped to make room for another, and its pages
// are frozen. The next use ends that.
func (w *Window) Rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = false
	w.resting = !w.ephemeral // whose cookies would be lost
}

// switchBrowser lets go of the tabs of a browser that is gone.
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

// reopen opens the tabs that the window had, with what they held as far as that was kept, or else one at its last
// address.
func (w *Window) reopen(ctx context.Context, b *browser) (tab *page.Tab, restored bool, err error) {
	w.mu.Lock()
	contextID, ephemeral, url, again, kept := w.contextID, w.ephemeral, w.tabs.LastURL(), w.hadTab, w.parked
	w.parked = nil
	w.mu.Unlock()
	if ephemeral && contextID == "" {
		if contextID, err = b.conn.NewContext(ctx, ""); err != nil {
			return nil, false, err
		}
		w.mu.Lock()
		w.contextID = contextID
		w.mu.Unlock()
	}
	if kept != nil && len(kept.pages) > 0 {
		tab, err = w.reopenParked(ctx, b, kept)
		return tab, true, err
	}
	if tab, err = w.openTab(ctx, b); err != nil {
		return nil, false, err
	}
	if url == "" || url == "about:blank" {
		return tab, again, nil
	}
	word := "opened the page again"
	if !again {
		word = "opened the last page"
	}
	w.loadPage(ctx, b, tab, url, word)
	return tab, true, nil
}

// loadPage brings a tab to an address, and leaves the outcome to be told with the next action.
func (w *Window) loadPage(ctx context.Context, b *browser, tab *page.Tab, url, word string) {
	text := fmt.Sprintf("%s: %s; what was typed there is lost", word, url)
	notes, err := w.navigate(ctx, b, tab, url)
	if err != nil {
		text = fmt.Sprintf("could not open the last page again: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs.AddNotes(append([]string{text}, notes...)...)
}

// openTab opens an empty tab of this window. Whose it is is known before a page in it can open others.
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

// adoptTab takes a tab that a page of this window has opened.
func (w *Window) adoptTab(b *browser, tab *page.Tab) {
	b.assignTab(w, tab)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		b.forgetWindow(w)
		w.manager.wg.Go(func() { _ = tab.Close(context.Background()) }) // bounded by the tab's own limit
	case w.browser == b && !w.tabs.Has(tab) && !errors.Is(tab.Err(), page.ErrTabGone):
		w.tabs.Add(tab)
		w.guardTab(b, tab)
		w.tabs.AddNotes("a new tab opened and is the current one: " + TabLine(tab))
	}
}

// removeTab forgets a tab that was closed.
func (w *Window) removeTab(tab *page.Tab) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs.Remove(tab)
}

// currentTab returns the current tab, or nil if none is left.
func (w *Window) currentTab() *page.Tab {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.Current()
}

// applyOptions settles what the window will be like, unless it has had a tab already.
func (w *Window) applyOptions(opts WindowOptions) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hadTab {
		w.headed, w.ephemeral = opts.Headed, opts.Ephemeral
		w.tabs.SetStartURL(opts.URL)
	}
}

// Close closes the window's tabs, and forgets the cookies and storage of an ephemeral one. The Manager makes a new
// window when the key is asked for again. Closing twice is no error.
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
	if err := acquireTurn(ctx, w.readyTurn); err != nil { // whoever is opening a tab comes to know that it is closed
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

// readTab runs something that only reads the current tab.
func (w *Window) readTab(ctx context.Context, read func(tab *page.Tab) error) error {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return err
	}
	defer u.release()
	return w.explain(ctx, u.browser, read(u.tab))
}

// readText is readTab for a text.
func (w *Window) readText(ctx context.Context, read func(tab *page.Tab) (string, error)) (text string, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) (err error) {
		text, err = read(tab)
		return err
	})
	return w.clean(text), err
}

// WithTab runs something with the current tab, which is opened again if its browser has ended.
func (w *Window) WithTab(ctx context.Context, do func(tab *page.Tab) error) error {
	return w.readTab(ctx, do)
}

// Snapshot describes the current page as text with a ref for each element that can be acted on. Interactive lists only
// those.
func (w *Window) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) {
		snapshot, err := tab.Snapshot(ctx, page.SnapshotOptions{Interactive: o.Interactive, After: o.After, MaxChars: o.MaxChars})
		return snapshot.Text, err
	})
}

// Text returns the readable text of the element with that ref, or of the page if ref is empty.
func (w *Window) Text(ctx context.Context, ref string) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) { return tab.Text(ctx, ref) })
}

// MainFrameText returns the readable text of the page without its frames, in which advertisements change from look to
// look. It has them if the page itself says nothing.
func (w *Window) MainFrameText(ctx context.Context) (text string, err error) {
	return w.readText(ctx, func(tab *page.Tab) (string, error) {
		r, err := tab.Read(ctx, page.ReadOptions{WithoutFrames: true})
		return r.Text, err
	})
}

// State returns where the window is: the current page, and a line for each tab, the current one's beginning with "*".
// It asks neither the browser nor the page. A window whose browser has ended has no tabs, and the address at which it
// reopens. While a person works it, it is as it was before.
func (w *Window) State(context.Context) (url, title string, tabs []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return "", "", nil, errWindowClosed
	}
	if h := w.hands; h != nil {
		return h.state.url, h.state.title, slices.Clone(h.state.tabs), nil
	}
	url, title, tabs = w.tabs.State(w.browser != nil && w.browser.isGone())
	return w.cleanURL(url), w.clean(title), w.cleanAll(tabs), nil
}
