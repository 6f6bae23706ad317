package browsermgr_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
)

// site serves the pages of these tests.
func site(t *testing.T) string {
	t.Helper()
	url, _ := signallingSite(t)
	return url
}

// signallingSite also yields whenever a page requests /sign.
func signallingSite(t *testing.T) (url string, signs chan struct{}) {
	t.Helper()
	signs = make(chan struct{})
	pages := map[string]string{
		"/{$}":    `<title>Start</title><h1>Start</h1><button onclick="document.body.append('clicked')">Press me</button>`,
		"/two":    `<title>Two</title><p>Second page</p>`,
		"/popups": `<title>Popups</title><a href="/two" target="_blank">New tab</a>`,
		"/shut":   `<title>Shut</title><button onclick="window.close()">Shut</button>`,
		"/required": `<title>Form</title><form onsubmit="document.title='Sent';return false"><label>Name <input required></label>
			<label>Mail <input type=email oninput="form.checkValidity()"></label><button>Send</button></form>
			<div><template shadowrootmode=open><form><label>Code <input required></label><button>Send code</button></form>
			</template></div><form><x-card><template shadowrootmode=open><label>Card <input></label></template></x-card>
			<label>Holder <input required></label><button>Send card</button></form>
			<script>customElements.define('x-card', class extends HTMLElement {
				static formAssociated = true
				connectedCallback() {
					const card = this.shadowRoot.querySelector('input')
					this.attachInternals().setValidity({ valueMissing: true }, 'Enter the card.', card)
				}
			})</script>`,
		"/opener":  `<title>Opener</title><button onclick="window.open('/shut')">Open</button>`,
		"/late":    `<title>Late</title><button onclick="setTimeout(() => window.open('/two'), 700)">Later</button>`,
		"/confirm": `<title>Ask</title><button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>`,
		"/links":   `<title>Links</title><a href="/two?x=1#y">Two</a><a href="/two?x=1#y">again</a><p hidden><a href="/hidden">Hidden</a></p><iframe srcdoc="<a href='https://near.example/'>Near</a>"></iframe><iframe id=far></iframe><script>far.src = location.href.replace('127.0.0.1', 'localhost').replace('links', 'popups')</script>`,
		"/parted":  `<title>Parted</title><p>Still here</p><iframe src="http://frame.refused.example/part"></iframe>`,
		"/form":    `<title>Form</title><label>Name <input></label>`,
	}
	mux := http.NewServeMux()
	for path, body := range pages {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<!doctype html>"+body)
		})
	}
	mux.HandleFunc("GET /missing", http.NotFound)
	mux.HandleFunc("GET /sign", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case signs <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, signs
}

// hang is a script that reports to the site that it runs, and never ends.
const hang = "fetch('/sign'); return new Promise(() => {})"

// manager opens a Manager with a new home directory; when the test ends it is closed, and nothing may be left.
func manager(t *testing.T, adjust func(m *browsermgr.Manager)) *browsermgr.Manager {
	t.Helper()
	m := newManager(t, t.TempDir())
	if adjust != nil {
		adjust(m)
	}
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if got := processesOf(t, m.Home); len(got) != 0 {
			t.Errorf("processes left: %v", got)
		}
	})
	return m
}

// shared is opened by the first test that needs only windows, and runs until all tests have ended.
var shared *browsermgr.Manager

func TestMain(m *testing.M) {
	os.Exit(external.Run(m, func() error {
		if shared == nil {
			return nil
		}
		return errors.Join(shared.Close(context.Background()), os.RemoveAll(shared.Home))
	}))
}

// sharedManager returns a Manager whose browser tests share. When the test ends, the windows with the keys a, b and c
// are closed.
func sharedManager(t *testing.T) *browsermgr.Manager {
	t.Helper()
	if shared == nil {
		home, err := os.MkdirTemp("", "clank") //nolint:usetesting // it outlives the test
		check.Must(t, err)
		m := newManager(t, home)
		m.FirstPort, m.LastPort = 18650, 18659 // managers of single tests want the others
		check.Must(t, m.Open(t.Context()))
		shared = m
	}
	t.Cleanup(func() {
		for _, key := range []string{"a", "b", "c"} {
			if w, ok := shared.Lookup(key); ok {
				if err := w.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return shared
}

func newManager(t *testing.T, home string) *browsermgr.Manager {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	return &browsermgr.Manager{Home: home, FirstPort: 18950, LastPort: 18999, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
}

// configure changes the settings that m reads.
func configure(m *browsermgr.Manager, change func(c *profile.Config)) {
	now := m.Config
	m.Config = func() profile.Config {
		c := now()
		change(&c)
		return c
	}
}

// letOthersIn opens the DevTools ports of m's browsers to programs with the token of [guestAddress].
func letOthersIn(m *browsermgr.Manager) {
	configure(m, func(c *profile.Config) { c.DevToolsPort = true })
	m.DevToolsToken = func(token string) bool { return token == "guest" }
}

// guestAddress returns the DevTools address, with a token, of a profile whose manager opens the port.
func guestAddress(t *testing.T, p *browsermgr.Profile) string {
	t.Helper()
	return *status(t, p).CDPURL + "?token=guest"
}

func window(t *testing.T, m *browsermgr.Manager, opts browsermgr.WindowOptions) *browsermgr.Window {
	t.Helper()
	w, _, err := m.Window(t.Context(), opts)
	check.Must(t, err)
	return w
}

func act(t *testing.T, w *browsermgr.Window, kind string, args map[string]any) []string {
	t.Helper()
	notes, err := w.Act(t.Context(), kind, args)
	if err != nil {
		t.Fatalf("%s %v: %v", kind, args, err)
	}
	return notes
}

func state(t *testing.T, w *browsermgr.Window) (url, title string, tabs []string) {
	t.Helper()
	url, title, tabs, err := w.State(t.Context())
	check.Must(t, err)
	return url, title, tabs
}

// processesOf lists the running processes with that directory on their command line.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check.Must(t, err)
	var found []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(data), dir) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}

// kill kills the manager's browser, like a crash.
func kill(t *testing.T, m *browsermgr.Manager) {
	t.Helper()
	for _, s := range m.Status() {
		if s.Running {
			check.Must(t, check.Kill(s.PID))
			return
		}
	}
	t.Fatal("no browser runs")
}

// eventually waits for an effect that the browser has by itself.
var eventually = browsertest.Eventually

// killPages kills all renderer processes.
func killPages(t *testing.T, m *browsermgr.Manager) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check.Must(t, err)
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		check.Must(t, err)
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), "--type=renderer") {
			continue
		}
		if check.InGroup(pid, m.Status()[0].PID) {
			_ = check.Kill(pid)
		}
	}
}

func refOf(t *testing.T, w *browsermgr.Window, name string) string {
	t.Helper()
	snapshot, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{Interactive: true})
	check.Must(t, err)
	for line := range strings.Lines(snapshot) {
		if _, after, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, strconv.Quote(name)) {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	t.Fatalf("no %q in:\n%s", name, snapshot)
	return ""
}

// contains fails unless one of the notes has the text.
func contains(t *testing.T, notes []string, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(notes, "\n"), want) {
		t.Errorf("notes %q do not say %q", notes, want)
	}
}
