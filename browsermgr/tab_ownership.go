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

// maxUnownedTabs is how many tabs of nobody's window a browser of ours keeps open.
const maxUnownedTabs = 8

// NewTab opens a tab for an owner, the id of a session; empty means nobody in particular. Tabs that its pages open are the
// owner's too. In a browser that we started, beyond eight tabs of no [Window] the oldest others are closed on the side.
// As with [page.Browser.NewTab], a tab whose page did not load is returned with the error.
func (u *Lease) NewTab(ctx context.Context, opts page.TabOptions, owner string) (*page.Tab, error) {
	b := u.browser
	tab, err := b.conn.NewTab(ctx, opts)
	if tab == nil {
		return nil, err
	}
	b.tabOwners.Add(tab.TargetID(), owner)
	if b.resolved.Mode == profile.ModeLaunched {
		others := slices.DeleteFunc(b.conn.Tabs(), func(t *page.Tab) bool { return t == tab || b.windowOf(t) != nil })
		b.closeInBackground(others[:max(len(others)+1-maxUnownedTabs, 0)], "more than the browser keeps open") // they are closed whatever becomes of the request
	}
	return tab, err
}

// Touch notes that a tab is used, so that it does not count as idle.
func (u *Lease) Touch(tab *page.Tab) { u.browser.tabOwners.Touch(tab.TargetID()) }

// TabOwner says for whom the tab with that CDP target id was opened: the key of its [Window], or the owner that was given to
// [Lease.NewTab]; "" for nobody in particular. profile is the tab's. Closed tabs of a window are the window's still.
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

// closeStaleTabs closes the tabs of owners that are idle or too many. Those of nobody stay.
func (b *browser) closeStaleTabs(c profile.TabCleanup) {
	if c.Disabled {
		return
	}
	var targets []string
	for _, tab := range b.conn.Tabs() {
		if b.windowOf(tab) == nil {
			targets = append(targets, tab.TargetID())
		}
	}
	idle, extra := b.tabOwners.Stale(targets, c.IdleAfter, c.MaxPerOwner)
	b.closeInBackground(b.tabsByTarget(idle), "idle")
	b.closeInBackground(b.tabsByTarget(extra), "more than its owner may have")
}

// tabsByTarget returns the open tabs with these target ids.
func (b *browser) tabsByTarget(targets []string) []*page.Tab {
	return slices.DeleteFunc(b.conn.Tabs(), func(t *page.Tab) bool { return !slices.Contains(targets, t.TargetID()) })
}

// closeInBackground closes tabs while the caller goes on. The Manager waits for it; each close is bounded by the tab itself.
func (b *browser) closeInBackground(tabs []*page.Tab, why string) {
	for _, tab := range tabs {
		b.manager.Logger.Info("closing tab", "tab", tab.ID(), "why", why)
		b.manager.wg.Go(func() {
			if err := tab.Close(context.Background()); err != nil && !errors.Is(err, page.ErrBrowserGone) {
				b.manager.Logger.Warn("close tab", "tab", tab.ID(), "error", err)
			}
		})
	}
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
