package page_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// TestATabWhoseProcessIsLateLoadsItsPage stops all renderers, including the new tab's, for longer than a tab that does
// not answer is waited for, like a busy machine.
func TestATabWhoseProcessIsLateLoadsItsPage(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	url := site(t, map[string]string{"/": "<p>Here"}).URL
	pids := pageProcesses(t, browser.Process(t).PID, "--type=renderer", "--type=zygote")
	if len(pids) == 0 {
		t.Fatal("the browser has no processes for pages")
	}
	signalAll(pids, syscall.SIGSTOP)
	resume := func() { signalAll(pids, syscall.SIGCONT) }
	t.Cleanup(resume)
	time.AfterFunc(2500*time.Millisecond, resume)
	begun := time.Now()
	tab := browsertest.Tab(t, b, page.TabOptions{URL: url})
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("the tab was there after %s, before its process went on", took)
	}
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Here")
}

// TestAnErrorPageThatIsLateIsAwaited stops all renderers, like a busy machine, while Chromium should show its error
// page.
func TestAnErrorPageThatIsLateIsAwaited(t *testing.T) {
	closed := site(t, nil)
	closed.Close()
	tab := openTab(t, "")
	pids := pageProcesses(t, browser.Process(t).PID, "--type=renderer", "--type=zygote")
	resume := func() { signalAll(pids, syscall.SIGCONT) }
	t.Cleanup(resume)
	signalAll(pids, syscall.SIGSTOP)
	time.AfterFunc(3*time.Second, resume)
	res, err := tab.Navigate(t.Context(), closed.URL)
	check.Fails(t, err, nil, "refused the connection")
	if !page.IsErrorPage(res.URL) {
		t.Errorf("the navigation left %+v", res)
	}
}

// TestATabThatDoesNotAnswerYetIsNavigated connects to a browser with a tab whose process is stopped, like on a busy
// machine: Chromium does not report the first document that the tab shows then.
func TestATabThatDoesNotAnswerYetIsNavigated(t *testing.T) {
	own := browsertest.Launch(t)
	srv := site(t, map[string]string{"/": "<p>Here", "/next": "<title>Next</title><p>There"})
	browsertest.Tab(t, browsertest.Connect(t, own, page.Options{}), page.TabOptions{URL: srv.URL})
	for _, url := range []string{srv.URL + "/next", foreign(srv) + "/next"} {
		pids := pageProcesses(t, own.PID, "--type=renderer")
		signalAll(pids, syscall.SIGSTOP)
		resume := func() { signalAll(pids, syscall.SIGCONT) }
		t.Cleanup(resume)
		b := browsertest.Connect(t, own, page.Options{})
		tab := b.Tabs()[len(b.Tabs())-1]
		time.AfterFunc(2500*time.Millisecond, resume)
		res, err := tab.Navigate(t.Context(), url)
		check.Must(t, err)
		if !res.Navigated || res.Status != 200 || res.URL != url {
			t.Errorf("navigate %s: %+v", url, res)
		}
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "There")
	}
}

// TestATabWhoseProcessIsKilledIsOpenedInAnother kills all renderers, including the spare one, while a tab is being
// opened. A tab wrongly considered alive does not load its page.
func TestATabWhoseProcessIsKilledIsOpenedInAnother(t *testing.T) {
	own := browsertest.Launch(t)
	url := site(t, map[string]string{"/": "<p>Here"}).URL
	for _, method := range []string{"Target.createTarget", "Page.enable"} {
		var once sync.Once
		b := browsertest.Connect(t, own, page.Options{Options: cdp.Options{OnSent: func(sent string, _ any) {
			if sent == method {
				once.Do(func() {
					signalAll(pageProcesses(t, own.PID, "--type=renderer"), syscall.SIGKILL)
				})
			}
		}}})
		tab, err := b.NewTab(t.Context(), page.TabOptions{URL: url})
		if err != nil {
			t.Errorf("killed at %s: %v", method, err)
			continue
		}
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Here")
	}
}

