package browsermgr_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
)

func TestConcurrentWindowsStartOneBrowser(t *testing.T) {
	m := manager(t, nil)
	cancelled, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by @ada")
	cancel(stopped)
	if _, _, err := m.Window(cancelled, browsermgr.WindowOptions{Key: "a"}); !errors.Is(err, stopped) {
		t.Errorf("a request that was given up: got %v, want the cause", err)
	}
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b", "c", "a", "b", "c"} {
		wg.Go(func() {
			if _, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: key}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	status := m.Status()
	if len(status) != 1 || !status[0].Running || status[0].Windows != 3 || status[0].Profile != profile.DefaultName {
		t.Errorf("status: %+v", status)
	}
	a, reopened, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	if err != nil || reopened != "" {
		t.Fatalf("asking again: %q, %v", reopened, err)
	}
	if _, _, tabs := state(t, a); len(tabs) != 1 {
		t.Errorf("two requests for one window made tabs %q", tabs)
	}
}

func TestCrashDuringAnActionIsReportedAndTheWindowRecovers(t *testing.T) {
	base, signs := signallingSite(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	ref := refOf(t, w, "Press me")
	failed := make(chan error, 1)
	go func() {
		_, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": hang})
		failed <- err
	}()
	<-signs
	begun := time.Now()
	kill(t, m)
	err := <-failed
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the error took %s", took)
	}
	check.Fails(t, err, nil, "signal 9", "the page is reopened on the next step")
	if url, _, tabs := state(t, w); url != base+"/" || len(tabs) != 0 {
		t.Errorf("state without a browser: %q %q", url, tabs)
	}
	check.Fails(t, check.Err(w.Act(t.Context(), "click", map[string]any{"ref": ref})), nil, "take a snapshot")
	again, reopened, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	if err != nil || again != w || reopened != "" {
		t.Errorf("the window after its page is back: same %t, reopened %q, %v", again == w, reopened, err)
	}
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "Press me")})
	for kind, args := range map[string]map[string]any{
		"click": {"selector": "#missing", "timeoutMs": 500}, "navigate": {"url": "http://127.0.0.1:1/"},
	} {
		_, err := w.Act(t.Context(), kind, args)
		if err == nil || strings.Contains(err.Error(), kind) || strings.Contains(err.Error(), "interactable") {
			t.Errorf("%s: got %v, want the reason only", kind, err)
		}
	}
}

func TestABrowserThatHangsIsReplaced(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/two"})
	check.Must(t, check.Suspend(m.Status()[0].PID))
	check.Fails(t, check.Err(w.Act(t.Context(), "tabNew", nil)),
		nil, "did not answer any more, and was ended; the page is reopened on the next step")
	contains(t, act(t, w, "wait", map[string]any{"text": "Second page"}), "opened again at "+base+
		"/two; what was typed there is lost")
}

func TestWindowIsRestoredAfterACrash(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "tabNew", nil)
	act(t, w, "navigate", map[string]any{"url": base + "/two"})
	kill(t, m)
	eventually(t, "the crash is noticed", func() bool { return !m.Status()[0].Running })
	w, reopened, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	if err != nil || reopened != "the page had been closed and was opened again at "+base+"/two; what was typed "+
		"there is lost" {
		t.Fatalf("reopened %q, %v", reopened, err)
	}
	contains(t, act(t, w, "wait", map[string]any{"text": "Second page"}), "the other tab was closed with the browser")
	if notes := act(t, w, "wait", map[string]any{"text": "Second page"}); len(notes) != 0 {
		t.Errorf("told twice: %q", notes)
	}
}

func TestWindowOfAFormerRunOpensAtItsLastAddress(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	w, reopened, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	if err != nil || !strings.Contains(reopened, "opened again at "+base+"/two") {
		t.Fatalf("reopened %q, %v", reopened, err)
	}
	if url, _, _ := state(t, w); url != base+"/two" {
		t.Errorf("url %q", url)
	}
	_, reopened, err = m.Window(t.Context(), browsermgr.WindowOptions{Key: "b", URL: "http://127.0.0.1:1/"})
	if err != nil || !strings.Contains(reopened, "could not be opened again: ") {
		t.Fatalf("an address that does not load: %q, %v", reopened, err)
	}
}

