package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/control"
	"clank/browsermgr/page/screenshot"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/coder/websocket"
)

func TestAServerDoesNotStartUnprotected(t *testing.T) {
	for name, c := range map[string]struct {
		server *control.Server
		want   string
	}{
		"no secret":        {&control.Server{Addr: "127.0.0.1:0"}, "no secret"},
		"blank secret":     {&control.Server{Addr: "127.0.0.1:0", Secrets: control.Secrets{Token: "  "}}, "no secret"},
		"all interfaces":   {&control.Server{Addr: "0.0.0.0:0", Secrets: control.Secrets{Token: "x"}}, "loopback"},
		"no host":          {&control.Server{Addr: ":0", Insecure: true}, "loopback"},
		"another machine":  {&control.Server{Addr: "192.0.2.1:0", Secrets: control.Secrets{Token: "x"}}, "loopback"},
		"no port":          {&control.Server{Addr: "127.0.0.1", Secrets: control.Secrets{Token: "x"}}, "missing port"},
		"a port in use":    {&control.Server{Addr: strings.TrimPrefix(site, "http://"), Insecure: true}, "another program"},
		"a name not local": {&control.Server{Addr: "example.com:0", Insecure: true}, "loopback"},
	} {
		err := c.server.Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	open := serve(t, func(s *control.Server) { s.Secrets, s.Insecure = control.Secrets{}, true })
	r := open.request(t.Context(), "GET", "/tabs", nil)
	r.Header.Del("Authorization")
	if a := open.send(r); a.status != http.StatusOK {
		t.Errorf("an insecure server: got %d %s", a.status, a.text)
	}
}

func TestACloseEndsWhatRequestsAreDoing(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/")
	got := make(chan answer, 1)
	go func() {
		got <- c.do("POST", "/act", map[string]any{"kind": "wait", "text": "never", "targetId": target})
	}()
	eventually(t, "the wait has begun", func() bool { return p.acting(target) })
	check.Must(t, c.server.Close(t.Context()))
	if a := <-got; a.status != http.StatusServiceUnavailable || !strings.Contains(a.text, "closing") {
		t.Errorf("got %d %s, want 503", a.status, a.text)
	}
}

func TestARequestForAPageWaitsForASlot(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	taken := time.Now()
	over, cancel := context.WithCancel(t.Context())
	cancel() // so that BeginStep does not wait
	for {
		end, err := c.server.Manager.BeginStep(over)
		if err != nil {
			break
		}
		defer end()
	}
	c.ok("GET", "/snapshot?targetId="+target, nil)
	if took := time.Since(taken); took < 900*time.Millisecond {
		t.Errorf("the page was read after %v, though all slots were taken for a second", took)
	}
}

func TestATabCanBeWatchedLive(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(c.server.URL(), "http", "ws", 1)+"/screencast?maxWidth=400",
		&websocket.DialOptions{
			HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
		})
	check.Must(t, err)
	defer conn.CloseNow()
	conn.SetReadLimit(16 << 20)
	for _, want := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		kind, data, err := conn.Read(ctx)
		if err != nil || kind != want || len(data) == 0 {
			t.Fatalf("got a message of kind %v and %d bytes, %v; want kind %v", kind, len(data), err, want)
		}
	}
	if a := c.do("GET", "/screencast", nil); a.status != 400 {
		t.Errorf("without a WebSocket: got %d %s", a.status, a.text)
	}
	// The server's end is the live view's.
	closed := make(chan error, 1)
	go func() { closed <- c.server.Close(ctx) }()
	for err == nil {
		_, _, err = conn.Read(ctx)
	}
	if why, ok := errors.AsType[websocket.CloseError](err); !ok || why.Code != websocket.StatusGoingAway ||
		why.Reason != control.ErrServerClosing.Error() {
		t.Errorf("the live view ends with %v", err)
	}
	check.Must(t, <-closed)
}

func TestAFrameUnderWayIsSentWholeToASlowClient(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	frame := screenshot.Frame{Data: make([]byte, 16<<20)} // more than the network holds
	sent := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		check.Must(t, err)
		sent <- control.SendFrame(ctx, conn, frame)
		_ = conn.Close(websocket.StatusGoingAway, "the end")
	}))
	defer server.Close()
	conn, _, err := websocket.Dial(t.Context(), server.URL, nil)
	check.Must(t, err)
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	_, _, err = conn.Read(t.Context()) // what it is
	check.Must(t, err)
	_, data, err := conn.Reader(t.Context())
	check.Must(t, err)
	stop()
	if n, err := io.Copy(io.Discard, data); err != nil || int(n) != len(frame.Data) {
		t.Errorf("got %d bytes of the frame, %v", n, err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the connection ends with %v", err)
	}
	check.Must(t, <-sent)
}

