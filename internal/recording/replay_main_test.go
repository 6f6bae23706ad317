package recording_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/browsermgr/profile"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// shared is the browser of all tests here.
var shared *browsermgr.Manager

func TestMain(m *testing.M) {
	code, err := withBrowser(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withBrowser(m *testing.M) (code int, err error) {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(home)
	shared = &browsermgr.Manager{Home: home, FirstPort: 18630, LastPort: 18639, Config: func() profile.Config {
		return profile.Config{Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
	if err := shared.Open(context.Background()); err != nil {
		return 1, err
	}
	return check.Main(m, func() error { return shared.Close(context.Background()) }), nil
}

// windows are the windows of the shared browser.
type windows struct{}

func (windows) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	win, reopened, err := shared.Window(ctx, browsermgr.WindowOptions{Key: o.Key, URL: o.URL, Ephemeral: true})
	if err != nil {
		return nil, "", err
	}
	return win, reopened, nil
}

func (windows) Rest(string) {}

func (windows) Close(ctx context.Context, key string) error {
	if win, ok := shared.Lookup(key); ok {
		return win.Close(ctx)
	}
	return nil
}

func (windows) Park(context.Context, string, bool) (bool, error) { return true, nil }

// shop is a small site that can change.
type shop struct {
	url     string
	changed atomic.Bool
}

const front = `<!doctype html><meta charset=utf-8><title>%s</title><link rel=icon href=data:,>%s
<form action=/found><label>Search <input name=q></label><label>Password <input type=password name=p></label><button>Go</button></form>`

// openShop starts the site. Once it has changed, other things come first, and one thing is called otherwise.
func openShop(tb testing.TB) *shop {
	tb.Helper()
	s := &shop{}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		if s.changed.Load() {
			fmt.Fprintf(w, front, "Lumen", "<p>Now open on Sundays</p><button>Subscribe</button><button>Close</button>")
			return
		}
		fmt.Fprintf(w, front, "Lumen", "")
	})
	mux.HandleFunc("/found", func(w http.ResponseWriter, r *http.Request) {
		basket := "Add to basket"
		if s.changed.Load() {
			basket = "Put into cart"
		}
		fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><title>Found</title><link rel=icon href=data:,><h1>Found "+
			"%s</h1><button onclick=\"document.title='Added';this.after('In the basket')\">%s</button>",
			r.FormValue("q"), basket)
	})
	srv := httptest.NewServer(mux)
	tb.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// patience is how long a step may take on a busy machine.
const patience = time.Minute

func settings() browseagent.Settings {
	return browseagent.Settings{StepTimeout: patience, MaxSteps: 30}
}

// browsing returns a backend in which m works the pages of b.
func browsing(b sessions.Browser, m llm.Model) *browseagent.Agent {
	return &browseagent.Agent{
		Browser: b, Settings: settings, Model: func(context.Context, string) (llm.Model, error) { return m, nil },
	}
}

// record has a model work a task and returns the bundle of it.
func record(tb testing.TB, m llm.Model, id, prompt string) *recording.Recording {
	tb.Helper()
	rec := &recording.Recorder{Dir: tb.TempDir()}
	return recordWith(tb, rec, browsing(rec.Browser(windows{}), rec.Model(m)), id, prompt)
}

// recordWith has a backend work a task that rec records, and returns the bundle of it.
func recordWith(tb testing.TB, rec *recording.Recorder, b sessions.Backend, id, prompt string) *recording.Recording {
	tb.Helper()
	playTask(tb, rec.Backend(browseagent.Runtime, b), id, prompt)
	return open(tb, filepath.Join(rec.Dir, id))
}

// playTask runs a task to its end and returns its answer.
func playTask(tb testing.TB, b sessions.Backend, id, prompt string) sessions.Step {
	tb.Helper()
	tb.Cleanup(func() { check.Must(tb, b.Close(context.Background(), id)) })
	var last sessions.Step
	for step, err := range b.Run(tb.Context(), sessions.Session{ID: id}, sessions.Task{ID: id, Prompt: prompt}) {
		check.Must(tb, err)
		last = step
	}
	return last
}
