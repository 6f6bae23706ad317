package browsertool_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"clank/browseagent/browsertool"
)

// api is a control API by script: what it answers to "METHOD /path", and what
// it was asked.
type api struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   []string
	URL     string
	media   string
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{t: t, answers: map[string]http.HandlerFunc{}, media: t.TempDir()}
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	a.URL = srv.URL
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	line := r.Method + " " + r.URL.Path
	a.mu.Lock()
	asked := r.Method + " " + r.URL.String()
	if len(body) > 0 {
		asked += " " + string(body)
	}
	a.asked = append(a.asked, asked)
	h := a.answers[line]
	a.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" {
		a.t.Errorf("%s was asked with %q", line, r.Header.Get("Authorization"))
	}
	if h == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no script for `+line+`"}`)
		return
	}
	h(w, r)
}

// on scripts an answer: a status and JSON.
func (a *api) on(line string, status int, answer string) {
	a.handle(line, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
}

func (a *api) handle(line string, h http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[line] = h
}

// taken returns what was asked since the last call.
func (a *api) taken() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.asked = nil }()
	return strings.Join(a.asked, "\n")
}

// file puts a file into the API's media directory.
func (a *api) file(name string, data []byte) string {
	a.t.Helper()
	p := filepath.Join(a.media, name)
	if err := os.WriteFile(p, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
	return p
}

func (a *api) target() *browsertool.Target {
	return &browsertool.Target{API: &browsertool.APIClient{URL: a.URL, Token: "secret"}, Media: []string{a.media}}
}

// session returns a conversation that uses this API as the host's.
func (a *api) session() *browsertool.Session {
	return &browsertool.Session{Tool: &browsertool.Tool{Targets: browsertool.Targets{Host: a.target(), AllowHostControl: true}}}
}

// run runs a call that must not end the run.
func run(t *testing.T, s *browsertool.Session, in string) browsertool.Result {
	t.Helper()
	r, err := s.Run(t.Context(), json.RawMessage(in))
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return r
}

// content returns what is between the markers of a result's only boundary.
func content(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\nSource: Browser\n---\n")
	inside, _, closed := strings.Cut(rest, "\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=")
	if !ok || !closed {
		t.Fatalf("no boundary in %q", text)
	}
	return inside
}

var png = append([]byte("\x89PNG\r\n\x1a\n"), 1, 2, 3)
