package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
)

// routes are all routes except the public ones, with a body to send.
var routes = []struct{ method, path, body string }{
	{"GET", "/", ""},
	{"GET", "/s/abc", ""},
	{"GET", "/activity", ""},
	{"GET", "/setup", ""},
	{"GET", "/api/setup", ""},
	{"POST", "/api/setup/model", "{}"},
	{"GET", "/settings", ""},
	{"GET", "/budget", ""},
	{"GET", "/watches", ""},
	{"GET", "/call", ""},
	{"GET", "/safety", ""},
	{"GET", "/scripts", ""},
	{"POST", "/api/scripts/x/run", "{}"},
	{"POST", "/api/scripts/x/rename", `{"name":"y"}`},
	{"POST", "/api/scripts/x/delete", "{}"},
	{"GET", "/transcripts", ""},
	{"GET", "/transcripts/x", ""},
	{"GET", "/api/transcripts/x", ""},
	{"POST", "/api/transcripts/x/delete", "{}"},
	{"GET", "/api/refusals", ""},
	{"POST", "/api/refusals/allow", `{"rule":"x","host":"y"}`},
	{"POST", "/api/tokens/remove", `{"name":"x"}`},
	{"POST", "/api/sign-ins/end", `{"id":"x"}`},
	{"GET", "/browsers", ""},
	{"GET", "/browsers/clank/doctor", ""},
	{"GET", "/api/browsers", ""},
	{"POST", "/api/browsers", `{"name":"x"}`},
	{"POST", "/api/browsers/clank/start", "{}"},
	{"POST", "/api/browsers/clank/stop", "{}"},
	{"POST", "/api/browsers/clank/open", `{"url":"x.test"}`},
	{"POST", "/api/browsers/work/rename", `{"name":"x"}`},
	{"POST", "/api/browsers/clank/reset", "{}"},
	{"POST", "/api/browsers/work/delete", "{}"},
	{"GET", "/api/weaknesses", ""},
	{"GET", "/metrics", ""},
	{"GET", "/api/records", ""},
	{"GET", "/api/costs", ""},
	{"GET", "/api/costs.csv", ""},
	{"POST", "/api/login-link", "{}"},
	{"GET", "/api/settings/export", ""},
	{"POST", "/api/settings/import", `{"text":"{}"}`},
	{"GET", "/debug/pprof/heap", ""},
	{"POST", "/api/logout", "{}"},
	{"POST", "/api/tasks", `{"prompt":"brief"}`},
	{"GET", "/api/tasks", ""},
	{"GET", "/api/tasks/x", ""},
	{"GET", "/api/tasks/x/events", ""},
	{"GET", "/api/tasks/x/images/0", ""},
	{"GET", "/api/tasks/x/downloads/y", ""},
	{"POST", "/api/tasks/x/stop", "{}"},
	{"GET", "/api/steps/x/1/view", ""},
	{"POST", "/api/stop", "{}"},
	{"GET", "/api/events", ""},
	{"GET", "/api/sessions", ""},
	{"POST", "/api/sessions/x/close", "{}"},
	{"GET", "/api/sessions/x/live", ""},
	{"GET", "/api/settings", ""},
	{"PUT", "/api/settings", `{"changes":{},"version":"x"}`},
	{"GET", "/settings/servers/1", ""},
	{"GET", "/api/servers/1/settings", ""},
	{"PUT", "/api/servers/1/settings", `{"changes":{"server.language":"de"},"version":"0"}`},
}

func TestNothingIsShownOrDoneForStrangers(t *testing.T) {
	r := start(t)
	forged := "9999999999." + strings.Repeat("0", 64)
	_, port, _ := strings.Cut(strings.TrimPrefix(r.server.URL(), "http://"), ":")
	_, empty := r.ask("GET", "/", "", header("Authorization", ""))
	check.Contains(t, empty, "opening")
	for _, who := range []struct {
		name   string
		change change
	}{
		{"nobody", header("Authorization", "")},
		{"a wrong token", header("Authorization", "Bearer "+r.token+"x")},
		{"an empty token", header("Authorization", "Bearer ")},
		{"another scheme", header("Authorization", "Basic "+r.token)},
		{"a forged cookie", func(q *http.Request) {
			q.Header.Del("Authorization")
			q.Header.Set("Cookie", "clank_"+port+"="+forged)
		}},
		{"a cookie of garbage", func(q *http.Request) {
			q.Header.Del("Authorization")
			q.Header.Set("Cookie", "clank_"+port+"=x")
		}},
	} {
		for _, rt := range routes {
			res := r.do(rt.method, rt.path, rt.body, who.change)
			body, err := io.ReadAll(res.Body)
			check.Must(t, errors.Join(err, res.Body.Close()))
			want := http.StatusUnauthorized
			if !strings.HasPrefix(rt.path, "/api/") && res.Request.Header.Get("Authorization") == "" {
				want = http.StatusOK // what asks again, with the key
			}
			check.Equal(t, fmt.Sprintf("%s: %s %s", who.name, rt.method, rt.path), res.StatusCode, want)
			if want == http.StatusOK && string(body) != empty {
				t.Errorf("%s is shown of %s:\n%s", who.name, rt.path, body)
			}
		}
	}
	if got, _ := r.store.Tasks(t.Context(), taskQueryAll); len(got) != 0 {
		t.Errorf("a stranger started %d tasks", len(got))
	}
	check.Lacks(t, r.log.String(), r.token)
}

