package browsermgr_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, u *browsermgr.Lease, url string) *page.Tab {
	t.Helper()
	tab, err := u.NewTab(t.Context(), page.TabOptions{URL: url})
	check.Must(t, err)
	return tab
}

// useShared uses the shared browser without unowned tabs, and leaves none.
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

func TestStaleTabsOfSessionsAreClosed(t *testing.T) {
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
		check.Must(t, err)
	}
	do("tabNew", "url", "")
	_, _, lines := state(t, w)
	oldest := strings.Fields(strings.TrimPrefix(lines[0], "*"))[0]
	do("tabNew", "url", "")
	eventually(t, "two of the session's tabs are left", func() bool { _, _, lines = state(t, w); return len(lines) == 2 })
	if all := strings.Join(lines, "\n"); strings.Contains(all, oldest+" ") || !strings.HasPrefix(lines[1], "* ") {
		t.Errorf("the oldest tab %s is not the one that went:\n%s", oldest, all)
	}
	check.Fails(t, check.Err(w.Act(t.Context(), "tabSelect", map[string]any{"tab": oldest})), nil, "no more than 2 tabs")
	for _, tab := range nobodys {
		if !slices.Contains(u.Browser.Tabs(), tab) {
			t.Errorf("%s, a tab of nobody, was swept", tab.ID())
		}
	}
}

func TestOfManyTabsAtOnceEachIsThereOrItsLimitIsNamed(t *testing.T) {
	const most, all = 3, 12 // more say no more, and take their time
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) {
			c.Cleanup = profile.TabCleanup{IdleAfter: time.Hour, MaxPerOwner: most, Interval: 50 * time.Millisecond}
		})
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	url := site(t) + "/"
	var wg sync.WaitGroup
	for range all {
		wg.Go(func() {
			_, err := w.Act(t.Context(), "tabNew", map[string]any{"url": url})
			if err != nil && !strings.Contains(err.Error(), "no more than 3 tabs") {
				t.Errorf("a tab is not opened, and the limit is not named: %v", err)
			}
		})
	}
	wg.Wait()
	eventually(t, "as many tabs as a session may have", func() bool {
		_, _, lines := state(t, w)
		return len(lines) <= most+1 // the current one stays, too
	})
}

func TestTabsKnowForWhomTheyWereOpened(t *testing.T) {
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site(t) + "/"})
	use := useShared(t)
	free := open(t, use, "")
	var own string
	check.Must(t, w.WithTab(t.Context(), func(tab *page.Tab) error { own = tab.TargetID(); return nil }))
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

func TestPopupsInheritTheirOpenersOwner(t *testing.T) {
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
	b.SetModel("opener", "id")
	b.Inherit("popup of a model", "opener")
	b.Forget("popup of a model")
	if got := b.Model("popup of a model"); got != "id" {
		t.Errorf("what the popup of a model's tab downloads is asked of %q", got)
	}
	b.Forget("popup")
	b.Touch("popup")
	if _, noted := b.Owner("popup"); noted {
		t.Error("a forgotten tab came back")
	}
}

// rounds returns how often a test repeats its steps: CLANK_LEAK_RESTARTS=200 and CLANK_LEAK_CYCLES=1000 select the long
// form.
func rounds(t *testing.T, variable string, short int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return short
	}
	return n
}

// held counts the resources that a program may leak.
type held struct {
	descriptors, goroutines, processes, temporary int
	names                                         []string // of the temporary files
}

func holds(t *testing.T, temp, home string) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil && runtime.GOOS != "linux" {
		t.Skip("descriptors are counted in /proc")
	}
	check.Must(t, err)
	files, err := os.ReadDir(temp)
	check.Must(t, err)
	h := held{len(fds), runtime.NumGoroutine(), len(processesOf(t, home)), len(files), nil}
	for _, f := range files {
		h.names = append(h.names, f.Name())
	}
	return h
}

func (h held) within(limit held) bool {
	return h.descriptors <= limit.descriptors && h.goroutines <= limit.goroutines && h.processes <= limit.processes &&
		h.temporary <= limit.temporary
}

// tempDir returns a temporary directory with a path short enough for Chromium's socket.
func tempDir(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("", "leak") //nolint:usetesting // Chromium's socket there may have a path of 107 characters
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	return temp
}

