package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/browsermgr/control/client"
	"clank/internal/server"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
)

// huntedPassword must become known only to the page.
const huntedPassword = `Tr0ub4dor&3 "x'<é`

// echoPage asks for a login and then repeats the password in every way a page can.
const echoPage = `<!doctype html><title>Login</title><body style="margin:30px;font:18px monospace">
<form id=f><input name=user><input id=p name=pass type=password style="width:400px"><button>Sign in</button></form>
<p id=out></p><div id=attr></div><select id=s></select><script>
f.onsubmit = async (ev) => {
	ev.preventDefault();
	const v = p.value;
	p.type = 'text';
	const add = (t) => { const e = document.createElement('p'); e.textContent = t; out.append(e); };
	add('plain ' + v); add('json ' + JSON.stringify({v})); add('url ' + encodeURIComponent(v)); add('upper ' + v.toUpperCase());
	add('form ' + new URLSearchParams({v})); add('hex ' + [...new TextEncoder().encode(v)].map((b) => b.toString(16).padStart(2, '0')).join(''));
	const b64 = (s) => btoa(String.fromCharCode(...new TextEncoder().encode(s)));
	add('base64 ' + b64(v)); add('basic ' + b64('ada:' + v)); add('long ' + 'x'.repeat(70) + v);
	attr.title = v; attr.setAttribute('aria-label', v); attr.innerHTML = '<a href="/?p=' + encodeURIComponent(v) + '">a link</a><button></button>';
	attr.querySelector('button').setAttribute('aria-label', v); attr.append(new Comment(v));
	s.append(new Option(v, v));
	document.title = 'hello ' + v;
	console.log(v, {v}, [v]); console.error('failed: ' + v); console.warn(new Error(v));
	history.replaceState(null, '', '/after?p=' + encodeURIComponent(v) + '#' + v);
	localStorage.setItem('p', v);
	await fetch('/json', {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Word': encodeURIComponent(v)}, body: JSON.stringify({note: v})});
	await fetch('/form?note=' + encodeURIComponent(v), {method: 'POST', body: new URLSearchParams({note: v})});
	const form = new FormData(); form.set('note', v);
	await fetch('/multi', {method: 'POST', body: form});
	await fetch('/blob', {method: 'POST', body: new Blob([v])});
	setTimeout(() => { throw new Error('oh ' + v) });
	add('all is said');
};
</script>`

// newEchoSite starts a site that repeats in its responses what it receives.
func newEchoSite(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, echoPage)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		if r.URL.Path == "/blob" {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		w.Header().Set("X-Echo", url.QueryEscape(string(body)))
		w.Write(body)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// secretEncodings returns the encodings of the password to search for.
func secretEncodings() map[string]string {
	quoted, _ := json.Marshal(huntedPassword)
	quotedTwice, _ := json.Marshal(string(quoted))
	component := strings.ReplaceAll(url.QueryEscape(huntedPassword), "+", "%20")
	return map[string]string{
		"plain": huntedPassword, "JSON": strings.Trim(string(quoted), `"`),
		"JSON in JSON": string(quotedTwice[3 : len(quotedTwice)-3]), "form": url.QueryEscape(huntedPassword),
		"component": component,
		"HTML":      html.EscapeString(huntedPassword),
		"base64":    strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(huntedPassword)), "=")[:20],
		"basic":     base64.StdEncoding.EncodeToString([]byte("ada:" + huntedPassword))[8:24],
		"hex":       hex.EncodeToString([]byte(huntedPassword)),
		"upper":     strings.ToUpper(huntedPassword), "a part": huntedPassword[:11],
		"a part of it in form": url.QueryEscape(huntedPassword[:11]),
	}
}

// checkNoSecret fails if data from the program contains the password.
func checkNoSecret(t *testing.T, where string, data []byte) {
	t.Helper()
	for spelling, s := range secretEncodings() {
		if at := bytes.Index(data, []byte(s)); at >= 0 {
			t.Errorf("%s holds the password (%s): …%s…", where, spelling, data[max(at-80, 0):min(at+len(s)+20, len(data))])
		}
	}
}

// addLoginToVault adds the password for a site to the vault of a home.
func addLoginToVault(t *testing.T, environ []string, origin string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "vault", "add", "echo", "--origin", origin, "--user", "ada")
	cmd.Env, cmd.Stdin = environ, strings.NewReader(huntedPassword+"\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("vault add: %v\n%s", err, out)
	}
	checkNoSecret(t, "what vault add prints", out)
}

