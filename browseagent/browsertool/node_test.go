package browsertool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"
)

// rig consists of two machines: a control API behind a proxy, and its client.
type rig struct {
	client  *browsertool.NodeClient
	proxy   *browsertool.NodeProxy
	address string
	media   string // the node's directory of shared files

	mu    sync.Mutex
	asked []string
}

// reached returns the requests that reached the control API since the last call.
func (r *rig) reached() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

func newRig(t *testing.T, control http.HandlerFunc) *rig {
	t.Helper()
	r := &rig{media: t.TempDir()}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		check.Equal(t, "the control API was asked with", q.Header.Get("Authorization"), "Bearer inner")
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.asked = append(r.asked, strings.TrimSpace(q.Method+" "+q.URL.String()+" "+string(body)))
		r.mu.Unlock()
		control(w, q)
	}))
	t.Cleanup(api.Close)
	r.proxy = &browsertool.NodeProxy{
		Control: &browsertool.APIClient{URL: api.URL, Token: "inner"}, Token: "outer",
		FileRoots: []string{r.media},
	}
	front := httptest.NewServer(r.proxy)
	t.Cleanup(front.Close)
	r.address = front.URL
	r.client = &browsertool.NodeClient{Proxy: &browsertool.APIClient{URL: front.URL, Token: "outer"}, Dir: t.TempDir()}
	return r
}

func say(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
}

func TestACallReachesTheControlAPIOfTheOtherMachine(t *testing.T) {
	r := newRig(t, say(map[string]any{"ok": true, "n": json.Number("12345678901234567890")}))
	status, answer, err := r.client.Call(t.Context(), "POST", "/act", url.Values{"profile": {"work"}},
		map[string]any{"kind": "press", "n": json.Number("12345678901234567")})
	if err != nil || status != 200 || string(answer) != `{"n":12345678901234567890,"ok":true}` {
		t.Errorf("got %d %s %v", status, answer, err)
	}
	want := []string{`POST /act?profile=work {"kind":"press","n":12345678901234567}`}
	check.Diff(t, "reached", r.reached(), want)
}

