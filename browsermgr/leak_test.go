package browsermgr_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// rounds returns how often a test repeats what it does: CLANK_LEAK_RESTARTS=200 and CLANK_LEAK_CYCLES=1000 make the long form.
func rounds(t *testing.T, variable string, short int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return short
	}
	return n
}

// held is what a program may leak.
type held struct {
	descriptors, goroutines, processes, temporary int
	names                                         []string // of the temporary files
}

func holds(t *testing.T, temp, home string) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted in /proc")
	}
	files, err := os.ReadDir(temp)
	browsertest.Must(t, err)
	h := held{len(fds), runtime.NumGoroutine(), len(processesOf(t, home)), len(files), nil}
	for _, f := range files {
		h.names = append(h.names, f.Name())
	}
	return h
}

func (h held) within(limit held) bool {
	return h.descriptors <= limit.descriptors && h.goroutines <= limit.goroutines && h.processes <= limit.processes && h.temporary <= limit.temporary
}

// tempDir returns a temporary directory with a path short enough for Chromium's socket.
func tempDir(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("", "leak") //nolint:usetesting // Chromium's socket there may have a path of 107 characters
	browsertest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	return temp
}

func TestRestartsLeaveNothingBehind(t *testing.T) {
	temp := tempDir(t)
	m := manager(t, nil)
	p := findProfile(t, m, "")
	restart := func() {
		t.Helper()
		browsertest.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
		if !stop(t, p) {
			t.Fatal("it did not run")
		}
	}
	restart()
	before := holds(t, temp, m.Home)
	for range rounds(t, "CLANK_LEAK_RESTARTS", 1) {
		restart()
	}
	after := before
	defer func() { t.Logf("before %+v, after %+v", before, after) }()
	eventually(t, "nothing more is held than before", func() bool {
		after = holds(t, temp, m.Home)
		return after.within(before)
	})
}

func TestTabsThatWereClosedLeaveNothingBehind(t *testing.T) {
	base := site(t)
	temp := tempDir(t)
	m := manager(t, nil)
	u := use(t, findProfile(t, m, ""))
	cycle := func() {
		t.Helper()
		tab := open(t, u, base+"/")
		if _, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Selector: "button"}); err != nil {
			t.Fatal(err)
		}
		browsertest.Must(t, tab.Close(t.Context()))
	}
	for range 3 {
		cycle()
	}
	before := holds(t, temp, m.Home)
	before.descriptors, before.goroutines, before.processes = before.descriptors+4, before.goroutines+8, before.processes+2 // kept-alive connections of the site, spare renderers
	for range rounds(t, "CLANK_LEAK_CYCLES", 5) {
		cycle()
	}
	after := before
	defer func() { t.Logf("allowed %+v, after %+v", before, after) }()
	eventually(t, "nothing more is held than before", func() bool {
		after = holds(t, temp, m.Home)
		return after.within(before)
	})
}