func TestNoByteThatLeavesTellsAPassword(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	home, environ := newTestHome(t)
	site, model := newEchoSite(t), llmtest.NewServer(t)
	environ = append(environ, "OPENAI_BASE_URL="+model.BaseURL(), "OPENAI_API_KEY="+testKey, "CLANK_VAULT_KEYRING=off")
	addLoginToVault(t, environ, site.URL)
	server := startServer(t, home, environ, "--log", "debug")
	at, err := client.Discover(home)
	check.Must(t, err)
	api := &browsertool.APIClient{URL: at.URL, Token: at.Token}
	call := func(method, path string, query url.Values, body any) json.RawMessage {
		t.Helper()
		status, answer, err := api.Call(testDeadline(t), method, path, query, body)
		if err != nil || status >= 500 && path != "/act" {
			t.Fatalf("%s %s: status %d, %v: %s", method, path, status, err, answer)
		}
		checkNoSecret(t, path, answer)
		return answer
	}
	call("POST", "/start", nil, map[string]any{})
	call("POST", "/trace/start", nil, map[string]any{})

	model.Add(
		openPage(site.URL+"/login"), toolTurn("fill_login", map[string]any{"entry": "echo", "submit": true}),
		toolTurn("browser_wait", map[string]any{"text": "all is said"}), toolTurn("browser_snapshot", map[string]any{}),
		toolTurn("browser_extract", map[string]any{}), toolTurn("browser_tabs", map[string]any{"action": "list"}),
		showScreenshotTurn, llmtest.Say("I am in."),
	)
	file := filepath.Join(t.TempDir(), "page.png")
	p := startProgram(t, home, environ, "browse", "--model", "openai:gpt-5.6", "--allow", "login", "--screenshot", file,
		"log in")
	if got := p.exitCode(t); got != exitDone {
		t.Fatalf("exit code = %d", got)
	}
	checkRequestsValid(t, model)
	var all strings.Builder
	for i, r := range model.Requests() {
		checkNoSecret(t, fmt.Sprintf("model request %d", i), r.Body)
		all.Write(r.Body)
	}
	told := all.String()
	check.Contains(t, told, "[secret echo]", "all is said", "and sent", "hello [secret echo]")
	if n := strings.Count(told, "[secret echo]"); n < 10 {
		t.Errorf("the password was taken out %d times: the page did not repeat it as it should", n)
	}
	data, err := os.ReadFile(file)
	check.Must(t, err)
	checkCovered(t, data)

	collectAnswers(t, call, site.URL)
	call("POST", "/trace/stop", nil, map[string]any{"path": "t.zip"})
	checkNoSecret(t, "stdout of browse", []byte(p.stdout.text()))
	checkNoSecret(t, "stderr of browse", []byte(p.stderr.text()))
	server.interrupt(t)
	server.exitCode(t)
	checkNoSecret(t, "stdout of serve", []byte(server.stdout.text()))
	checkNoSecret(t, "stderr of serve", []byte(server.stderr.text()))
	if n := searchFiles(t, home); n < 4 {
		t.Errorf("only %d files were searched", n)
	}
	checkNothingLeft(t, home)
}

// collectAnswers requests everything that the control API returns about the page.
func collectAnswers(t *testing.T, call func(method, path string, query url.Values, body any) json.RawMessage,
	site string,
) {
	t.Helper()
	var tabs struct {
		Tabs []struct{ TargetID, URL string }
	}
	check.Must(t, json.Unmarshal(call("GET", "/tabs", nil, nil), &tabs))
	target := ""
	for _, tab := range tabs.Tabs {
		if strings.HasPrefix(tab.URL, site) {
			target = tab.TargetID
		}
	}
	if target == "" {
		t.Fatalf("the page is not among %+v", tabs)
	}
	tab := url.Values{"targetId": {target}}
	for _, path := range []string{"/console", "/errors", "/requests", "/har", "/snapshot", "/text"} {
		answer := call("GET", path, tab, nil)
		if (path == "/console" || path == "/requests" || path == "/har" || path == "/snapshot") &&
			!bytes.Contains(answer, []byte("[secret echo]")) && !bytes.Contains(answer, []byte("REDACTED")) {
			t.Errorf("%s tells nothing of what the page did: %s", path, answer)
		}
	}
	aria := url.Values{"targetId": {target}, "format": {"aria"}}
	call("GET", "/snapshot", aria, nil)
	call("POST", "/screenshot", nil, map[string]any{"targetId": target})
	for _, fn := range []string{
		`() => p.value`, `() => ({[p.value]: [p.value]})`, `() => { throw new Error(p.value) }`,
		`() => document.documentElement.outerHTML`, `() => location.href`,
	} {
		call("POST", "/act", nil, map[string]any{"targetId": target, "kind": "evaluate", "fn": fn})
	}
	call("GET", "/storage/local", tab, nil)
}

// checkCovered fails unless a large part of a picture is covered.
func checkCovered(t *testing.T, data []byte) {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	check.Must(t, err)
	n := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if c, ok := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); ok && max(c.R, c.G, c.B) < 0x6a &&
				min(c.R, c.G, c.B) > 0x56 {
				n++
			}
		}
	}
	if n < 400*20 {
		t.Errorf("%d pixels of the picture are covered, want those of the field at least", n)
	}
}

