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

// maxParked bounds what all parked windows keep, in bytes. Of those that were parked before, the addresses are left.
const maxParked = 64 << 20

// parkedWindow is what the tabs of a window held that were closed, or went with their browser.
type parkedWindow struct {
	pages   []parkedPage
	current []int // of the pages, in the order in which they were last current
	at      time.Time
}

func (p *parkedWindow) size() (n int) {
	for _, one := range p.pages {
		n += one.size()
	}
	return n
}

// Park closes the tabs of a window that nobody uses and keeps what they hold for when it is used again. If something of
// it would be lost it does nothing and returns false, unless it must. What is kept is in memory only.
func (w *Window) Park(ctx context.Context, must bool) (parked bool, err error) {
	if err := acquireTurn(ctx, w.readyTurn); err != nil {
		return false, err
	}
	defer releaseTurn(w.readyTurn)
	w.mu.Lock()
	b, held, closed := w.browser, w.hands != nil, w.closed
	w.mu.Unlock()
	if held && !must {
		return false, nil
	}
	if closed || b == nil || w.currentTab() == nil || !b.acquire() {
		return true, nil
	}
	defer b.uses.ReleaseUnused()
	kept, unsaved := w.take(ctx, b)
	if unsaved != "" && !must {
		w.manager.Logger.Debug("a page stays open", "window", w.key, "reason", unsaved)
		return false, nil
	}
	w.mu.Lock()
	tabs, contextID := w.tabs.All(), w.contextID
	if current := w.tabs.Current(); current != nil {
		w.tabs.SetStartURL(current.URL())
	}
	w.parked, w.away, w.contextID = kept, true, ""
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

// take sees what the tabs of a window hold. unsaved says what would be lost.
func (w *Window) take(ctx context.Context, b *browser) (kept *parkedWindow, unsaved string) {
	w.mu.Lock()
	tabs, selected := w.tabs.All(), slices.Clone(w.tabs.selected)
	w.mu.Unlock()
	kept = &parkedWindow{pages: make([]parkedPage, len(tabs)), at: time.Now()}
	reasons := make([]string, len(tabs))
	var looks sync.WaitGroup
	for i, tab := range tabs {
		looks.Go(func() { kept.pages[i], reasons[i] = w.takePage(ctx, b, tab) })
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

// reopenParked opens the tabs of a parked window again, in their order. The current one is ready when it returns, and so
// are the others.
func (w *Window) reopenParked(ctx context.Context, b *browser, kept *parkedWindow) (tab *page.Tab, err error) {
	tabs := make([]*page.Tab, len(kept.pages))
	for i := range kept.pages {
		if tabs[i], err = w.openTab(ctx, b); err != nil {
			return nil, err
		}
	}
	current := 0
	w.mu.Lock()
	for _, current = range kept.current {
		w.tabs.Select(tabs[current])
	}
	w.mu.Unlock()
	w.givePage(ctx, b, tabs[current], kept.pages[current])
	var others sync.WaitGroup
	for i, tab := range tabs {
		if i != current {
			others.Go(func() { w.givePage(ctx, b, tab, kept.pages[i]) })
		}
	}
	others.Wait()
	return tabs[current], nil
}

// keepLimit bounds how long the end of a browser waits for what its pages hold.
const keepLimit = 3 * time.Second

// takePages has the windows of a browser that is about to be ended keep what their pages hold. One that is gone, or that
// nobody opens again, has none.
func (b *browser) takePages() {
	if b.manager.checkOpen() != nil || b.conn.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepLimit)
	defer cancel()
	for _, w := range b.windowList() {
		kept, _ := w.take(ctx, b)
		w.mu.Lock()
		if w.browser == b && len(kept.pages) > 0 && !w.ephemeral {
			w.parked = kept
		}
		w.mu.Unlock()
	}
	b.manager.boundParked()
}

// losesPages reports whether something would be lost that its pages hold if the browser ended.
func (b *browser) losesPages() bool {
	ctx, cancel := context.WithTimeout(context.Background(), keepLimit)
	defer cancel()
	for _, w := range b.windowList() {
		if _, unsaved := w.take(ctx, b); unsaved != "" && !w.isEphemeral() {
			b.manager.Logger.Debug("an idle browser goes on", "pid", b.pid(), "window", w.key, "reason", unsaved)
			return true
		}
	}
	return false
}

// boundParked forgets what windows keep that were parked before others, where that is too much.
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

// forgetParked forgets what windows of a profile keep whose state is deleted.
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

func (w *Window) isAway() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away
}

func (w *Window) isEphemeral() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ephemeral
}
