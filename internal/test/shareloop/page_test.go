package shareloop_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/sessions"
)

// Colours of the page's mark.
const (
	red  marked = "#e00000"
	blue marked = "#0000e0"
)

// moving is a page with text, colours, a mark in a corner and something that changes until it is told not to.
const moving = `<!doctype html><title>Ferries</title><style>
body { font: 20px/1.5 sans-serif; margin: 2em; background: linear-gradient(120deg, #f4f1e8, #cfe3ee) }
td { border-bottom: 1px solid #888; padding: 4px 24px } #n { font-size: 60px; color: #b0261b }
#mark { position: fixed; top: 0; right: 0; width: 128px; height: 128px; background: #e00000 }
</style><h1>Ferry times</h1><p id=n>0</p><table id=t></table><div id=mark></div><script>
for (let i = 0; i < 8; i++) t.insertRow().innerHTML = "<td>Line " + i + "</td><td>" + (8 + i) + ":15</td><td>Harbour " + "ABCDEFGH"[i] + "</td>";
let tick; const go = () => { tick = setInterval(() => n.textContent = 1 + +n.textContent, 100) }; go();
</script>`

// diary is the sessions of a program that has one, of a server, in which something is done all the time.
type diary struct {
	guild  string
	events chan sessions.Event
}

func (d diary) Session(context.Context, string) (sessions.Session, error) {
	return sessions.Session{ID: "s", State: sessions.SessionRunning, Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: d.guild, User: "1"}}, nil
}
func (d diary) SetShared(context.Context, string, bool) error { return nil }
func (d diary) Subscribe() (<-chan sessions.Event, func())    { return d.events, func() {} }
func (d diary) did() {
	d.events <- sessions.Event{Record: sessions.TaskRecord{Task: sessions.Task{SessionID: "s"}}}
}

// browse opens the page in a browser.
func browse(t *testing.T) *browsermgr.Window {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, moving)
	}))
	t.Cleanup(site.Close)
	m := &browsermgr.Manager{Home: t.TempDir(), FirstPort: 18900, LastPort: 18949, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), LaunchTimeout: time.Minute}
	}}
	if err := m.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	window, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := window.Act(t.Context(), "navigate", map[string]any{"url": site.URL + "/"}); err != nil {
		t.Fatal(err)
	}
	return window
}

func evaluate(t *testing.T, w *browsermgr.Window, script string) {
	t.Helper()
	if _, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": script}); err != nil {
		t.Fatal(err)
	}
}

// shot returns a picture of the window without loss.
func shot(t *testing.T, w *browsermgr.Window) (png []byte) {
	t.Helper()
	if err := w.WithTab(t.Context(), func(tab *page.Tab) (err error) {
		png, err = tab.Screenshot(t.Context(), page.ScreenshotOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return png
}