func TestErrorsOfTheControlAPIArriveUnchanged(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"error":"browser not running","code":"X"}`)
	})
	status, answer, err := r.client.Call(t.Context(), "POST", "/tabs/focus", nil, nil)
	if err != nil || status != 409 || string(answer) != `{"error":"browser not running","code":"X"}` {
		t.Errorf("got %d %s %v", status, answer, err)
	}
}

// GHSA-vmhq-cqm9-6p7q: callers that may use a node's browsers could also create and delete its profiles.
func TestProfilesOfTheNodeAreNotChangedFromAfar(t *testing.T) {
	r := newRig(t, say(map[string]any{"ok": true}))
	for _, c := range [][2]string{
		{"POST", "/profiles/create"},
		{"post", "//profiles//create/"},
		{"POST", "/act/../profiles/create"},
		{"POST", "/%70rofiles/create"},
		{"POST", "/Profiles/Create"},
		{"POST", "/reset-profile"},
		{"POST", "/./reset-profile/"},
		{"DELETE", "/profiles/x"},
		{"DELETE", "/tabs/../profiles/x"},
		{" delete ", "/profiles%2Fx"},
		{"POST", "/profiles/import"},
		{"POST", "/system-profile-import/dismiss"},
	} {
		status, answer, err := r.client.Call(t.Context(), c[0], c[1], nil, nil)
		if err != nil || status != 403 || !strings.Contains(string(answer), "NODE_FORBIDDEN") {
			t.Errorf("%v: got %d %s %v", c, status, answer, err)
		}
	}
	for _, c := range [][2]string{
		{"PUT", "/act"},
		{"GET", "act"},
		{"GET", ""},
		{"GET", "/tabs?profile=x"},
		{"DELETE", "/tabs/%252e%252e/profiles/x"},
		{"POST", "/reset-profile%00"},
		{"POST", `/act\..\reset-profile`},
		{"POST", "/reset\u2010profile"},
		{"POST", "/%zz"},
		{"POST", "/a#b"},
	} {
		status, answer, err := r.client.Call(t.Context(), c[0], c[1], nil, nil)
		if err != nil || status != 400 || !strings.Contains(string(answer), "NODE_INVALID_REQUEST") {
			t.Errorf("%v: got %d %s %v", c, status, answer, err)
		}
	}
	if reached := r.reached(); len(reached) > 0 {
		t.Errorf("these reached the control API: %q", reached)
	}
}

func TestOnlySharedProfilesAreReached(t *testing.T) {
	r := newRig(t, say(map[string]any{"profiles": []any{
		map[string]any{"name": "work", "tabCount": 2},
		map[string]any{"name": "private"},
	}}))
	r.proxy.AllowProfiles = []string{"work", "play"}
	preset := ""
	r.proxy.DefaultProfile = func() string { return preset }
	post := func(text string) (int, string) {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", r.address+browsertool.NodePath, strings.NewReader(text))
		req.Header.Set("Authorization", "bearer outer")
		res, err := http.DefaultClient.Do(req)
		check.Must(t, err)
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(b)
	}
	for _, tt := range []struct {
		preset, in string
		status     int
		reached    string
	}{
		{"", `{"method":"GET","path":"/tabs","query":{"profile":"work"}}`, 200, "GET /tabs?profile=work"},
		{"", `{"method":"GET","path":"/tabs","query":{"profile":"private"}}`, 403, ""},
		{"", `{"method":"GET","path":"/tabs","query":{"Profile":"private","profile":"work"}}`, 400, ""},
		{"", `{"method":"GET","path":"/tabs","query":{"profile":["work","private"]}}`, 400, ""},
		{"", `{"method":"POST","path":"/act","body":{"kind":"close","profile":"private"}}`, 403, ""},
		{"", `{"method":"POST","path":"/act","query":{"profile":"work"},"body":{"pRofile":"private"}}`, 403, ""},
		{
			"", `{"method":"POST","path":"/act","body":{"profile":"play","kind":"close"}}`, 200,
			`POST /act?profile=play {"kind":"close"}`,
		},
		{
			"", `{"method":"POST","path":"/act","profile":"work","body":{"profile":"play","kind":"close"}}`, 200,
			`POST /act?profile=work {"kind":"close"}`,
		},
		{"", `{"method":"GET","path":"/tabs","profile":"private"}`, 403, ""},
		{"", `{"method":"GET","path":"/tabs"}`, 403, ""},
		{"private", `{"method":"GET","path":"/tabs"}`, 403, ""},
		{
			"play", `{"method":"GET","path":"/tabs","query":{"deep":true,"limit":3}}`, 200,
			"GET /tabs?deep=true&limit=3&profile=play",
		},
		{"", `{"method":"GET","path":`, 400, ""},
		{"", `[]`, 400, ""},
		{"", `{"path":"/` + strings.Repeat("a", 1<<20) + `"}`, 400, ""},
	} {
		preset = tt.preset
		status, out := post(tt.in)
		if reached := r.reached(); status != tt.status || strings.Join(reached, ";") != tt.reached {
			t.Errorf("%.80s: got %d %q %s, want %d %q", tt.in, status, reached, out, tt.status, tt.reached)
		}
	}
	preset = "work"
	_, answer, err := r.client.Call(t.Context(), "GET", "/profiles/", nil, nil)
	if err != nil || string(answer) != `{"profiles":[{"name":"work","tabCount":2}]}` {
		t.Errorf("got %s %v", answer, err)
	}
}

func TestStrangersAndPagesAreTurnedAway(t *testing.T) {
	r := newRig(t, say(map[string]any{}))
	for name, tt := range map[string]struct {
		method, path, header, value string
		want                        int
	}{
		"no token":     {"POST", browsertool.NodePath, "", "", 401},
		"wrong token":  {"POST", browsertool.NodePath, "Authorization", "Bearer inner", 401},
		"wrong scheme": {"POST", browsertool.NodePath, "Authorization", "Basic outer", 401},
		"page":         {"POST", browsertool.NodePath, "Origin", "http://127.0.0.1", 403},
		"other path":   {"POST", "/act", "Authorization", "Bearer outer", 404},
		"other method": {"GET", browsertool.NodePath, "Authorization", "Bearer outer", 405},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), tt.method, r.address+tt.path, strings.NewReader(`{"path":"/"}`))
		if tt.header != "" {
			req.Header.Set(tt.header, tt.value)
		}
		res, err := http.DefaultClient.Do(req)
		check.Must(t, err)
		res.Body.Close()
		check.Equal(t, name, res.StatusCode, tt.want)
	}
	r.client.Proxy.Token = "old"
	if status, answer, err := r.client.Call(t.Context(), "GET", "/", nil, nil); err != nil || status != 401 ||
		!strings.Contains(string(answer), "refused our token") {
		t.Errorf("got %d %s %v", status, answer, err)
	}
	open := httptest.NewRecorder()
	(&browsertool.NodeProxy{}).ServeHTTP(open, httptest.NewRequestWithContext(t.Context(), "POST", browsertool.NodePath,
		nil))
	check.Equal(t, "a proxy without a token answers", open.Code, 401)
	if reached := r.reached(); len(reached) > 0 {
		t.Errorf("these reached the control API: %q", reached)
	}
}

func TestFilesOfAnAnswerAreCopiedAndTheirPathsRewritten(t *testing.T) {
	var answer map[string]any
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(answer) })
	put := func(name string, data []byte) string {
		p := filepath.Join(r.media, name)
		check.Must(t, os.WriteFile(p, data, 0o600))
		return p
	}
	png := append([]byte("\x89PNG\r\n\x1a\n"), 1, 2, 3)
	secret := filepath.Join(t.TempDir(), "secret")
	check.Must(t, os.WriteFile(secret, []byte("s3cret"), 0o600))
	check.Must(t, os.Symlink(secret, filepath.Join(r.media, "link")))
	answer = map[string]any{
		"path": put("a.png", png), "imagePath": put("big", make([]byte, browsertool.MaxNodeFile+1)),
		"download": map[string]any{"path": put("full", make([]byte, browsertool.MaxNodeFile)), "url": "http://x"},
		"downloads": []any{
			map[string]any{"path": secret},
			map[string]any{"path": filepath.Join(r.media, "link")},
			map[string]any{"path": put("table.csv", []byte("a,b"))},
			map[string]any{"path": r.media},
			map[string]any{"path": "a.png"},
		},
	}
	status, raw, err := r.client.Call(t.Context(), "POST", "/screenshot", nil, nil)
	if err != nil || status != 200 {
		t.Fatalf("got %d %v", status, err)
	}
	var got struct {
		Path, ImagePath string
		Download        struct{ Path string }
		Downloads       []struct{ Path string }
		FileErrors      []struct{ Path, Error string }
	}
	check.Must(t, json.Unmarshal(raw, &got))
	if b, err := os.ReadFile(got.Path); err != nil || !bytes.Equal(b, png) || filepath.Dir(got.Path) != r.client.Dir ||
		filepath.Ext(got.Path) != ".png" {
		t.Errorf("the picture is %q at %s: %v", b, got.Path, err)
	}
	if b, err := os.ReadFile(got.Download.Path); err != nil || len(b) != browsertool.MaxNodeFile {
		t.Errorf("the download has %d bytes: %v", len(b), err)
	}
	if b, err := os.ReadFile(got.Downloads[2].Path); err != nil || string(b) != "a,b" ||
		filepath.Ext(got.Downloads[2].Path) != ".csv" {
		t.Errorf("the table is %q: %v", b, err)
	}
	var why []string
	for _, f := range got.FileErrors {
		why = append(why, filepath.Base(f.Path)+": "+f.Error)
	}
	want := []string{
		"big: it is larger than 10 MiB", "secret: it is not in a directory that is shared", "link: it cannot be opened",
		filepath.Base(r.media) + ": it is not a regular file", "a.png: it is not in a directory that is shared",
	}
	check.Diff(t, "why", why, want)
	check.Lacks(t, string(raw), "s3cret")
}

// GHSA-6rph-mmhp-h7h9: files of any size were read into memory and sent through the node's proxy.
func TestAdvisoryFilesOfAnySizeThroughANode(t *testing.T) {
	var path string
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) { say(map[string]any{"ok": true, "path": path})(w, q) })
	path = filepath.Join(r.media, "huge.png")
	check.Must(t, os.WriteFile(path, nil, 0o600))
	check.Must(t, os.Truncate(path, 8<<30))
	status, answer, err := r.client.Call(t.Context(), "POST", "/screenshot", nil, nil)
	if err != nil || status != http.StatusOK || !strings.Contains(string(answer), "larger than") ||
		len(answer) > browsertool.MaxNodeFile {
		t.Errorf("got %d %d bytes %.200s, %v", status, len(answer), answer, err)
	}
	if files, err := os.ReadDir(r.client.Dir); err != nil || len(files) > 0 {
		t.Errorf("written here: %v, %v", files, err)
	}
}

func TestATimeoutIsToldWithTheStatusOfTheBrowser(t *testing.T) {
	ended := make(chan struct{})
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/" {
			say(map[string]any{"profile": "work", "running": true, "cdpReady": false})(w, q)
			return
		}
		<-q.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithTimeout(t.Context(), browsertool.NodeSlack+3*time.Second)
	defer cancel()
	status, answer, err := r.client.Call(ctx, "POST", "/act", url.Values{"profile": {"work"}}, map[string]any{})
	if err != nil || status != 504 ||
		!strings.Contains(string(answer), "(profile work, running true, answers commands false)") ||
		!strings.Contains(string(answer), "POST /act") {
		t.Errorf("got %d %s %v", status, answer, err)
	}
	<-ended // the work on the node has ended, too
}

func TestTheWorkEndsWhenTheCallerLeaves(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(_ http.ResponseWriter, q *http.Request) {
		close(began)
		<-q.Context().Done()
		close(ended)
	})
	why := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-began
		cancel(why)
	}()
	if _, _, err := r.client.Call(ctx, "POST", "/act", nil, map[string]any{}); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
	<-ended
}

func TestANodeWhoseControlServiceIsGoneSaysSo(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	r := newRig(t, say(nil))
	r.proxy.Control = &browsertool.APIClient{URL: gone.URL}
	status, answer, err := r.client.Call(t.Context(), "GET", "/tabs", nil, nil)
	if err != nil || status != 502 ||
		!strings.Contains(string(answer), "on the node: the browser control service cannot be reached") {
		t.Errorf("got %d %s %v", status, answer, err)
	}
	r.client.Proxy.URL = gone.URL
	if _, _, err := r.client.Call(t.Context(), "GET", "/tabs", nil, nil); !errors.Is(err, browsertool.ErrAPIUnreachable) {
		t.Errorf("got %v", err)
	}
	stranger := httptest.NewServer(say(map[string]any{"hello": "world"}))
	defer stranger.Close()
	r.client.Proxy.URL = stranger.URL
	if _, _, err := r.client.Call(t.Context(), "GET", "/tabs", nil, nil); !errors.Is(err, browsertool.ErrAPIBadAnswer) {
		t.Errorf("got %v", err)
	}
}

// FuzzProxy checks with Go's standard router that no spelling of a method and a path reaches a route that changes
// profiles, and that no spelling of a request reaches a profile that is not shared.
func FuzzProxy(f *testing.F) {
	for _, s := range [][3]string{
		{"POST", "/profiles/create", `{"profile":"private"}`},
		{"DELETE", "/profiles%2fx", `{"Profile":1}`},
		{"post", "//reset-profile", `[]`},
		{"POST", "/act/..//reset-profile", `null`},
		{"DELETE", "/%2570rofiles/x", `{"profile":["private"]}`},
		{"GET", "/tabs", `"private"`},
		{"POST", "/act", `{"profile":"work","profile":"private"}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	mux := http.NewServeMux()
	bad := ""
	for _, pattern := range []string{"POST /profiles/create", "POST /reset-profile", "DELETE /profiles/{name}"} {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) { bad = pattern })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Profile any }
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
		if r.URL.Query().Get("profile") != "work" || body.Profile != nil {
			bad = "profile " + r.URL.RawQuery + " " + string(raw)
		}
		_, _ = io.WriteString(w, "{}")
	})
	p := &browsertool.NodeProxy{
		Control: inProcess{mux}, Token: "t", AllowProfiles: []string{"work"},
		DefaultProfile: func() string { return "work" },
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if !json.Valid([]byte(body)) {
			body = "{}"
		}
		in, err := json.Marshal(map[string]any{"method": method, "path": path, "body": json.RawMessage(body)})
		if err != nil {
			t.Skip("no request")
		}
		bad = ""
		req := httptest.NewRequestWithContext(t.Context(), "POST", browsertool.NodePath, bytes.NewReader(in))
		req.Header.Set("Authorization", "Bearer t")
		p.ServeHTTP(httptest.NewRecorder(), req)
		if bad != "" {
			t.Errorf("%q %q %s reached %s", method, path, body, bad)
		}
	})
}