// searchFiles searches all files of a home, including archives, except Chromium's own.
func searchFiles(t *testing.T, home string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "user-data" {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		checkNoSecret(t, path, data)
		if strings.HasSuffix(path, ".zip") {
			return searchArchive(t, data)
		}
		return nil
	})
	check.Must(t, err)
	return n
}

func searchArchive(t *testing.T, data []byte) error {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	redacted := 0
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		r.Close()
		checkNoSecret(t, "the trace's "+f.Name, content)
		redacted += bytes.Count(content, []byte("[secret echo]"))
	}
	if redacted == 0 {
		t.Error("the trace tells nothing of what the page did")
	}
	return nil
}

// typedLogin asks for a password, which it repeats.
const typedLogin = `<!doctype html><title>Login</title><h1>Login</h1><form onsubmit="return false">
<label>Name <input name=user></label><label>Password <input id=p type=password></label>
<button onclick="document.title=out.textContent='welcome, you typed '+p.value">Enter</button></form><p id=out></p>`

// A person types a password into the task. The model reads it, but nothing that is stored, sent or shown contains it.
func TestAPasswordInATaskIsKeptAndToldNowhere(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	home, environ := newTestHome(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, typedLogin)
	}))
	t.Cleanup(site.Close)
	model := llmtest.NewServer(t)
	environ = append(environ, "OPENAI_BASE_URL="+model.BaseURL(), "OPENAI_API_KEY="+testKey)
	server := startServer(t, home, environ, "--log", "debug")
	events := followEvents(t, home)
	typed := func(word string) llmtest.Turn {
		return func(r llmtest.Request) llmtest.Reply {
			return toolTurn("browser_type", map[string]any{"ref": shownRef(r, `textbox "Password"`), "text": word})(r)
		}
	}
	cases := []struct {
		word, model, prompt string
		sayEarlier          bool // what is told before the password is typed shows it, too
	}{
		{"hunter2oranges", "plain:steps", `open %s, type "hunter2oranges" into "Password", click "Enter", read`, false},
		{"Tr0ub4dor", "openai:gpt-5.6", "Log in at %s with ada / Tr0ub4dor and tell what it says.", false},
		{"swordfish", "openai:gpt-5.6", "Go to %s; the two of us say swordfish there.", true},
	}
	searched := func(where, text string, late bool) {
		t.Helper()
		for _, tt := range cases {
			if at := strings.Index(text, tt.word); at >= 0 && (late || !tt.sayEarlier) {
				t.Errorf("%s: %s has it: …%s…", tt.word, where, text[max(0, at-100):min(len(text), at+40)])
			}
		}
	}
	for _, tt := range cases {
		if tt.model != "plain:steps" {
			said := llmtest.Say("It says: welcome, you typed " + tt.word)
			model.Add(openPage(site.URL), typed(tt.word), clickOn(`button "Enter"`), said)
		}
		p := startProgram(t, home, environ, "browse", "--model", tt.model, fmt.Sprintf(tt.prompt, site.URL))
		if got := p.exitCode(t); got != exitDone {
			t.Fatalf("%s: exit code = %d: %s", tt.word, got, p.stderr.text())
		}
		searched("stdout of browse", p.stdout.text(), true)
		searched("stderr of browse", p.stderr.text(), true)
		check.Contains(t, p.stdout.text(), "welcome, you typed ••••", "clank vault add")
	}
	server.interrupt(t)
	server.exitCode(t)
	searched("the stream of events", events(), false)
	searched("the log of serve", server.stdout.text()+server.stderr.text(), true)
	n := 0
	check.Must(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.Name() == "user-data": // Chromium's own: the page has the password in its title
			return filepath.SkipDir
		case err != nil || !d.Type().IsRegular():
			return err
		}
		data, err := os.ReadFile(path)
		n++
		searched(path, string(data), true)
		return err
	}))
	if n < 6 {
		t.Errorf("only %d files were searched", n)
	}
}

// openEvents opens the dashboard's stream of events, as its page does.
func openEvents(t *testing.T, home string) (*http.Response, server.Address) {
	t.Helper()
	h, err := server.OpenHome(func(name string) string { return map[string]string{"CLANK_HOME": home}[name] })
	check.Must(t, err)
	at, _, err := h.RunningServer()
	check.Must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL+"/api/events", nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+at.Secret)
	res, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("events: %s", res.Status)
	}
	return res, at
}

// followEvents reads the stream until the server ends. The returned function returns what was read.
func followEvents(t *testing.T, home string) func() string {
	t.Helper()
	res, _ := openEvents(t, home)
	told := make(chan string, 1)
	go func() {
		defer res.Body.Close()
		all, _ := io.ReadAll(res.Body) // it ends with the server
		told <- string(all)
	}()
	return func() string {
		all := <-told
		check.Contains(t, all, "event: step", "Password")
		return all
	}
}
