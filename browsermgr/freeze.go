package browsermgr

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/page"
)

// freezeUnused freezes the pages of windows without a task or takeover once they were not used for after, since their
// scripts would run for nobody. It returns when the browser ends. Pages that are being watched are not frozen.
func (b *browser) freezeUnused(after time.Duration) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	tick := time.Tick(max(after/4, 10*time.Millisecond))
	for {
		select {
		case <-b.conn.Done():
			return
		case <-b.uses.Ending():
			return
		case <-tick:
		}
		for _, tab := range b.unusedTabs() {
			if err := tab.Freeze(ctx, after); err != nil && !errors.Is(err, page.ErrTabGone) &&
				!errors.Is(err, page.ErrBrowserGone) {
				b.manager.Logger.Debug("a page was not frozen", "tab", tab.ID(), "error", err)
			}
		}
	}
}

// unusedTabs returns the tabs of windows without a task or takeover.
func (b *browser) unusedTabs() (list []*page.Tab) {
	for _, w := range b.windowList() {
		w.mu.Lock()
		if w.browser == b && !w.working && w.takeover == nil {
			list = append(list, w.tabs.All()...)
		}
		w.mu.Unlock()
	}
	return list
}
