package browsermgr_test

import (
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// restingPage records when it is frozen and resumed, and has state that a reload would lose.
const restingPage = `<label>Name <input></label><div style="height: 5000px"></div><script>
	told = []; beats = 0;
	document.addEventListener("freeze", () => told.push("freeze"));
	document.addEventListener("resume", () => told.push("resume"));
	setInterval(() => beats++, 10);
</script>`

// freezing opens a window of a Manager that freezes pages soon.
func freezing(t *testing.T, address string) (*browsermgr.Manager, *browsermgr.Window) {
	t.Helper()
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.Cleanup.FreezeAfter = 200 * time.Millisecond })
	})
	w, _, err := m.Window(browsertest.Within(t, browsertest.Patience), browsermgr.WindowOptions{Key: "a", URL: address})
	check.Must(t, err)
	return m, w
}

func awaitFrozen(t *testing.T, w *browsermgr.Window) {
	t.Helper()
	tab, _ := w.Observed()
	browsertest.Eventually(t, "the page stands still", tab.Frozen)
}

func TestAPageIsFrozenAfterItsTaskAndResumesUnchanged(t *testing.T) {
	t.Parallel()
	site := browsertest.Routes(t, map[string]any{"/": restingPage, "/before": "<h1>Before</h1>"})
	m, w := freezing(t, site+"/before")
	js := func(fn, want string) {
		t.Helper()
		check.Must(t, w.WithTab(t.Context(), func(tab *page.Tab) error {
			browsertest.WantJS(t, tab, fn, want)
			return nil
		}))
	}
	check.Must(t, check.Err(w.Act(t.Context(), "navigate", map[string]any{"url": site + "/"})))
	js(`() => { document.querySelector("input").value = "Ada"; scrollTo(0, 1234); return "" }`, `""`)
	before, _ := w.Observed()
	w.Rest()
	for range 2 { // once more after it was looked at
		awaitFrozen(t, w)
		js(`() => [document.querySelector("input").value, scrollY, history.length > 1, document.visibilityState, document.hasFocus()]`,
			`["Ada",1234,true,"visible",true]`)
	}
	js(`() => told.slice(0, 3).join()`, `"freeze,resume,freeze"`)
	js(`() => new Promise(done => { const was = beats; setInterval(() => beats > was && done(true)) })`, `true`)
	if _, reopened, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"}); err != nil || reopened != "" {
		t.Errorf("the next task: %q, %v", reopened, err)
	}
	if after, _ := w.Observed(); after != before {
		t.Error("it is another tab")
	}
	check.Must(t, check.Err(w.Act(t.Context(), string(actiontable.KindBack), nil)))
	js(`() => document.querySelector("h1").textContent`, `"Before"`)
}

func TestAnEndlessScriptEndsWithItsTask(t *testing.T) {
	t.Parallel()
	site := browsertest.Routes(t, map[string]any{
		"/once":  `<script>setTimeout(() => { for (;;); }, 100)</script>`,
		"/again": `<script>setInterval(() => { for (;;) hog.push("x".repeat(1000)) && hog.length % 100 == 0 && hog.splice(0); }, 100); hog = []</script>`,
	})
	m, once := freezing(t, site+"/once")
	again := window(t, m, browsermgr.WindowOptions{Key: "b", URL: site + "/again"})
	for _, w := range []*browsermgr.Window{once, again} {
		w.Rest()
	}
	awaitFrozen(t, once)
	awaitFrozen(t, again)
	pid, looks, busy := m.Status()[0].PID, 0, 0
	browsertest.Eventually(t, "the pages compute less than half of a time in which each would begin anew", func() bool {
		if looks++; browsertest.RunsScripts(t, pid) {
			busy++
		}
		const enough = 50
		if looks < enough {
			return false
		}
		idle := busy < enough/2
		looks, busy = 0, 0
		return idle
	})
}