func TestTheModeOfSnapshotsCanBeSet(t *testing.T) {
	c := serve(t, func(s *control.Server) { s.Settings = serverSettings{mode: "efficient"} })
	c.open("/")
	check.Lacks(t, c.ok("GET", "/snapshot", nil).str("snapshot"), "heading")
}

func TestAPageThatClosesItselfHasDoneWhatWasAsked(t *testing.T) {
	c := serve(t, nil)
	opener := c.open("/opens")
	c.ok("POST", "/act", `{"kind":"evaluate","fn":"void window.open('/shuts')"}`)
	var popup string
	eventually(t, "the popup shows its page", func() bool {
		for _, tab := range c.listed() {
			if tab["url"] == site+"/shuts" {
				popup = tab["targetId"].(string)
			}
		}
		return popup != ""
	})
	ref := c.ref(popup, "Shut")
	a := c.ok("POST", "/act", map[string]any{"kind": "click", "ref": ref, "targetId": popup})
	if a.body["ok"] != true {
		t.Errorf("got %s", a.text)
	}
	listed := func(target string) bool {
		return slices.ContainsFunc(c.listed(), func(tab map[string]any) bool { return tab["targetId"] == target })
	}
	eventually(t, "the popup is gone", func() bool { return !listed(popup) })
	if !listed(opener) {
		t.Error("the opener is gone too")
	}
}

