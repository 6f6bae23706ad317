package record_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// viewer finds the command line of the trace viewer, or skips the test: it needs node and an unpacked playwright-core.
func viewer(t *testing.T) (node, cli string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the viewer's own reader needs node")
	}
	cli = filepath.Join(os.Getenv("CLANK_PLAYWRIGHT_CORE"), "cli.js")
	if _, err := os.Stat(cli); err != nil {
		t.Skip("the viewer's own reader needs playwright-core: set CLANK_PLAYWRIGHT_CORE to its folder")
	}
	return node, cli
}

func TestTheViewersOwnReaderOpensATrace(t *testing.T) {
	node, cli := viewer(t)
	w := openTraced(t, browser.Process(t))
	path := buy(t, w, patient, browsertest.Routes(t, shop))
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), node, append([]string{cli, "trace"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
	ask := func(args ...string) string {
		out, err := command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ask("open", path)
	browsertest.WantContains(t, ask("actions"), "navigate http://", "click button", "click #missing")
	browsertest.WantContains(t, ask("action", "2"), `selector: "button"`, "before, after")
	browsertest.WantContains(t, ask("console"), "bought {n: 1}", "too many")
	browsertest.WantContains(t, ask("errors"), "#missing", "not found or not visible")
	browsertest.WantContains(t, ask("requests"), "style.css", "POST")
	ask("screenshot", "2")

	serve := command("snapshot", "2", "--phase", "after", "--serve")
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := serve.StdoutPipe()
	browsertest.Must(t, err)
	browsertest.Must(t, serve.Start())
	defer func() {
		_ = syscall.Kill(-serve.Process.Pid, syscall.SIGKILL)
		_ = serve.Wait()
	}()
	text, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(text), "http://")
	if err != nil || !ok {
		t.Fatalf("got %q (%v), want where the document is served", text, err)
	}
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: "http://" + address})
	if _, err := tab.Act(browsertest.Within(t, 30*time.Second), page.Action{Kind: actiontable.KindWait, URL: "**/snapshot/**", TimeoutMs: 20_000}); err != nil {
		t.Fatal(err)
	}
	res, err := tab.Act(browsertest.Within(t, 30*time.Second), page.Action{Kind: actiontable.KindEvaluate, TimeoutMs: 20_000, Fn: `async () => {
	const shown = () => { const b = document.querySelector('b'); return b && [b.textContent, getComputedStyle(b).color,
		document.querySelector('#name')?.value, document.querySelector('#host')?.shadowRoot?.textContent].join(' | ') };
	while (!(shown()?.includes('255') && shown().includes('shadow'))) await new Promise(done => setTimeout(done, 50));
	return shown(); }`})
	if got, want := string(res.Value), `"Sold | rgb(255, 0, 0) | Ada | in the shadow"`; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
