package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/control"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions/approval"
)

// shared is the browser for all tests of the package; site serves its pages.
var (
	shared   *browsermgr.Manager
	features *control.Features
	site     string
)

const token = "the-secret-of-the-tests"

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "these tests need Chromium:", err)
		return 1
	}
	features = &control.Features{Dir: home, Host: noPrograms{}}
	shared = &browsermgr.Manager{
		NewObservers: features.Observe,
		Home:         home, FirstPort: 18820, LastPort: 18849,
		Config: func() profile.Config {
			return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, DevToolsPort: true}
		},
		DevToolsToken: func(given string) bool { return given == token },
	}
	if err := shared.Open(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, name := range []string{"asleep", "elsewhere"} {
		if _, err := shared.CreateProfile(ctx, browsermgr.CreateProfileOptions{Name: name}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	pages := newSite()
	site = pages.URL
	code := check.Main(m, func() error {
		pages.CloseClientConnections() // some pages are answered only when who asked has gone
		pages.Close()
		return shared.Close(ctx)
	})
	if *binary != "" {
		fmt.Fprintf(os.Stdout, "conformance: %d passed, %d failed\n", contractPassed, contractFailed)
	}
	return code
}

// newSite serves the pages of these tests.
func newSite() *httptest.Server {
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/{$}":    `<title>Start</title><main><h1>Start</h1><button onclick="document.title='pressed'">Press me</button><a href="/two">Two</a> <a href="#below">Below</a><input aria-label="Name"></main>`,
		"/two":    `<title>Two</title><p>Second page</p><a href="/">Back</a>`,
		"/ask":    `<title>Ask</title><button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
		"/loop":   `<title>Loop</title><button onclick="location.hash = 'spins'; for(;;);">Spin</button>`,
		"/opens":  `<title>Opens</title><button onclick="window.open('/two')">Open</button>`,
		"/shuts":  `<title>Shuts</title><button onclick="window.close()">Shut</button>`,
		"/leaves": `<title>Leaves</title><button onclick="location='/secret'">Leave</button>`,
		"/files":  `<title>Files</title><a href="/report">Get</a><a href="/program.exe">Program</a><input type="file">`,
		"/mobile": `<meta name=viewport content="width=device-width"><title>Mobile</title>`,
		"/secret": `<title>Secret</title><p>not for you</p>`,

		"/scrollers": scrollers,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html>"+body)
		})
	}
	mux.HandleFunc("GET /redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/secret", http.StatusFound)
	})
	mux.HandleFunc("GET /report", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=report.txt")
		fmt.Fprint(w, "the report")
	})
	mux.HandleFunc("GET /program.exe", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment")
		fmt.Fprint(w, "MZ")
	})
	mux.HandleFunc("GET /huge", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Huge</title>",
			strings.Repeat("<p>Some <a href=/two>link</a> and <button>button</button>", 5_000))
	})
	mux.HandleFunc("GET /silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return httptest.NewServer(mux)
}

// client is a client of a control server.
type client struct {
	tb     testing.TB
	server *control.Server
}

// serve opens a server on the shared browser. When the test ends, it and the tabs are closed.
func serve(tb testing.TB, adjust func(*control.Server)) *client {
	tb.Helper()
	s := &control.Server{Manager: shared, Features: features, Addr: "127.0.0.1:0", Secrets: control.Secrets{Token: token}}
	if adjust != nil {
		adjust(s)
	}
	check.Must(tb, s.Open(tb.Context()))
	c := &client{tb, s}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			tb.Error(err)
		}
		closeTabs(ctx, tb)
	})
	return c
}

func closeTabs(ctx context.Context, tb testing.TB) {
	tb.Helper()
	profile, err := shared.FindProfile("")
	check.Must(tb, err)
	use, err := profile.Acquire(ctx, false)
	if err != nil {
		return // no browser, no tabs
	}
	defer use.Release()
	for _, tab := range use.Browser.Tabs() {
		if err := tab.Close(ctx); err != nil {
			tb.Errorf("close tab: %v", err)
		}
	}
}

// answer is a response of the server.
type answer struct {
	status int
	text   string
	body   map[string]any
}

func (a answer) str(name string) string {
	s, _ := a.body[name].(string)
	return s
}

// request returns a request with the secret, as programs send it.
func (c *client) request(ctx context.Context, method, path string, body any) *http.Request {
	c.tb.Helper()
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		if data, err = json.Marshal(b); err != nil {
			c.tb.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.server.URL()+path, bytes.NewReader(data))
	check.Must(c.tb, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func (c *client) send(r *http.Request) answer {
	c.tb.Helper()
	res, err := http.DefaultClient.Do(r)
	check.Must(c.tb, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	check.Must(c.tb, err)
	a := answer{status: res.StatusCode, text: string(data)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(data, &a.body); err != nil {
			c.tb.Fatalf("%s %s: %v in %s", r.Method, r.URL, err, data)
		}
	}
	return a
}

// do sends a request and returns the response, whatever its status.
func (c *client) do(method, path string, body any) answer {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return c.send(c.request(ctx, method, path, body))
}

// ok sends a request, and fails the test unless the status is 200.
func (c *client) ok(method, path string, body any) answer {
	c.tb.Helper()
	a := c.do(method, path, body)
	if a.status != http.StatusOK {
		c.tb.Fatalf("%s %s %v: got %d %s", method, path, body, a.status, a.text)
	}
	return a
}

// open opens a page of the site and returns the tab's target id.
func (c *client) open(path string) string {
	c.tb.Helper()
	return c.ok("POST", "/tabs/open", map[string]any{"url": site + path}).str("targetId")
}

// listed returns the tabs in the server's list.
func (c *client) listed() []map[string]any {
	c.tb.Helper()
	var out []map[string]any
	list, _ := c.ok("GET", "/tabs", nil).body["tabs"].([]any)
	for _, t := range list {
		out = append(out, t.(map[string]any))
	}
	return out
}

// ref returns the ref of the element with that name in a new snapshot of the tab.
func (c *client) ref(target, name string) string {
	c.tb.Helper()
	refs, _ := c.ok("GET", "/snapshot?targetId="+target, nil).body["refs"].(map[string]any)
	for ref, v := range refs {
		if entry, _ := v.(map[string]any); entry["name"] == name {
			return ref
		}
	}
	c.tb.Fatalf("no ref is named %q: %v", name, refs)
	return ""
}

// eventually waits for an effect that the browser has by itself.
var eventually = browsertest.Eventually

// noPrograms refuses downloads of programs.
type noPrograms struct{ files.AllowAll }

func (noPrograms) Approve(_ context.Context, d files.Download) error {
	if !strings.HasSuffix(d.SuggestedFilename, ".exe") {
		return nil
	}
	return fmt.Errorf("keep it: %w", &approval.DeniedError{By: "@ada"})
}

func (noPrograms) Inbound(string) string { return "" }

func (noPrograms) Limits() (download, upload int64) { return 0, 0 }

// serverSettings implements [control.Settings]; zero fields mean the defaults.
type serverSettings struct {
	noEvaluate *atomic.Bool // nil: JavaScript runs
	limit      time.Duration
	mode       string
}

func (s serverSettings) EvaluateEnabled() bool        { return s.noEvaluate == nil || !s.noEvaluate.Load() }
func (s serverSettings) ActionTimeout() time.Duration { return s.limit }
func (s serverSettings) SnapshotMode() string         { return s.mode }