func TestFilesAreKeptUnderNewNames(t *testing.T) {
	f := &control.Features{Dir: t.TempDir()}
	seen := map[string]bool{}
	for _, tt := range [][2]string{
		{"clank", "pictures"},
		{"clank", "pictures"},
		{"clank@person-1", "pictures/clank@person-1"}, // so that it can be forgotten
	} {
		path, err := f.SavePicture(tt[0], ".png", []byte("picture"))
		check.Must(t, err)
		want := filepath.Join(f.Dir, tt[1], "browser-*.png")
		if ok, err := filepath.Match(want, path); err != nil || !ok || seen[path] {
			t.Errorf("kept at %s, want a new %s", path, want)
		}
		seen[path] = true
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 7 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestFilesThatCannotBeKeptAreAnError(t *testing.T) {
	check.Fails(t, check.Err((*control.Features)(nil).SavePicture("clank", ".png", nil)), nil, "no folder for files")
	file := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(file, nil, 0o600))
	f := &control.Features{Dir: file}
	if path, err := f.SavePicture("clank", ".png", nil); err == nil || errors.Is(err, os.ErrExist) {
		t.Errorf("kept at %q, %v", path, err)
	}
}

func TestABrowserThatDoesNotStartIsNotAskedForAllTheTime(t *testing.T) {
	home := t.TempDir()
	broken := filepath.Join(home, "chromium")
	check.Must(t, os.WriteFile(broken, []byte("#!/bin/sh\nexit 3\n"), 0o700))
	m := &browsermgr.Manager{Home: home, FirstPort: 18810, LastPort: 18812, Config: func() profile.Config {
		return profile.Config{Executable: broken, Headless: new(true), NoSandbox: true}
	}}
	check.Must(t, m.Open(t.Context()))
	defer m.Close(context.Background())
	c := serve(t, func(s *control.Server) { s.Manager = m })
	for range 3 {
		if a := c.do("POST", "/start", nil); a.status != http.StatusConflict || a.str("reason") == "launch_paused" {
			t.Fatalf("start: got %d %s", a.status, a.text)
		}
	}
	res, err := http.DefaultClient.Do(c.request(t.Context(), "POST", "/start", nil))
	check.Must(t, err)
	defer res.Body.Close()
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if res.StatusCode != http.StatusConflict || err != nil || seconds < 1 || seconds > 30 {
		t.Errorf("got %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	if a := c.do("POST", "/start", nil); a.str("reason") != "launch_paused" ||
		!strings.Contains(a.str("error"), "not tried again for") {
		t.Errorf("got %s", a.text)
	}
}

func TestTabsTellWhereTheirDevToolsAre(t *testing.T) {
	c := serve(t, nil)
	opened := c.ok("POST", "/tabs/open", map[string]any{"url": site + "/two"})
	conn, _, err := websocket.Dial(t.Context(), opened.str("wsUrl")+"?token="+token, nil)
	if err != nil {
		t.Fatalf("%q: %v", opened.str("wsUrl"), err)
	}
	_ = conn.CloseNow()
	found := false
	for _, tab := range c.listed() {
		found = found || tab["wsUrl"] == opened.str("wsUrl")
	}
	if !found {
		t.Errorf("%s is not listed", opened.str("wsUrl"))
	}
}

func TestADeviceKeepsItsPixelsWhenTheViewportChanges(t *testing.T) {
	c := serve(t, nil)
	c.open("/mobile")
	c.ok("POST", "/set/device", map[string]any{"name": "iPhone 14"})
	seen := map[string]any{"kind": "evaluate", "fn": "[innerWidth, innerHeight, devicePixelRatio, " +
		"navigator.maxTouchPoints > 0].join()"}
	for _, body := range []map[string]any{
		{"kind": "resize", "width": 500, "height": 700},
		{"kind": "batch", "actions": []any{map[string]any{"kind": "resize", "width": 500, "height": 700}}},
	} {
		c.ok("POST", "/act", body)
		if a := c.ok("POST", "/act", seen); a.body["result"] != "500,700,3,true" {
			t.Errorf("%s: the page sees %s", body["kind"], a.text)
		}
	}
}

func TestTheShownDocumentIsSaved(t *testing.T) {
	c := serve(t, nil)
	c.open("/two")
	a := c.ok("POST", "/download", map[string]any{
		"currentDocument": true, "expectedUrl": site + "/two#x",
		"path": "shown.html",
	})
	saved, _ := a.body["download"].(map[string]any)
	path, _ := saved["path"].(string)
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "Second page") {
		t.Errorf("saved %s: %v", a.text, err)
	}
	for body, want := range map[string]int{
		`{"currentDocument":true}`: 400,
		`{"currentDocument":true,"expectedUrl":"` + site + `/two","ref":"e1"}`:       400,
		`{"currentDocument":true,"expectedUrl":"` + site + `/"}`:                     409,
		`{"currentDocument":true,"expectedUrl":"` + site + `/two","path":"../../x"}`: 400,
		`{"currentDocument":"false","path":"x"}`:                                     400,
	} {
		if a := c.do("POST", "/download", body); a.status != want {
			t.Errorf("%s: got %d %s, want %d", body, a.status, a.text, want)
		}
	}
}

func TestAProgramThatAPersonRefusesIsAnsweredAsForbidden(t *testing.T) {
	c := serve(t, nil)
	body := map[string]any{"ref": c.ref(c.open("/files"), "Program"), "path": "x.exe"}
	if a := c.do("POST", "/download", body); a.status != http.StatusForbidden ||
		a.str("reason") != control.ReasonConsentRefused {
		t.Errorf("got %d %s", a.status, a.text)
	}
}

// personal makes a profile that joins the shared browser as a person's own, and opens a page in it.
func personal(t *testing.T, c *client) string {
	t.Helper()
	c.open("/two") // the person's own tab
	dir := t.TempDir()
	check.Must(t, os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(devTools(t, c)), 0o600))
	if _, err := shared.CreateProfile(t.Context(),
		browsermgr.CreateProfileOptions{Name: "person", Driver: "existing-session", UserDataDir: dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.ok("POST", "/stop?profile=person", nil)
		c.ok("DELETE", "/profiles/person", nil)
	})
	return c.ok("POST", "/tabs/open?profile=person", map[string]any{"url": site + "/"}).str("targetId")
}

// devTools returns the contents of DevToolsActivePort, as a browser whose DevTools a person opened writes it: port and
// path.
func devTools(t *testing.T, c *client) string {
	t.Helper()
	status := c.ok("GET", "/", nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, status.str("cdpUrl")+"/json/version?token="+token,
		nil)
	check.Must(t, err)
	res, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer res.Body.Close()
	var version struct{ WebSocketDebuggerURL string }
	check.Must(t, json.NewDecoder(res.Body).Decode(&version))
	u, err := url.Parse(version.WebSocketDebuggerURL)
	check.Must(t, err)
	return u.Port() + "\n" + u.RequestURI()
}

func TestAPersonsBrowserIsSparedWhatTheContractNames(t *testing.T) {
	c := serve(t, nil)
	personal(t, c)
	name := c.ref("&profile=person", "Name")
	for _, action := range []string{
		`"kind":"click","selector":"button"`, `"kind":"type","ref":"e1","text":"x","slowly":true`,
		`"kind":"press","key":"a","delayMs":5`,
		`"kind":"drag","startSelector":"button","endRef":"e2"`, `"kind":"batch","actions":[{"kind":"press","key":"a"}]`,
		`"kind":"dragCoords","x":1,"y":1,"endX":2,"endY":2`,
	} {
		a := c.do("POST", "/act?profile=person", "{"+action+"}")
		if a.status != http.StatusNotImplemented || a.str("code") != "ACT_EXISTING_SESSION_UNSUPPORTED" {
			t.Errorf("%s: got %d %s", action, a.status, a.text)
		}
	}
	for _, r := range []struct {
		path, body string
		status     int
	}{
		{"/screenshot", `{"element":"button"}`, 400},
		{"/start?headless=true", "", 400},
		{"/hooks/file-chooser", `{"paths":["a.txt"],"element":"input"}`, 501},
		{"/hooks/file-chooser", `{"paths":["a.txt"]}`, 501},
		{"/wait/download", `{"timeoutMs":500}`, 501},
		{"/set/offline", `{"offline":true}`, 501},
		{"/set/headers", `{"headers":{"a":"b"}}`, 501},
		{"/set/credentials", `{"username":"a","password":"b"}`, 501},
		{"/set/geolocation", `{"latitude":1,"longitude":1}`, 501},
		{"/cookies/clear", "", 501},
		{"/set/timezone", `{"timezoneId":"Asia/Tokyo"}`, 200},
		{"/pdf", "", 200},
		{"/screenshot", `{"ref":"` + name + `","labels":true}`, 200},
		{"/act", `{"kind":"type","ref":"` + name + `","text":"Ada"}`, 200},
		{"/act", `{"kind":"fill","fields":[{"ref":"` + name + `","value":"Bob"}]}`, 200},
		{"/act", `{"kind":"click","ref":"` + name + `","button":"middle","modifiers":["Shift"]}`, 200},
		{"/act", `{"kind":"wait","selector":"button","loadState":"networkidle"}`, 200},
	} {
		path, query, _ := strings.Cut(r.path, "?")
		if a := c.do("POST", path+"?profile=person&"+query, r.body); a.status != r.status {
			t.Errorf("%s %s: got %d %s, want %d", r.path, r.body, a.status, a.text, r.status)
		}
	}
	if tabs := c.ok("GET", "/tabs?profile=person", nil); strings.Contains(tabs.text, "wsUrl") {
		t.Errorf("tabs: %s", tabs.text)
	}
}

// abandon sends a request, disconnects when begun reports that it is in progress, and waits until it has ended.
func (c *client) abandon(method, path string, body any, begun func() bool) {
	c.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(c.request(ctx, method, path, body))
		if err == nil {
			err = errors.Join(errors.New("it was answered: "+res.Status), res.Body.Close())
		}
		gone <- err
	}()
	eventually(c.tb, method+" "+path+" is being worked on", begun)
	cancel()
	check.Fails(c.tb, <-gone, context.Canceled)
	ended := make(chan struct{})
	go func() { control.WaitIdle(c.server); close(ended) }()
	select {
	case <-ended:
	case <-time.After(45 * time.Second):
		c.tb.Fatalf("%s %s goes on without its client", method, path)
	}
}

