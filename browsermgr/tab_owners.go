package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/profile"

	"github.com/go-rod/rod/lib/proto"
)

// TabOwners records who owns each open tab that was opened on request or by the page of such a tab: the key of the
// [Window], and when the tab was last used. The zero value is empty. It is safe for concurrent use.
type TabOwners struct {
	mu       sync.Mutex
	byTarget map[string]tabOwner
	models   map[string]string // by tab: id of who approves; kept, since downloads outlive tabs
}

type tabOwner struct {
	owner    string
	lastUsed time.Time
}

// Add records the owner of a tab; "" means no window.
func (b *TabOwners) Add(target, owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(target, owner)
}

func (b *TabOwners) add(target, owner string) {
	if b.byTarget == nil {
		b.byTarget = map[string]tabOwner{}
	}
	b.byTarget[target] = tabOwner{owner, time.Now()}
}

// Inherit records the owner of opener for a tab that its page opened. A tab that has an owner keeps it.
func (b *TabOwners) Inherit(target, opener string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setModel(target, b.models[opener])
	if _, own := b.byTarget[target]; own {
		return
	}
	if n, known := b.byTarget[opener]; known {
		b.add(target, n.owner)
	}
}

// SetModel records that a model uses the tab, with an opaque id of who approves its actions; "" means that a person
// uses it.
func (b *TabOwners) SetModel(target, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setModel(target, id)
}

func (b *TabOwners) setModel(target, id string) {
	if id == "" {
		delete(b.models, target)
		return
	}
	if b.models == nil {
		b.models = map[string]string{}
	}
	b.models[target] = id
}

// Model returns the id set by SetModel for a tab, or for the one whose page opened it.
func (b *TabOwners) Model(target string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.models[target]
}

// Touch records that a tab is used now.
func (b *TabOwners) Touch(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n, known := b.byTarget[target]; known {
		b.add(target, n.owner)
	}
}

// Forget drops the record of a closed tab.
func (b *TabOwners) Forget(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byTarget, target)
}

// Owner returns the owner of a tab; noted is false for a tab that was not opened on request.
func (b *TabOwners) Owner(target string) (owner string, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, known := b.byTarget[target]
	return n.owner, known
}

// Stale returns the tabs that were not used for idleAfter, and the least recently used ones in excess of most per
// owner. It never returns tabs without an owner.
func (b *TabOwners) Stale(targets []string, idleAfter time.Duration, most int) (idle, extra []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	byOwner := map[string][]string{}
	for _, target := range targets {
		if n := b.byTarget[target]; n.owner != "" {
			byOwner[n.owner] = append(byOwner[n.owner], target)
		}
	}
	for _, list := range byOwner {
		slices.SortStableFunc(list, func(x, y string) int { return b.byTarget[x].lastUsed.Compare(b.byTarget[y].lastUsed) })
		for i, target := range list {
			switch {
			case time.Since(b.byTarget[target].lastUsed) >= idleAfter:
				idle = append(idle, target)
			case len(list)-i > most:
				extra = append(extra, target)
			}
		}
	}
	return idle, extra
}

// NewTab opens a tab that no session owns, so that only the caller closes it. As with [page.Browser.NewTab], a tab
// whose page did not load is returned together with the error.
func (u *Lease) NewTab(ctx context.Context, opts page.TabOptions) (*page.Tab, error) {
	tab, err := u.browser.conn.NewTab(ctx, opts)
	if tab != nil {
		u.browser.tabOwners.Add(tab.TargetID(), "")
		u.RecordModel(tab.TargetID())
	}
	return tab, err
}

// RecordModel records that the holder of the lease uses the tab from now on.
func (u *Lease) RecordModel(target string) { u.browser.tabOwners.SetModel(target, u.Model) }

// TabModel returns the [Lease.Model] that last used the tab with that CDP target id; "" for tabs that no model uses by
// single steps.
func (m *Manager) TabModel(target string) string {
	for _, b := range m.runningBrowsers() {
		if id := b.tabOwners.Model(target); id != "" {
			return id
		}
	}
	return ""
}

// TabOwner returns the key of the [Window] that the tab with that CDP target id belongs or belonged to, "" for none,
// and the tab's profile.
func (m *Manager) TabOwner(target string) (owner, profile string) {
	for _, b := range m.runningBrowsers() {
		b.mu.Lock()
		w := b.windowByTarget[target]
		b.mu.Unlock()
		if w != nil {
			return w.key, w.profile
		}
		if owner, known := b.tabOwners.Owner(target); known {
			return owner, b.resolved.Name
		}
	}
	return "", ""
}

func (m *Manager) runningBrowsers() (running []*browser) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.profiles {
		if b := p.current(); b != nil {
			running = append(running, b)
		}
	}
	return running
}

// closeStaleTabs closes idle tabs of sessions and those in excess of the limit. It keeps each session's current tab and
// the tabs that no session owns.
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
			b.closeInBackground(tab, fmt.Sprintf("not used for %s", c.IdleAfter))
		case slices.Contains(extra, target):
			b.closeInBackground(tab, fmt.Sprintf("a session may have no more than %d tabs, of which those used last stay",
				c.MaxPerOwner))
		}
	}
}

// closeInBackground closes a tab without blocking. The Manager waits for it; Close has its own time limit.
func (b *browser) closeInBackground(tab *page.Tab, why string) {
	b.manager.Logger.Info("closing tab", "tab", tab.ID(), "why", why)
	if w := b.windowOf(tab); w != nil {
		w.mu.Lock()
		w.tabs.NoteSweep(tab.ID(), why)
		w.mu.Unlock()
	}
	b.manager.wg.Go(func() {
		if err := tab.Close(context.Background()); err != nil && !errors.Is(err, page.ErrBrowserGone) {
			b.manager.Logger.Warn("close tab", "tab", tab.ID(), "error", err)
		}
	})
}

// closeOwnTabs closes the tabs that we opened in a person's browser.
func (b *browser) closeOwnTabs() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for _, tab := range b.conn.Tabs() {
		if _, known := b.tabOwners.Owner(tab.TargetID()); !known && b.windowOf(tab) == nil {
			continue
		}
		if err := tab.Close(ctx); err != nil {
			b.manager.Logger.Warn("close tab", "tab", tab.ID(), "error", err)
		}
	}
}

// tabNumbers remembers the highest tab number, so that none is reused while the program runs. It is a [page.Observer].
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
