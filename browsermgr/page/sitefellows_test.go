package page_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/internal/browsertest"
)

// fellows serves a page with frames of all kinds that live in its process, or might: of its site but not its origin, and of none.
func fellows(t *testing.T) *httptest.Server {
	t.Helper()
	other := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<!doctype html><button onclick="this.textContent='Pressed port'">Port button</button><input aria-label="Port field">`)
	})
	return browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<!doctype html><h1>Top</h1>
			<iframe title=Port src="`+other.URL+`"></iframe>
			<iframe title=Data src="data:text/html,<button>Data button</button>"></iframe>
			<iframe title=Boxed sandbox="allow-scripts" srcdoc="<button>Boxed button</button>"></iframe>
			<iframe title=Bare srcdoc="<button>Bare button</button>"></iframe>`)
	})
}

func TestFellows(t *testing.T) {
	tab := openTab(t, fellows(t).URL)
	time.Sleep(time.Second)
	t.Log(snapshot(t, tab, page.SnapshotOptions{}).Text)
	for _, f := range tab.Frames() {
		t.Log(f.ID())
	}
	t.Log(js(t, tab, `location.href`))
}