func TestEveryKindOfWorkEndsWithItsClient(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	huge, loop := c.open("/huge"), c.open("/loop")
	spins := func() bool { // its address says that the script of the page runs
		return slices.ContainsFunc(c.listed(), func(tab map[string]any) bool {
			return strings.HasSuffix(tab["url"].(string), "#spins")
		})
	}
	never := map[string]any{"kind": "wait", "text": "never", "timeoutMs": 120_000}
	for _, step := range []struct {
		name, target, method, path string
		body                       map[string]any
		begun                      func() bool // nil: the policy is asked
	}{
		{"navigate", huge, "POST", "/navigate", map[string]any{"url": site + "/silent", "timeoutMs": 120_000}, nil},
		{"snapshot", huge, "GET", "/snapshot?maxChars=0&timeoutMs=60000&targetId=" + huge, nil, nil},
		{"tree", huge, "GET", "/snapshot?format=aria&limit=2000&timeoutMs=60000&targetId=" + huge, nil, nil},
		{
			"screenshot", huge, "POST", "/screenshot",
			map[string]any{"fullPage": true, "labels": true, "timeoutMs": 60_000},
			nil,
		},
		{"wait", huge, "POST", "/act", maps.Clone(never), nil},
		{"batch", huge, "POST", "/act", map[string]any{"kind": "batch", "actions": []any{never}}, nil},
		{"wait for a download", huge, "POST", "/wait/download", map[string]any{"timeoutMs": 120_000}, nil},
		{"body", huge, "POST", "/response/body", map[string]any{"url": "**/never", "timeoutMs": 120_000}, nil},
		{"promise", loop, "POST", "/act", map[string]any{
			"kind": "evaluate", "fn": "new Promise(() => {})",
			"timeoutMs": 120_000,
		}, func() bool { return p.acting(loop) }},
		{"click on endless work", loop, "POST", "/act", map[string]any{
			"kind": "click", "ref": c.ref(loop, "Spin"),
			"timeoutMs": 60_000,
		}, spins},
		{
			"endless script", loop, "POST", "/act",
			map[string]any{"kind": "evaluate", "fn": "location.hash = 'spins'; for (;;);"},
			spins,
		},
	} {
		var body any
		if step.body != nil {
			step.body["targetId"], body = step.target, step.body
		}
		if step.begun == nil {
			step.begun = p.next()
		}
		c.abandon(step.method, step.path, body, step.begun)
		eventually(t, "the tab answers after "+step.name, func() bool {
			a := c.do("POST", "/act", map[string]any{
				"kind": "evaluate", "fn": "(location.hash = '', 1 + 1)",
				"targetId": step.target,
			})
			return a.status == http.StatusOK && a.body["result"] == 2.0
		})
	}
}