func TestClosedTabsAndRestartsLeaveNothingBehind(t *testing.T) {
	base := site(t)
	temp := tempDir(t)
	m := manager(t, nil)
	p := findProfile(t, m, "")
	leavesNothing := func(t *testing.T, limit held, rounds int, do func()) {
		t.Helper()
		for range rounds {
			do()
		}
		after := limit
		defer func() { t.Logf("allowed %+v, after %+v", limit, after) }()
		eventually(t, "nothing more is held than before", func() bool {
			after = holds(t, temp, m.Home)
			return after.within(limit)
		})
	}
	t.Run("tabs", func(t *testing.T) {
		u := use(t, p)
		cycle := func() {
			tab := open(t, u, base+"/")
			check.Must(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Selector: "button"})))
			check.Must(t, tab.Close(t.Context()))
		}
		for range 3 {
			cycle()
		}
		limit := holds(t, temp, m.Home)
		// kept-alive connections of the site, spare renderers
		limit.descriptors, limit.goroutines, limit.processes = limit.descriptors+4, limit.goroutines+8, limit.processes+2
		leavesNothing(t, limit, rounds(t, "CLANK_LEAK_CYCLES", 5), cycle)
	})
	if !stop(t, p) {
		t.Fatal("it did not run")
	}
	t.Run("restarts", func(t *testing.T) {
		leavesNothing(t, holds(t, temp, m.Home), rounds(t, "CLANK_LEAK_RESTARTS", 1), func() {
			check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
			if !stop(t, p) {
				t.Fatal("it did not run")
			}
		})
	})
}

var errBroken = errors.New("broken")

func isOpen(b *browsermgr.LaunchBreaker) bool { return b.Check("work") != nil }

func TestBreakerIsOpenForAWhileAfterFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b browsermgr.LaunchBreaker
		for n := range browsermgr.BreakerFailures {
			if isOpen(&b) {
				t.Fatalf("it is open after %d failures", n)
			}
			b.RecordFailure(errBroken)
		}
		err := b.Check("work")
		if !errors.Is(err, fault.ErrUnavailable) || !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
		for _, want := range []string{`profile "work"`, "3 times", "for 30 seconds", "broken"} {
			check.Fails(t, err, nil, want)
		}
		time.Sleep(browsermgr.BreakerPause + 1) //nolint:forbidigo // the clock of the bubble
		if isOpen(&b) {
			t.Error("it is open for ever")
		}
		b.RecordFailure(errBroken)
		if !isOpen(&b) {
			t.Error("it takes more than one further failure")
		}
	})
}

func TestSuccessResetsTheBreaker(t *testing.T) {
	var b browsermgr.LaunchBreaker
	for range browsermgr.BreakerFailures - 1 {
		b.RecordFailure(errBroken)
	}
	b.Close()
	b.RecordFailure(errBroken)
	if isOpen(&b) {
		t.Error("failures before a success count")
	}
}

func TestOneRefusalOpensTheBreaker(t *testing.T) {
	var b browsermgr.LaunchBreaker
	b.Open(errBroken)
	check.Fails(t, b.Check("user"), errBroken)
	b.Close()
	if isOpen(&b) {
		t.Error("it is open after it was closed")
	}
}

func TestWhatIsInUseIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := browsermgr.NewUseCounter()
		if u.TryEnd(time.Minute) {
			t.Fatal("a new one is idle")
		}
		if !u.Acquire() {
			t.Fatal("a new one cannot be used")
		}
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
		if u.TryEnd(time.Minute) {
			t.Error("one in use is idle")
		}
		u.Release()
		if u.TryEnd(time.Minute) {
			t.Error("one that was just used is idle")
		}
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble
		if !u.Acquire() {
			t.Fatal("an idle one cannot be looked at")
		}
		u.ReleaseUnused()
		if !u.TryEnd(time.Minute) {
			t.Error("a look counts as use")
		}
		if u.Acquire() || u.TryEnd(0) {
			t.Error("one that has ended goes on")
		}
		<-u.Ending()
	})
}

func TestOnlyOneCallerEndsTheBrowser(t *testing.T) {
	u := browsermgr.NewUseCounter()
	u.Acquire()
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if u.TryEnd(0) {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	if n := wins.Load(); n != 1 {
		t.Errorf("%d have ended it", n)
	}
}
