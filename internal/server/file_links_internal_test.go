package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/sessions"
)

func TestALinkToAFileGivesItUntilItExpires(t *testing.T) {
	t.Parallel()
	base := ""
	l := &FileLinks{Base: func() string { return base }, Logger: slog.New(slog.DiscardHandler)}
	f := sessions.File{Name: `<b>"Film".mp4`, Size: 5, Path: filepath.Join(t.TempDir(), "film")}
	check.Must(t, os.WriteFile(f.Path, []byte("bytes"), 0o600))
	if address, _ := l.Link(f); address != "" || l.LinksWork() {
		t.Errorf("got %q without a public address", address)
	}
	base = "https://clank.example/watch/"
	address, until := l.Link(f)
	path, found := strings.CutPrefix(address, "https://clank.example/watch")
	if left := time.Until(until); !found || left > 15*time.Minute || left < 14*time.Minute {
		t.Fatalf("got %q until %s", address, until)
	}
	ask := func(method, path string) (*http.Response, string) {
		w := httptest.NewRecorder()
		l.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		body, err := io.ReadAll(w.Result().Body)
		check.Must(t, err)
		return w.Result(), string(body)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} { // which programs send by themselves
		res, body := ask(method, path)
		if csp := res.Header.Get("Content-Security-Policy"); res.StatusCode != http.StatusOK ||
			!strings.Contains(csp, "default-src 'none'") {
			t.Errorf("%s: %d, policy %q", method, res.StatusCode, csp)
		}
		check.Contains(t, body, "&lt;b&gt;&#34;Film&#34;.mp4", "5 bytes", `<form method="post">`)
		if strings.Contains(body, "<b>") || body == "bytes" {
			t.Errorf("%s: got %s", method, body)
		}
	}
	for range 2 {
		res, body := ask(http.MethodPost, path)
		what := res.Header.Get("Content-Disposition")
		if body != "bytes" || res.Header.Get("Content-Type") != "application/octet-stream" ||
			!strings.HasPrefix(what, "attachment;") {
			t.Errorf("got %q, %v", body, res.Header)
		}
	}
	gone := func(why, method, path string, want int) {
		t.Helper()
		if res, body := ask(method, path); res.StatusCode != want || strings.Contains(body, "bytes.") ||
			strings.Contains(body, "Film") {
			t.Errorf("%s: %d %s, want %d", why, res.StatusCode, body, want)
		}
	}
	gone("another secret", http.MethodPost, path+"x", http.StatusNotFound)
	gone("no secret", http.MethodGet, "/files/", http.StatusNotFound)
	gone("another method", http.MethodPut, path, http.StatusMethodNotAllowed)
	l.sending = maxFilesSent
	gone("too many at once", http.MethodPost, path, http.StatusServiceUnavailable)
	l.sending = 0
	check.Must(t, os.Remove(f.Path))
	gone("not kept any more", http.MethodPost, path, http.StatusGone)
	for key, link := range l.links {
		link.until = time.Now()
		l.links[key] = link
	}
	gone("expired", http.MethodGet, path, http.StatusNotFound)
	gone("expired", http.MethodPost, path, http.StatusNotFound)
	for range maxFileLinks {
		address, _ = l.Link(f)
	}
	if more, _ := l.Link(f); address == "" || more != "" || len(l.links) != maxFileLinks {
		t.Errorf("there are %d links, and %q", len(l.links), more)
	}
}
