package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Head begins a page: a document in UTF-8 without an icon, so that a browser asks for nothing more.
const Head = "<!doctype html><meta charset=utf-8><title>Test</title><link rel=icon href=data:,>"

// Serve serves until the test ends, and then hangs up on who still waits.
func Serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// Routes serves handlers by pattern, see [http.ServeMux]. A string is a page to which [Head] is put. It returns the site's origin.
func Routes(tb testing.TB, routes map[string]any) string {
	tb.Helper()
	mux := http.NewServeMux()
	for path, what := range routes {
		switch what := what.(type) {
		case string:
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { HTML(w, Head+what) })
		case func(http.ResponseWriter, *http.Request):
			mux.HandleFunc(path, what)
		default:
			tb.Fatalf("route %s is a %T", path, what)
		}
	}
	return Serve(tb, mux.ServeHTTP).URL
}

// HTML answers with a page.
func HTML(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, text)
}

// LocalhostURL returns the server that a request came to under the name of another site: localhost.
func LocalhostURL(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return "http://localhost:" + port
}