func TestChangesFromOtherSitesAreRefused(t *testing.T) {
	r := start(t)
	own := r.server.URL()
	for _, tc := range []struct {
		name    string
		changes []change
		want    int
	}{
		{"a program", nil, http.StatusOK},
		{"our page", []change{header("Origin", own), header("Sec-Fetch-Site", "same-origin")}, http.StatusOK},
		{"our page in an old browser", []change{header("Origin", own)}, http.StatusOK},
		{
			"another site",
			[]change{header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")},
			http.StatusForbidden,
		},
		{
			"another port of this machine",
			[]change{header("Origin", "http://127.0.0.1:1"), header("Sec-Fetch-Site", "same-site")},
			http.StatusForbidden,
		},
		{"another site in an old browser", []change{header("Origin", "https://evil.example")}, http.StatusForbidden},
		{"a sandboxed frame", []change{header("Origin", "null")}, http.StatusForbidden},
		{"a form", []change{header("Content-Type", "application/x-www-form-urlencoded")}, http.StatusUnsupportedMediaType},
		{"plain text", []change{header("Content-Type", "text/plain; application/json")}, http.StatusUnsupportedMediaType},
		{"no type", []change{header("Content-Type", "")}, http.StatusUnsupportedMediaType},
	} {
		if got, body := r.ask("POST", "/api/stop", "{}", tc.changes...); got != tc.want {
			t.Errorf("%s: %d %s, want %d", tc.name, got, body, tc.want)
		}
	}
	for _, rt := range routes {
		if rt.method == "GET" {
			continue
		}
		if got, _ := r.ask(rt.method, rt.path, rt.body, header("Sec-Fetch-Site", "cross-site")); got != http.StatusForbidden {
			t.Errorf("%s %s from another site = %d", rt.method, rt.path, got)
		}
	}
}

func TestThePageAnswersOnlyToItsNames(t *testing.T) {
	r := start(t)
	for host, want := range map[string]int{
		"127.0.0.1": 200, "localhost:9000": 200, "[::1]:8787": 200, "LOCALHOST": 200, "127.1.2.3": 200,
		"evil.example": 421, "127.0.0.1.evil.example:8787": 421, "localhost.evil.example": 421, "192.168.1.2": 421,
	} {
		if got, _ := r.ask("GET", "/api/health", "", func(q *http.Request) { q.Host = host }); got != want {
			t.Errorf("asked for as %q: %d, want %d", host, got, want)
		}
	}
}

func TestEveryPageForbidsForeignResources(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/", "/settings", "/login", "/api/health"} {
		res := r.do("GET", path, "")
		res.Body.Close()
		csp := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, res.Header)
		}
	}
	for _, path := range []string{"/", "/settings", "/login"} {
		_, body := r.ask("GET", path, "")
		for _, inline := range []string{" onclick=", " style=", "<style", "<script>", `="https://`} {
			if strings.Contains(body, inline) {
				t.Errorf("%s contains %q", path, inline)
			}
		}
	}
}

func TestTheFirstPageShowsSeriousWeaknesses(t *testing.T) {
	list := []api.Weakness{
		{Name: "sandbox", Serious: true, What: "Browsers have no sandbox", Why: "pages read files", Fix: "Use one."},
		{Name: "budget", What: "There is no limit", Why: "it costs", Fix: "Set one."},
	}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Host = &host{weak: list}
	})
	_, body := r.ask("GET", "/", "")
	check.Contains(t, body, "Browsers have no sandbox: pages read files. Use one.")
	check.Lacks(t, body, "no limit")
	got, err := r.client().Weaknesses(t.Context())
	check.Must(t, err)
	check.Diff(t, "weaknesses", got, list)
}