// TestAClickInAFrameThatIsNotDrawnYetArrives stops the process that draws, like a busy machine, when the page moves a
// frame: Chromium then sends clicks for the frame's new place to the page around it.
func TestAClickInAFrameThatIsNotDrawnYetArrives(t *testing.T) {
	t.Parallel()
	own := browsertest.Launch(t)
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		html := "<!doctype html><div style=height:300px></div><iframe src='" + foreign(srv) + "/in'></iframe>"
		if r.URL.Path == "/in" {
			html = `<!doctype html><button onclick="this.textContent = 1 + Number(this.textContent)">0</button>`
		}
		browsertest.HTML(w, html)
	})
	for _, at := range []bool{false, true} {
		tab := browsertest.Tab(t, browsertest.Connect(t, own, page.Options{}), page.TabOptions{URL: srv.URL})
		count := func(want string) func() bool {
			return func() bool {
				return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, `button "`+want+`"`)
			}
		}
		browsertest.Eventually(t, "the frame is seen", count("0"))
		ref := refOf(t, tab, "button")
		click(t, tab, ref)
		browsertest.Eventually(t, "the first click has arrived", count("1"))
		pids := pageProcesses(t, own.PID, "--type=gpu-process")
		if len(pids) == 0 {
			t.Fatal("the browser has no process that draws")
		}
		resume := func() { signalAll(pids, syscall.SIGCONT) }
		t.Cleanup(resume)
		signalAll(pids, syscall.SIGSTOP)
		js(t, tab, "document.querySelector('div').style.height = '20px'")
		limited := page.Action{Kind: actiontable.KindClick, Ref: ref, TimeoutMs: 1500}
		if at {
			limited = page.Action{Kind: actiontable.KindClickCoords, X: 25, Y: 50, TimeoutMs: 1500}
		}
		check.Fails(t, check.Err(tab.Act(t.Context(), limited)), fault.ErrNotInteractable, "not drawn there yet")
		time.AfterFunc(1000*time.Millisecond, resume)
		limited.TimeoutMs = 0
		act(t, tab, limited)
		browsertest.Eventually(t, "the second click has arrived, once", count("2"))
	}
}

// TestEffectsThatAreDrawnLateAreAwaited stops the process that draws, like a busy machine, while actions take effect
// with the next frame.
func TestEffectsThatAreDrawnLateAreAwaited(t *testing.T) {
	t.Parallel()
	own := browsertest.Launch(t)
	tab := browsertest.Tab(t, browsertest.Connect(t, own, page.Options{}), page.TabOptions{URL: site(t, map[string]string{
		"/": `<!doctype html><p id=p>Before</p>
		<button onclick="requestAnimationFrame(() => { p.textContent = 'After' })">Show</button>
		<div id=s role=slider tabindex=0 aria-label=Volume aria-valuenow=0 onkeydown="requestAnimationFrame(() => {
			this.ariaValueNow = +this.ariaValueNow + ({ ArrowUp: 5, ArrowDown: -5 }[event.key] ?? 0);
			p.textContent += ' ' + event.key })">-</div>
		<ul role=listbox onclick="requestAnimationFrame(() => {
			event.target.ariaSelected = 'true'; p.textContent += ' clicked' })"><li role=option aria-selected=false>One</ul>
		<div role=grid><div role=row><div role=gridcell tabindex=0 onclick="requestAnimationFrame(() => {
			this.innerHTML = '<input>'; this.firstChild.focus(); p.textContent += ' opened' })">Cell</div></div></div>
		<div style=position:relative><a href="#">Under</a><div id=veil style=position:absolute;inset:0>`,
	}).URL})
	pids := pageProcesses(t, own.PID, "--type=gpu-process")
	if len(pids) == 0 {
		t.Fatal("the browser has no process that draws")
	}
	resume := func() { signalAll(pids, syscall.SIGCONT) }
	t.Cleanup(resume)
	time.AfterFunc(450*time.Millisecond, func() { signalAll(pids, syscall.SIGSTOP) })
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{
		Kind: actiontable.KindClick, Ref: refOf(t, tab, "link"),
		TimeoutMs: 600,
	})), fault.ErrNotInteractable, "is covered by")
	resume()
	for _, tt := range []struct {
		on, want string
		a        page.Action
	}{
		{`button`, "paragraph: After\n", page.Action{Kind: actiontable.KindClick}},
		{`slider`, "paragraph: After ArrowUp\n", page.Action{Kind: actiontable.KindType, Text: "5"}},
		{`listbox`, "paragraph: After ArrowUp clicked\n", page.Action{Kind: actiontable.KindSelect, Values: []string{"One"}}},
		{`gridcell`, "paragraph: After ArrowUp clicked opened\n", page.Action{Kind: actiontable.KindType, Text: "new"}},
	} {
		tt.a.Ref = refOf(t, tab, tt.on)
		signalAll(pids, syscall.SIGSTOP)
		resumed := make(chan struct{})
		time.AfterFunc(700*time.Millisecond, func() { resume(); close(resumed) })
		act(t, tab, tt.a)
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, tt.want)
		<-resumed
	}
}

// signalAll skips processes that have ended.
func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}

// pageProcesses returns the processes of some kinds below root: renderers, which show pages, or zygotes, which start
// them.
func pageProcesses(tb testing.TB, root int, kinds ...string) (pids []int) {
	tb.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/stat")
	check.Must(tb, err)
	below := map[int][]int{}
	for _, path := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		data, _ := os.ReadFile(path) // one that has ended has none
		_, rest, _ := strings.Cut(string(data), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			below[parent] = append(below[parent], pid)
		}
	}
	for todo := []int{root}; len(todo) > 0; todo = todo[1:] {
		cmdline, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(todo[0]), "cmdline"))
		if slices.ContainsFunc(kinds, func(kind string) bool { return strings.Contains(string(cmdline), kind) }) {
			pids = append(pids, todo[0])
		}
		todo = append(todo, below[todo[0]]...)
	}
	return pids
}