func TestCrashedPageIsReportedAndReloaded(t *testing.T) {
	base, signs := signallingSite(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/two"})
	failed := make(chan error, 1)
	go func() {
		_, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": hang})
		failed <- err
	}()
	<-signs
	killPages(t, m)
	check.Fails(t, <-failed, nil, "the page crashed; the page is reopened on the next step")
	notes := act(t, w, "wait", map[string]any{"text": "Second page"})
	contains(t, notes, "the page had crashed and was opened again at "+base+"/two")
}

func TestLaunchFailureIsReportedAndTheNextLaunchWorks(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.LaunchTimeout, c.ReadyTimeout = time.Millisecond, time.Millisecond })
	})
	_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	check.Fails(t, err, nil, "not ready within ")
	configure(m, func(c *profile.Config) { c.LaunchTimeout, c.ReadyTimeout = 0, 0 })
	window(t, m, browsermgr.WindowOptions{Key: "a"})
}

func TestHeadedWindowWithoutADisplayIsRefused(t *testing.T) {
	t.Setenv("DISPLAY", "")
	t.Setenv("WAYLAND_DISPLAY", "")
	m := manager(t, nil)
	_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a", Headed: true})
	check.Fails(t, err, nil, "needs a display")
	b := window(t, m, browsermgr.WindowOptions{Key: "b"})
	_, _, err = m.Window(t.Context(), browsermgr.WindowOptions{Key: "c", Headed: true})
	check.Fails(t, err, nil, "runs headless and is in use")
	if _, _, tabs := state(t, b); len(tabs) != 1 {
		t.Errorf("the headless window: %q", tabs)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	temp, err := os.MkdirTemp("", "mgr") //nolint:usetesting // Chromium's socket there may have a path of 107 characters
	check.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	base, signs := signallingSite(t)
	before := runtime.NumGoroutine()
	m := manager(t, nil)
	t.Setenv("TMPDIR", temp)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: base + "/two", Ephemeral: true})
	failed := make(chan error, 1)
	go func() {
		_, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": hang})
		failed <- err
	}()
	<-signs
	check.Must(t, m.Close(t.Context()))
	check.Fails(t, <-failed, browsermgr.ErrClosed)
	if got := processesOf(t, m.Home); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
	list, err := os.ReadDir(temp)
	check.Must(t, err)
	for _, entry := range list {
		t.Errorf("left in the temporary directory: %s", entry.Name())
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	if _, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "b"}); !errors.Is(err, browsermgr.ErrClosed) {
		t.Errorf("a window after Close: %v", err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestCloseDuringALaunch(t *testing.T) {
	m := manager(t, nil)
	opened := make(chan error, 1)
	go func() {
		_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
		opened <- err
	}()
	eventually(t, "the browser is being started", func() bool { return len(processesOf(t, m.Home)) > 0 })
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-opened; err != nil && !errors.Is(err, browsermgr.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if got := processesOf(t, m.Home); len(got) != 0 {
		t.Errorf("processes left: %v", got)
	}
}

func TestOpenRefusesWhatCannotWork(t *testing.T) {
	for want, m := range map[string]*browsermgr.Manager{
		"no home directory":    {},
		"invalid profile name": {Home: t.TempDir(), Profile: "../up"},
	} {
		check.Fails(t, m.Open(t.Context()), nil, want)
	}
}

func TestIdleBrowserIsStoppedUnlessSomebodyHasLeftAPageOpen(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) { m.IdleAfter = 200 * time.Millisecond })
	base := site(t)
	create(t, m, browsermgr.CreateProfileOptions{Name: "kept"})
	u, err := findProfile(t, m, "kept").Acquire(t.Context(), true)
	check.Must(t, err)
	if _, err := u.NewTab(t.Context(), page.TabOptions{URL: base + "/"}); err != nil {
		t.Error(err)
	}
	u.Release()
	create(t, m, browsermgr.CreateProfileOptions{Name: "idle"})
	w := window(t, m, browsermgr.WindowOptions{Key: "a", Profile: "idle"})
	act(t, w, "navigate", map[string]any{"url": base + "/two"})
	// The second began to be idle after the first: when it has ended, the first would have, too.
	eventually(t, "the idle browser to end", func() bool { // asking for its status would use it meanwhile
		tab, _ := w.Observed()
		return tab == nil
	})
	if status(t, findProfile(t, m, "idle")).Running {
		t.Error("the browser of a page that was put away runs")
	}
	if !status(t, findProfile(t, m, "kept")).Running {
		t.Error("the browser with an open page was ended")
	}
	contains(t, act(t, w, "wait", map[string]any{"text": "Second page"}), "opened again at "+base+"/two")
}