func TestALinkSignsInOnceAndTheKeyOutlivesARestart(t *testing.T) {
	dir := t.TempDir()
	r := startIn(t, dir, "127.0.0.1:0")
	addr := strings.TrimPrefix(r.server.URL(), "http://")
	link := r.server.LoginURL()
	page, code, _ := strings.Cut(link, "#")
	if page != r.server.URL()+"/login" || len(code) < 40 {
		t.Fatalf("link = %s", link)
	}
	stranger := header("Authorization", "")
	res := r.do("POST", "/api/login", `{"code":"`+code+`"}`, stranger)
	answer, err := io.ReadAll(res.Body)
	check.Must(t, errors.Join(err, res.Body.Close()))
	key := decode[map[string]string](t, string(answer))["key"]
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 0 || len(key) < 40 {
		t.Fatalf("sign in: %d, cookies %v, key %q", res.StatusCode, res.Cookies(), key)
	}
	for _, body := range []string{`{"code":"` + code + `"}`, `{"code":""}`, `{"token":""}`, `{"token":"wrong"}`, `{}`} {
		if got, _ := r.ask("POST", "/api/login", body, stranger); got != http.StatusUnauthorized {
			t.Errorf("sign in with %s = %d", body, got)
		}
	}
	if got, _ := r.ask("POST", "/api/login", `{"token":" `+r.token+` "}`, stranger); got != http.StatusOK {
		t.Errorf("sign in with the token = %d", got)
	}
	with := header("Authorization", "Bearer "+key)
	if got, _ := r.ask("GET", "/api/sessions", "", with); got != http.StatusOK {
		t.Errorf("with the key: %d", got)
	}
	if got, body := r.ask("POST", "/api/login-link", "{}", with); got != http.StatusForbidden ||
		strings.Contains(body, "#") {
		t.Errorf("a browser makes a link to sign in another: %d %s", got, body)
	}
	socket := func(q *http.Request) { stranger(q); q.Header.Set("Sec-WebSocket-Protocol", "clank.live, key."+key) }
	if got, _ := r.ask("GET", "/api/sessions/x/live", "", socket); got != http.StatusNotFound {
		t.Errorf("with the key among the protocols of a WebSocket: %d", got)
	}
	r.close()
	again := startIn(t, dir, addr)
	if got, _ := again.ask("GET", "/api/sessions", "", with); got != http.StatusOK {
		t.Errorf("with the key after a restart: %d", got)
	}
	for want, who := range map[string]change{`{"signed_in":true}`: with, `{"signed_in":false}`: stranger} {
		if _, got := again.ask("GET", "/api/me", "", who); strings.TrimSpace(got) != want {
			t.Errorf("me = %s, want %s", got, want)
		}
	}
	check.Lacks(t, r.log.String(), code, key)
	if got, _ := again.ask("POST", "/api/logout", "{}", with); got != http.StatusNoContent {
		t.Errorf("sign out: %d", got)
	}
	if got, _ := again.ask("GET", "/api/sessions", "", with); got != http.StatusUnauthorized {
		t.Errorf("with the key of a browser that has signed out: %d", got)
	}
}

func TestAStorageErrorIsExplained(t *testing.T) {
	r := start(t)
	check.Must(t, os.Remove(filepath.Join(r.dir, "clank.db")))
	if got, body := r.ask("POST", "/api/tasks", `{"prompt":"x"}`); got != http.StatusInsufficientStorage ||
		!strings.Contains(body, "could not start the task: clank's database was removed") {
		t.Errorf("got %d %s", got, body)
	}
}

