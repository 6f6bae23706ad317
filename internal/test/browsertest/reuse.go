package browsertest

import (
	"context"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
)

// Page shows an address in a tab of a connection of its own, both for this test alone. The tab may be one in which an earlier test
// has looked at pages, which costs a third of a new one. Nothing of it is to be seen: it is in front, has no history, and what a
// connection sets ended with that one. Without an address the tab is a new one. Tests of a tab's own life, and of pages that go
// elsewhere by themselves, take [Tab].
func (s *Shared) Page(tb testing.TB, opts page.Options, url string) *page.Tab {
	tb.Helper()
	target := ""
	if url != "" {
		target = s.takeIdleTab()
	}
	b := s.Connect(tb, opts)
	tab := b.Tab(target)
	reused := tab != nil
	if !reused {
		tab = newTab(tb, b, page.TabOptions{URL: url})
	}
	tb.Cleanup(func() {
		if !s.keepIdleTab(b, tab) {
			closeTab(tb, tab)
		}
	})
	if !reused {
		return tab
	}
	ctx := Within(tb, Patience)
	if err := tab.Activate(ctx); err != nil {
		tb.Fatal(err)
	}
	Navigate(tb, tab, url)
	if err := tab.MainFrame().Do(ctx, forgetHistory{}); err != nil { // the page is leaving already
		closeTab(tb, tab)
		tab = newTab(tb, b, page.TabOptions{URL: url})
	}
	return tab
}

// forgetHistory is Page.resetNavigationHistory of CDP.
type forgetHistory struct{}

func (forgetHistory) ProtoReq() string { return "Page.resetNavigationHistory" }

// takeIdleTab takes the tab that was left last.
func (s *Shared) takeIdleTab() (target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idleTabs); n > 0 {
		target, s.idleTabs = s.idleTabs[n-1], s.idleTabs[:n-1]
	}
	return target
}

// keepIdleTab keeps a tab for later tests, unless its page stands still or has opened others.
func (s *Shared) keepIdleTab(b *page.Browser, tab *page.Tab) bool {
	for _, other := range b.Tabs() {
		if other.Opener() == tab {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "0"}); err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idleTabs = append(s.idleTabs, tab.TargetID())
	return true
}
