package browsermgr_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"

	"github.com/google/go-cmp/cmp"
)

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