func TestAHungTabHoldsUpNobodyElse(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	hung := c.open("/loop")
	before := len(c.listed())
	spin := c.ref(hung, "Spin")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		res, err := http.DefaultClient.Do(
			c.request(ctx, "POST", "/act", map[string]any{"kind": "click", "ref": spin, "targetId": hung, "timeoutMs": 60000}))
		if err == nil {
			_ = res.Body.Close()
		}
	}()
	eventually(t, "the tab hangs", func() bool { return p.acting(hung) })
	other := c.open("/two")
	check.Equal(t, "tabs are listed", len(c.listed()), before+1)
	check.Contains(t, c.ok("GET", "/text?targetId="+other, nil).str("text"), "Second page")
	if got := c.ok("GET", "/tabs?profile=elsewhere", nil); got.body["running"] != false {
		t.Errorf("another profile: %s", got.text)
	}
	// One that waits for the hung tab and gives up leaves it to the one that is at work.
	waiting, giveUp := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer giveUp()
	res, err := http.DefaultClient.Do(
		c.request(waiting, "POST", "/act", map[string]any{"kind": "press", "key": "a", "targetId": hung}))
	if res != nil {
		_ = res.Body.Close()
	}
	check.Fails(t, err, context.DeadlineExceeded)
	if !p.acting(hung) {
		t.Error("the first action has been ended")
	}
	if a := c.ok("DELETE", "/tabs/"+hung, nil); a.str("targetId") != hung {
		t.Errorf("close: %s", a.text)
	}
}

func TestATabIsClosedUnderItsAction(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/two")
	ended := make(chan answer, 1)
	go func() {
		never := map[string]any{"kind": "wait", "text": "never", "timeoutMs": 90_000, "targetId": target}
		ended <- c.do("POST", "/act", never)
	}()
	eventually(t, "the wait has begun", func() bool { return p.acting(target) })
	c.ok("POST", "/act", map[string]any{"kind": "close", "targetId": target})
	check.Contains(t, (<-ended).text, "the tab is closed")
}

func TestTheEndOfTheNetworkProcessIsToldOnce(t *testing.T) {
	c := serve(t, nil)
	tab := c.open("/")
	scrolled := func() string {
		return c.ok("POST", "/act", map[string]any{"targetId": tab, "kind": "scroll", "direction": "down"}).text
	}
	const lost = "network process ended and was started again"
	check.Lacks(t, scrolled(), lost)
	pid, _ := c.ok("GET", "/", nil).body["pid"].(float64)
	browsertest.KillNetwork(t, int(pid))
	eventually(t, "word of it", func() bool { return strings.Contains(scrolled(), lost) })
	check.Lacks(t, scrolled(), lost)
}
