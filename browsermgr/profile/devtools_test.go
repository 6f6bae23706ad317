package profile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/proto"
)

// launchPiped launches a browser as the program does.
func launchPiped(t *testing.T) profile.RunningBrowser {
	t.Helper()
	ctx := browsertest.Within(t, 2*browsertest.Patience)
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	b, err := profile.Launch(ctx, exe,
		chrome.LaunchOptions{Headless: true, NoSandbox: true, Timeout: browsertest.Patience}, page.Options{})
	check.Must(t, err)
	t.Cleanup(func() { _ = b.Close(t.Context()) })
	return b
}

// listeners counts the TCP sockets on which a process listens.
func listeners(t *testing.T, pid int) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil && runtime.GOOS != "linux" {
		t.Skip("this machine has no /proc to look for sockets in")
	}
	check.Must(t, err)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Fatalf("descriptors of process %d: %v, %v", pid, fds, err)
	}
	for _, fd := range fds {
		link, _ := os.Readlink(fd)
		inode, ok := strings.CutPrefix(link, "socket:[")
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); ok && f[3] == "0A" && f[9] == strings.TrimSuffix(inode, "]") {
				n++
			}
		}
	}
	return n
}

// TestOthersOnTheMachineGetIntoNoBrowser tests access by another user account, or a container that shares the network.
func TestOthersOnTheMachineGetIntoNoBrowser(t *testing.T) {
	b := launchPiped(t)
	works(t, b.Conn)
	if n := listeners(t, b.Process.PID); n != 0 || b.Port != 0 {
		t.Errorf("the browser listens on %d ports, and tells %d", n, b.Port)
	}
	check.Fails(t, check.Err(os.Stat(filepath.Join(b.Process.UserDataDir, "DevToolsActivePort"))), os.ErrNotExist)
}

// freePort returns a port on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestOnlyProgramsWithATokenAreLetIn(t *testing.T) {
	b := launchPiped(t)
	good := func(token string) bool { return token == "s3cret" }
	s, err := profile.ServeDevTools(t.Context(), b.Conn, []int{freePort(t)}, good, slog.New(slog.DiscardHandler))
	check.Must(t, err)
	t.Cleanup(s.Close)
	check.Fails(t, check.Err(profile.ServeDevTools(t.Context(), b.Conn, []int{s.Port}, good,
		slog.New(slog.DiscardHandler))), nil, fmt.Sprintf("(pid %d)", os.Getpid())) // the same port again
	tab := browsertest.Tab(t, b.Conn, page.TabOptions{})
	base := fmt.Sprintf("http://127.0.0.1:%d", s.Port)
	get := func(path string, header map[string]string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		check.Must(t, err)
		for key, value := range header {
			req.Header.Set(key, value)
		}
		req.Host = header["Host"]
		res, err := http.DefaultClient.Do(req)
		check.Must(t, err)
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	upgrade := map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
	}
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		status int
	}{
		"another account":        {"/json/version", nil, 401},
		"its list":               {"/json/list", nil, 401},
		"its WebSocket":          {"/devtools/browser/clank", upgrade, 401},
		"of a page":              {"/devtools/page/" + tab.TargetID(), upgrade, 401},
		"a wrong token":          {"/json/version", map[string]string{"Authorization": "Bearer s3cre"}, 401},
		"an empty token":         {"/json/version?token=", nil, 401},
		"a rebound name":         {"/json/version?token=s3cret", map[string]string{"Host": "evil.example"}, 403},
		"a web page":             {"/json/version?token=s3cret", map[string]string{"Origin": "https://evil.example"}, 403},
		"a web page's picture":   {"/json/version?token=s3cret", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"the token as a header":  {"/json/version", map[string]string{"Authorization": "Bearer s3cret"}, 200},
		"the token as parameter": {"/json/version/?token=s3cret", nil, 200},
		"a page that is none":    {"/devtools/page/none?token=s3cret", nil, 404},
	} {
		if status, body := get(c.path, c.header); status != c.status {
			t.Errorf("%s: %d, want %d: %s", name, status, c.status, body)
		}
	}
	var version struct{ WebSocketDebuggerURL string }
	_, text := get("/json/version?token=s3cret", nil)
	check.Must(t, json.Unmarshal([]byte(text), &version))
	other, err := page.Connect(t.Context(), version.WebSocketDebuggerURL, page.Options{})
	check.Must(t, err)
	works(t, other)
	check.Must(t, other.Close())
	var pages []struct{ ID, WebSocketDebuggerURL string }
	_, text = get("/json/list?token=s3cret", nil)
	check.Must(t, json.Unmarshal([]byte(text), &pages))
	for _, p := range pages {
		if p.ID != tab.TargetID() {
			continue
		}
		conn, err := cdp.Dial(t.Context(), p.WebSocketDebuggerURL, cdp.Options{CallTimeout: browsertest.Patience})
		check.Must(t, err)
		conn.Start(func(ev cdp.Event) { t.Errorf("the client is told %s %s", ev.Method, ev.Params) })
		got, err := cdp.Ask[proto.RuntimeEvaluateResult](t.Context(), conn.Session("", cdp.ErrGone),
			proto.RuntimeEvaluate{Expression: "6*7"})
		if err != nil || got.Result.Value.Int() != 42 {
			t.Errorf("over the page's own address: %+v, %v", got.Result, err)
		}
		conn.Close()
	}
	ws, _, err := websocket.Dial(t.Context(), version.WebSocketDebuggerURL, nil)
	check.Must(t, err)
	tab.BeginHold(new(page.Hold)) // somebody works the page
	if _, _, err := ws.Read(browsertest.Within(t, browsertest.Patience)); err == nil {
		t.Error("a client goes on to use a browser in which somebody works a page")
	}
	for _, path := range []string{"/json/list", "/devtools/browser/clank", "/devtools/page/" + tab.TargetID()} {
		if status, _ := get(path+"?token=s3cret", upgrade); status != http.StatusLocked {
			t.Errorf("%s of such a browser: %d", path, status)
		}
	}
	tab.EndHold()
	ws, _, err = websocket.Dial(t.Context(), version.WebSocketDebuggerURL, nil)
	check.Must(t, err)
	s.Close()
	if _, _, err := ws.Read(browsertest.Within(t, browsertest.Patience)); err == nil {
		t.Error("a client is served after the end")
	}
	works(t, b.Conn) // it goes on without its guests
}
