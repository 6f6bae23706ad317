package browsermgr_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, u *browsermgr.Lease, url, owner string) *page.Tab {
	t.Helper()
	tab, err := u.NewTab(t.Context(), page.TabOptions{URL: url}, owner)
	browsertest.Must(t, err)
	return tab
}

// useShared uses the shared browser without tabs of nobody's window, and leaves none.
func useShared(t *testing.T) *browsermgr.Lease {
	t.Helper()
	u := use(t, findProfile(t, sharedManager(t), ""))
	closeOthers := func() {
		for _, tab := range u.Browser.Tabs() {
			if owner, _ := shared.TabOwner(tab.TargetID()); owner != "a" {
				if err := tab.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}
	}
	closeOthers()
	t.Cleanup(closeOthers)
	return u
}

func TestNinthTabClosesTheOldestOther(t *testing.T) {
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	u := useShared(t)
	var opened []*page.Tab
	for range 9 {
		opened = append(opened, open(t, u, "", ""))
	}
	eventually(t, "eight tabs are left, and those of the window", func() bool { return len(u.Browser.Tabs()) == 9 })
	tabs := u.Browser.Tabs()
	for i, tab := range opened {
		if gone := !slices.Contains(tabs, tab); gone != (i == 0) {
			t.Errorf("tab %d of 9 is gone: %t", i+1, gone)
		}
	}
	if _, _, list := state(t, w); len(list) != 1 {
		t.Errorf("the window has %q", list)
	}
}

func TestIdleTabsOfSessionsAreSwept(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) {
			c.Cleanup = profile.TabCleanup{IdleAfter: time.Hour, MaxPerOwner: 1, Interval: 50 * time.Millisecond}
		})
	})
	u := use(t, findProfile(t, m, ""))
	nobodys := open(t, u, "", "")
	first := open(t, u, "", "session")
	second := open(t, u, "", "session")
	u.Touch(first)
	eventually(t, "one of the session's tabs is left", func() bool {
		tabs := u.Browser.Tabs()
		return slices.Contains(tabs, first) != slices.Contains(tabs, second)
	})
	if !slices.Contains(u.Browser.Tabs(), nobodys) {
		t.Error("a tab of nobody was swept")
	}
}

func TestTabsKnowForWhomTheyWereOpened(t *testing.T) {
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site(t) + "/"})
	use := useShared(t)
	asked, err := use.NewTab(t.Context(), page.TabOptions{}, "somebody")
	browsertest.Must(t, err)
	free, err := use.NewTab(t.Context(), page.TabOptions{}, "")
	browsertest.Must(t, err)
	var own string
	browsertest.Must(t, w.WithTab(t.Context(), func(tab *page.Tab) error { own = tab.TargetID(); return nil }))
	for target, want := range map[string]string{own: "a clank", asked.TargetID(): "somebody clank", free.TargetID(): " clank", "none": " "} {
		if owner, profile := m.TabOwner(target); owner+" "+profile != want {
			t.Errorf("%s: got %q of %q, want %q", target, owner, profile, want)
		}
	}
}

func TestForgottenTabsAreThoseOfOwnersIdleOrTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b browsermgr.TabOwners
		all := []string{"a1", "a2", "a3", "b1", "free", "unknown"}
		for _, target := range all[:3] {
			b.Add(target, "a")
			time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble
		}
		b.Add("b1", "b")
		b.Add("free", "")
		b.Touch("a1")
		idle, extra := b.Stale(all, time.Hour, 2)
		if diff := cmp.Diff([]string{"a2"}, extra); diff != "" || idle != nil {
			t.Errorf("idle %v, extra (-want +got):\n%s", idle, diff)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // the clock of the bubble
		idle, extra = b.Stale(all, time.Hour, 2)
		slices.Sort(idle)
		if diff := cmp.Diff([]string{"a1", "a2", "a3", "b1"}, idle); diff != "" || extra != nil {
			t.Errorf("extra %v, idle (-want +got):\n%s", extra, diff)
		}
	})
}

func TestPopupsBelongToWhomTheirOpenerBelongs(t *testing.T) {
	var b browsermgr.TabOwners
	b.Add("opener", "somebody")
	b.Add("own", "another")
	b.Inherit("popup", "opener")
	b.Inherit("own", "opener")
	b.Inherit("stray", "unknown")
	for target, want := range map[string]string{"popup": "somebody", "own": "another"} {
		if got, noted := b.Owner(target); got != want || !noted {
			t.Errorf("%s belongs to %q, %t", target, got, noted)
		}
	}
	if _, noted := b.Owner("stray"); noted {
		t.Error("a tab was noted that nobody asked for")
	}
	b.Forget("popup")
	b.Touch("popup")
	if _, noted := b.Owner("popup"); noted {
		t.Error("a forgotten tab came back")
	}
}