func TestTooLargeOrInvalidRequestsAreRefused(t *testing.T) {
	r := start(t)
	for _, tc := range []struct {
		name, method, path, body string
		want                     int
		says                     string
	}{
		{"too much", "POST", "/api/tasks", `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "at most 1048576 bytes"},
		{"no JSON", "POST", "/api/tasks", `prompt`, 400, "not understood"},
		{"nothing", "POST", "/api/tasks", ``, 400, "not understood"},
		{"another type", "POST", "/api/tasks", `{"prompt":7}`, 400, "not understood"},
		{"a misspelt field", "POST", "/api/tasks", `{"promt":"x"}`, 400, `unknown field \"promt\"`},
		{"two values", "POST", "/api/tasks", `{"prompt":"x"}{}`, 400, "more than one"},
		{"an empty task", "POST", "/api/tasks", `{"prompt":"  "}`, 400, "say what is to be done"},
		{
			"a task of who has given up", "POST", "/api/tasks", `{"prompt":"x","until":"2026-01-02T03:04:05Z"}`, 408,
			"is not begun",
		},
		{"an unknown door", "POST", "/api/tasks", `{"prompt":"x","origin":"discord"}`, 400, "origin must be"},
		{"an unknown session", "POST", "/api/tasks", `{"prompt":"x","session_id":"nope"}`, 404, ""},
		{"an unknown runtime", "POST", "/api/tasks", `{"prompt":"x","runtime":"warp"}`, 400, "no runtime"},
		{"a long task", "POST", "/api/tasks", `{"prompt":"` + strings.Repeat("x", 9000) + `"}`, 400, "characters"},
		{"an unknown task", "GET", "/api/tasks/nope", "", 404, ""},
		{"an unknown task's events", "GET", "/api/tasks/nope/events", "", 404, ""},
		{"an unknown task's stop", "POST", "/api/tasks/nope/stop", "{}", 404, ""},
		{"an unknown task's picture", "GET", "/api/tasks/nope/images/0", "", 404, ""},
		{"an unknown view", "GET", "/api/steps/nope/1/view", "", 404, ""},
		{"a view without a number", "GET", "/api/steps/nope/x/view", "", 404, "numbers"},
		{"a page of an unknown task", "GET", "/tasks/nope", "", 404, "this task does not exist, or was forgotten"},
		{"a page of an unknown session", "GET", "/s/nope", "", 404, "this session does not exist, or was forgotten"},
		{"an unknown page", "GET", "/nope", "", 404, "There is no page at this address."},
		{"an unknown session's end", "POST", "/api/sessions/nope/close", "{}", 404, ""},
		{"a limit of nothing", "GET", "/api/tasks?limit=0", "", 400, "1 to 200"},
		{"a time that is none", "GET", "/api/tasks?before=noon", "", 400, "RFC 3339"},
		{"an unknown address", "GET", "/api/nope", "", 404, "/api/nope"},
		{"a wrong method", "PUT", "/api/tasks", "{}", 405, "PUT"},
		{"an asset of another version", "GET", "/assets/000000000000/chat.js", "", 404, "load the page again"},
	} {
		got, body := r.ask(tc.method, tc.path, tc.body)
		if got != tc.want || !strings.Contains(body, tc.says) {
			t.Errorf("%s: %d %s, want %d and %q", tc.name, got, body, tc.want, tc.says)
		}
		if e := decode[map[string]any](t, body)["error"]; e == nil || e == "" {
			t.Errorf("%s: no error in %s", tc.name, body)
		}
	}
}

func TestAnUnknownAddressLeadsToTheStartPage(t *testing.T) {
	got, body := start(t).ask("GET", "/nope", "", func(q *http.Request) { q.Header.Del("Authorization") })
	if got != http.StatusNotFound || !strings.Contains(body, ">Page not found</h1>") || !strings.Contains(body, `<a href="/">`) {
		t.Errorf("%d %s", got, body)
	}
}

func TestATakenPortIsExplained(t *testing.T) {
	r := start(t)
	addr := strings.TrimPrefix(r.server.URL(), "http://")
	second := &dashboard.Server{Addr: addr}
	check.Fails(t, second.Open(t.Context()), nil, "clank test is serving there already")
	check.Must(t, second.Close(t.Context()))
	for addr, want := range map[string]string{
		"0.0.0.0:0": "can be reached from other machines",
		"8787":      "must be host:port",
	} {
		check.Fails(t, (&dashboard.Server{Addr: addr}).Open(t.Context()), nil, want)
	}
}

func TestHealthNeedsNoTokenAndRevealsNothing(t *testing.T) {
	r := start(t)
	got, body := r.ask("GET", "/api/health", "", header("Authorization", ""))
	if got != http.StatusOK || strings.TrimSpace(body) != `{"ok":true,"version":"test"}` {
		t.Errorf("health = %d %s", got, body)
	}
}

func TestUnusedConnectionsDoNotDelayShutdown(t *testing.T) {
	t.Parallel()
	r := start(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.server.URL(), "http://"))
	check.Must(t, err)
	defer conn.Close()
	r.ask(http.MethodGet, "/login", "") // the one before is accepted then
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	check.Must(t, r.server.Close(ctx))
	check.Fails(t, check.Err(conn.Read(make([]byte, 1))), io.EOF)
}