// inProcess calls a handler without a network and follows redirects.
type inProcess struct{ h http.Handler }

func (c inProcess) Call(ctx context.Context, method, path string, query url.Values,
	body any,
) (int, json.RawMessage, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	for range 5 {
		req, err := http.NewRequestWithContext(ctx, method, "http://x"+path+"?"+query.Encode(), bytes.NewReader(raw))
		if err != nil {
			return 0, nil, err
		}
		rec := httptest.NewRecorder()
		c.h.ServeHTTP(rec, req)
		next := rec.Header().Get("Location")
		if rec.Code < 300 || rec.Code > 399 || next == "" {
			return rec.Code, rec.Body.Bytes(), nil
		}
		if path, _, _ = strings.Cut(strings.TrimPrefix(next, "http://x"), "?"); path == "" {
			path = "/"
		}
	}
	return http.StatusLoopDetected, json.RawMessage(`{}`), nil
}

func TestOnlyRegularFilesBelowTheDirectoriesAreRead(t *testing.T) {
	base := t.TempDir()
	dir, outside, link := filepath.Join(base, "media"), filepath.Join(base, "other"), filepath.Join(base, "link")
	for _, d := range []string{filepath.Join(dir, "sub"), outside} {
		check.Must(t, os.MkdirAll(d, 0o700))
	}
	for _, f := range []string{filepath.Join(dir, "a.png"), filepath.Join(dir, "sub", "b"), filepath.Join(outside, "c")} {
		check.Must(t, os.WriteFile(f, []byte("data"), 0o600))
	}
	for to, from := range map[string]string{
		dir: link, filepath.Join(outside, "c"): filepath.Join(dir, "out"),
		outside: filepath.Join(dir, "outdir"),
	} {
		check.Must(t, os.Symlink(to, from))
	}
	for _, tt := range []struct {
		dirs    []string
		path    string
		ok      bool
		outside bool
	}{
		{[]string{dir}, filepath.Join(dir, "a.png"), true, false},
		{[]string{outside, "", dir}, filepath.Join(dir, "sub", "b"), true, false},
		{[]string{link}, filepath.Join(dir, "a.png"), true, false},
		{[]string{dir}, filepath.Join(link, "a.png"), true, false},
		{[]string{dir}, filepath.Join(dir, "..", "other", "c"), false, true},
		{[]string{dir}, filepath.Join(outside, "c"), false, true},
		{[]string{dir}, filepath.Join(dir, "out"), false, false},
		{[]string{dir}, filepath.Join(dir, "outdir", "c"), false, true},
		{[]string{dir}, dir, false, false},
		{[]string{dir}, filepath.Join(dir, "sub"), false, false},
		{[]string{dir}, filepath.Join(dir, "none"), false, false},
		{[]string{dir}, "a.png", false, true},
		{nil, filepath.Join(dir, "a.png"), false, true},
	} {
		got, err := browsertool.ReadMedia(tt.dirs, tt.path, 4)
		if (err == nil && string(got) == "data") != tt.ok || errors.Is(err, browsertool.ErrOutsideMedia) != tt.outside {
			t.Errorf("%s in %v: got %q, %v", tt.path, tt.dirs, got, err)
		}
	}
	check.Fails(t, check.Err(browsertool.ReadMedia([]string{dir}, filepath.Join(dir, "a.png"), 3)), nil, "larger than")
}
