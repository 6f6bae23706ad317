package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/page"
)

// maxParked bounds the saved state of all parked windows, in bytes. Windows parked first lose theirs first and keep
// only their address.
const maxParked = 64 << 20

// parkedWindow is the saved state of a window whose tabs were closed or whose browser has ended.
type parkedWindow struct {
	pages   []parkedPage
	current []int // indexes in pages, in the order of last selection
	at      time.Time
}

func (p *parkedWindow) size() (n int) {
	for _, one := range p.pages {
		n += one.size()
	}
	return n
}

// Park saves the state of an unused window in memory and closes its tabs; the next use restores them. If something
// would be lost, such as unsaved input, Park does nothing and returns false, unless must is set.
func (w *Window) Park(ctx context.Context, must bool) (parked bool, err error) {
	if err := acquireTurn(ctx, w.readyTurn); err != nil {
		return false, err
	}
	defer releaseTurn(w.readyTurn)
	w.mu.Lock()
	b, held, closed := w.browser, w.takeover != nil, w.closed
	w.mu.Unlock()
	if held && !must {
		return false, nil
	}
	if closed || b == nil || w.currentTab() == nil || !b.acquire() {
		return true, nil
	}
	defer b.uses.ReleaseUnused()
	kept, unsaved := w.savePages(ctx, b)
	if unsaved != "" && !must {
		w.manager.Logger.Debug("a page stays open", "window", w.key, "reason", unsaved)
		return false, nil
	}
	w.mu.Lock()
	tabs, contextID := w.tabs.All(), w.contextID
	if current := w.tabs.Current(); current != nil {
		w.tabs.SetStartURL(current.URL())
	}
	w.parked, w.parkedUnused, w.contextID = kept, true, ""
	w.tabs.Clear()
	w.mu.Unlock()
	b.forgetWindow(w)
	errs := make([]error, 0, len(tabs)+1)
	for _, tab := range tabs {
		errs = append(errs, tab.Close(ctx))
	}
	if contextID != "" {
		errs = append(errs, b.conn.CloseContext(ctx, contextID))
	}
	w.manager.boundParked()
	if err := errors.Join(errs...); err != nil && !errors.Is(err, page.ErrBrowserGone) {
		return true, fmt.Errorf("park window: %w", err)
	}
	return true, nil
}

// savePages reads the state of the window's tabs. unsaved names what would be lost; "" for nothing.
func (w *Window) savePages(ctx context.Context, b *browser) (kept *parkedWindow, unsaved string) {
	w.mu.Lock()
	tabs, selected := w.tabs.All(), slices.Clone(w.tabs.selected)
	w.mu.Unlock()
	kept = &parkedWindow{pages: make([]parkedPage, len(tabs)), at: time.Now()}
	reasons := make([]string, len(tabs))
	var looks sync.WaitGroup
	for i, tab := range tabs {
		looks.Go(func() { kept.pages[i], reasons[i] = w.savePage(ctx, b, tab) })
	}
	looks.Wait()
	for _, tab := range selected {
		kept.current = append(kept.current, slices.Index(tabs, tab))
	}
	for _, why := range reasons {
		if why != "" {
			return kept, why
		}
	}
	return kept, ""
}

// reopenParked restores the tabs of a parked window in their order and returns the current one when all are ready.
// reopened reports on the current one; the others are reported in the notes of the next action.
func (w *Window) reopenParked(ctx context.Context, b *browser,
	kept *parkedWindow,
) (tab *page.Tab, reopened string, err error) {
	tabs := make([]*page.Tab, len(kept.pages))
	for i := range kept.pages {
		if tabs[i], err = w.openTab(ctx, b); err != nil {
			return nil, "", err
		}
	}
	current := 0
	w.mu.Lock()
	for _, current = range kept.current {
		w.tabs.Select(tabs[current])
	}
	w.mu.Unlock()
	reopened = w.restorePage(ctx, b, tabs[current], kept.pages[current])
	var others sync.WaitGroup
	for i, tab := range tabs {
		if i != current {
			others.Go(func() {
				if text := w.restorePage(ctx, b, tab, kept.pages[i]); text != "" {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.tabs.AddNotes(text)
				}
			})
		}
	}
	others.Wait()
	return tabs[current], reopened, nil
}

// saveLimit bounds how long a browser about to end waits for the state of its pages.
const saveLimit = 3 * time.Second

// saveWindows saves the pages of all windows of a browser that is about to end. It does nothing if the connection is
// lost or the Manager is closing.
func (b *browser) saveWindows() {
	if b.manager.checkOpen() != nil || b.conn.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveLimit)
	defer cancel()
	for _, w := range b.windowList() {
		kept, _ := w.savePages(ctx, b)
		w.mu.Lock()
		if w.browser == b && len(kept.pages) > 0 && !w.ephemeral {
			w.parked = kept
		}
		w.mu.Unlock()
	}
	b.manager.boundParked()
}

// losesPages reports whether ending the browser would lose something in its pages.
func (b *browser) losesPages() bool {
	ctx, cancel := context.WithTimeout(context.Background(), saveLimit)
	defer cancel()
	for _, w := range b.windowList() {
		if _, unsaved := w.savePages(ctx, b); unsaved != "" && !w.isEphemeral() {
			b.manager.Logger.Debug("an idle browser keeps running", "pid", b.pid(), "window", w.key, "reason", unsaved)
			return true
		}
	}
	return false
}

// boundParked discards the state of the windows parked first while there is more than maxParked.
func (m *Manager) boundParked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Window
	total := 0
	for _, w := range m.windows {
		w.mu.Lock()
		if w.parked != nil {
			all = append(all, w)
			total += w.parked.size()
		}
		w.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b *Window) int { return a.parkedAt().Compare(b.parkedAt()) })
	for _, w := range all {
		if total <= maxParked {
			return
		}
		w.mu.Lock()
		if w.parked != nil {
			total -= w.parked.size()
			w.parked = nil
		}
		w.mu.Unlock()
	}
}

// forgetParked discards the saved pages of a profile's windows, because the profile's state is deleted.
func (m *Manager) forgetParked(profile string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.windows {
		w.mu.Lock()
		if w.profile == profile {
			w.parked = nil
		}
		w.mu.Unlock()
	}
}

func (w *Window) parkedAt() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parked == nil {
		return time.Time{}
	}
	return w.parked.at
}

func (w *Window) isParkedUnused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.parkedUnused
}

func (w *Window) isEphemeral() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ephemeral
}
