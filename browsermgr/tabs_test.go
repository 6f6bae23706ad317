package browsermgr_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, u *browsermgr.Lease, url string) *page.Tab {
	t.Helper()
	tab, err := u.NewTab(t.Context(), page.TabOptions{URL: url})
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

func TestTabsOfSessionsAreSwept(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) {
			c.Cleanup = profile.TabCleanup{IdleAfter: time.Hour, MaxPerOwner: 2, Interval: 50 * time.Millisecond}
		})
	})
	u := use(t, findProfile(t, m, ""))
	nobodys := []*page.Tab{open(t, u, ""), open(t, u, ""), open(t, u, "")}
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	do := func(kind, arg, value string) {
		t.Helper()
		_, err := w.Act(t.Context(), kind, map[string]any{arg: value})
		browsertest.Must(t, err)
	}
	do("tabNew", "url", "")
	_, _, lines := state(t, w)
	oldest := strings.Fields(strings.TrimPrefix(lines[0], "*"))[0]
	do("tabNew", "url", "")
	eventually(t, "two of the session's tabs are left", func() bool { _, _, lines = state(t, w); return len(lines) == 2 })
	if all := strings.Join(lines, "\n"); strings.Contains(all, oldest+" ") || !strings.HasPrefix(lines[1], "* ") {
		t.Errorf("the oldest tab %s is not the one that went:\n%s", oldest, all)
	}
	for _, tab := range nobodys {
		if !slices.Contains(u.Browser.Tabs(), tab) {
			t.Errorf("%s, a tab of nobody, was swept", tab.ID())
		}
	}
}

func TestTabsKnowForWhomTheyWereOpened(t *testing.T) {
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site(t) + "/"})
	use := useShared(t)
	free := open(t, use, "")
	var own string
	browsertest.Must(t, w.WithTab(t.Context(), func(tab *page.Tab) error { own = tab.TargetID(); return nil }))
	for target, want := range map[string]string{own: "a clank", free.TargetID(): " clank", "none": " "} {
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
