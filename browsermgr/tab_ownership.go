package browsermgr

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/profile"

	"github.com/go-rod/rod/lib/proto"
)

// NewTab opens a tab that no session owns: nobody but who asked for it closes it. As with [page.Browser.NewTab], a tab
// whose page did not load is returned with the error.
func (u *Lease) NewTab(ctx context.Context, opts page.TabOptions) (*page.Tab, error) {
	tab, err := u.browser.conn.NewTab(ctx, opts)
	if tab != nil {
		u.browser.tabOwners.Add(tab.TargetID(), "")
	}
	return tab, err
}

// TabOwner returns the key of the [Window] that the tab with that CDP target id belongs or belonged to, "" for none,
// and the tab's profile.
func (m *Manager) TabOwner(target string) (owner, profile string) {
	m.mu.Lock()
	var running []*browser
	for _, p := range m.profiles {
		if b := p.current(); b != nil {
			running = append(running, b)
		}
	}
	m.mu.Unlock()
	for _, b := range running {
		b.mu.Lock()
		w := b.windowByTarget[target]
		b.mu.Unlock()
		if w != nil {
			return w.key, w.profile
		}
		if owner, noted := b.tabOwners.Owner(target); noted {
			return owner, b.resolved.Name
		}
	}
	return "", ""
}

// closeStaleTabs closes the tabs of sessions that are idle or too many. A session's current tab stays, and so do the
// tabs that no session owns.
func (b *browser) closeStaleTabs(c profile.TabCleanup) {
	if c.Disabled {
		return
	}
	tabs := b.conn.Tabs()
	targets := make([]string, len(tabs))
	for i, tab := range tabs {
		targets[i] = tab.TargetID()
	}
	idle, extra := b.tabOwners.Stale(targets, c.IdleAfter, c.MaxPerOwner)
	for _, tab := range tabs {
		if w := b.windowOf(tab); w != nil && w.currentTab() == tab {
			continue
		}
		switch target := tab.TargetID(); {
		case slices.Contains(idle, target):
			b.closeInBackground(tab, "idle")
		case slices.Contains(extra, target):
			b.closeInBackground(tab, "more than its session may have")
		}
	}
}

// closeInBackground closes a tab while the caller goes on. The Manager waits for it; it is bounded by the tab itself.
func (b *browser) closeInBackground(tab *page.Tab, why string) {
	b.manager.Logger.Info("closing tab", "tab", tab.ID(), "why", why)
	b.manager.wg.Go(func() {
		if err := tab.Close(context.Background()); err != nil && !errors.Is(err, page.ErrBrowserGone) {
			b.manager.Logger.Warn("close tab", "tab", tab.ID(), "error", err)
		}
	})
}

// closeOwnTabs closes, in a person's browser, what was opened by us.
func (b *browser) closeOwnTabs() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for _, tab := range b.conn.Tabs() {
		if _, noted := b.tabOwners.Owner(tab.TargetID()); !noted && b.windowOf(tab) == nil {
			continue
		}
		if err := tab.Close(ctx); err != nil {
			b.manager.Logger.Warn("close tab", "tab", tab.ID(), "error", err)
		}
	}
}

// tabNumbers remembers the highest tab number, so that none is given twice while the program runs. It is a [page.Observer].
type tabNumbers struct{ last atomic.Int64 }

// Next returns the number of the next tab.
func (n *tabNumbers) Next() int { return int(n.last.Load()) + 1 }

// Attach implements page.Observer.
func (n *tabNumbers) Attach(t *page.Tab, _ *frame.Frame) []proto.Request {
	if number, err := strconv.ParseInt(strings.TrimPrefix(t.ID(), "t"), 10, 64); err == nil && number > n.last.Load() {
		n.last.Store(number)
	}
	return nil
}

// Event implements page.Observer.
func (*tabNumbers) Event(*page.Tab, *frame.Frame, cdp.Event) {}
