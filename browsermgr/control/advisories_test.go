package control_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/control"
	"clank/internal/test/check"
)

// The tests in this file reproduce published vulnerabilities of servers with this interface.

// routes lists the routes in the server's OpenAPI document, as method and path.
func (c *client) routes() [][2]string {
	c.tb.Helper()
	var out [][2]string
	paths, _ := c.ok("GET", "/openapi.json", nil).body["paths"].(map[string]any)
	for path, item := range paths {
		for method := range item.(map[string]any) {
			out = append(out, [2]string{strings.ToUpper(method), strings.ReplaceAll(strings.ReplaceAll(path, "{", ""), "}", "")})
		}
	}
	if len(out) < 40 {
		c.tb.Fatalf("%d routes are listed", len(out))
	}
	return out
}

// CVE-2026-28485: routes answered without authentication.
func TestAdvisoryRoutesWithoutSecret(t *testing.T) {
	c := serve(t, nil)
	for _, route := range c.routes() {
		for _, given := range []string{"", "Bearer wrong", "Bearer " + token + "x", "Basic Og=="} {
			r := c.request(t.Context(), route[0], route[1], nil)
			r.Header.Set("Authorization", given)
			if a := c.send(r); a.status != http.StatusUnauthorized {
				t.Errorf("%s %s with %q: got %d %s, want 401", route[0], route[1], given, a.status, a.text)
			}
		}
	}
}

// CVE-2026-26317: a web page could post to the loopback interface.
func TestAdvisoryCrossSiteMutations(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	before := len(c.listed())
	for _, route := range c.routes() {
		if route[0] == http.MethodGet {
			continue
		}
		for _, header := range [][2]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
			{"Referer", "https://evil.example/x"},
		} {
			r := c.request(t.Context(), route[0], route[1], nil)
			r.Header.Set(header[0], header[1])
			if a := c.send(r); a.status != http.StatusForbidden {
				t.Errorf("%s %s with %v: got %d %s, want 403", route[0], route[1], header, a.status, a.text)
			}
		}
	}
	check.Equal(t, "tabs", len(c.listed()), before)
}

// DNS rebinding: a page whose name resolves to this machine uses that name, and is same-site then.
func TestAdvisoryReboundNameOfTheServer(t *testing.T) {
	c := serve(t, nil)
	for _, route := range c.routes() {
		for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "0.0.0.0"} {
			r := c.request(t.Context(), route[0], route[1], nil)
			r.Host = host
			r.Header.Set("Origin", "http://"+host)
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			if a := c.send(r); a.status != http.StatusForbidden {
				t.Errorf("%s %s under %s: got %d %s, want 403", route[0], route[1], host, a.status, a.text)
			}
		}
	}
}

// CVE-2026-28462: files were written to any path in a request.
func TestAdvisoryTraversalOfOutputs(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/files")
	outside := t.TempDir()
	for _, folder := range []string{"downloads", "traces"} {
		link := filepath.Join(features.Dir, folder, "out")
		check.Must(t, os.MkdirAll(filepath.Dir(link), 0o700))
		check.Must(t, os.Symlink(outside, link))
		t.Cleanup(func() { _ = os.Remove(link) })
	}
	c.ok("POST", "/trace/start", nil)
	for _, path := range []string{
		"../escaped", "a/../../escaped", outside + "/escaped", "out/escaped", "/etc/escaped",
		"..", "a\x00b",
	} {
		for route, body := range map[string]map[string]any{
			"/trace/stop":    {"path": path},
			"/wait/download": {"path": path, "timeoutMs": 500},
			"/download":      {"path": path, "ref": c.ref(target, "Get"), "timeoutMs": 5000},
		} {
			a := c.do("POST", route, body)
			if a.status != http.StatusBadRequest || !strings.Contains(a.str("error"), "Invalid path") {
				t.Errorf("%s %q: got %d %s, want 400 Invalid path", route, path, a.status, a.text)
			}
		}
	}
	c.ok("POST", "/trace/stop", nil)
	for _, dir := range []string{outside, features.Dir, filepath.Dir(features.Dir)} {
		if found, _ := filepath.Glob(filepath.Join(dir, "*escaped*")); len(found) > 0 {
			t.Errorf("written outside: %v", found)
		}
	}
}

// Any file of the machine could be uploaded to a page, first by its path, later through links.
func TestAdvisoryUploadOfLocalFiles(t *testing.T) {
	c := serve(t, nil)
	c.open("/files")
	secret := filepath.Join(features.Dir, "secret.txt")
	check.Must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	uploads := filepath.Join(features.Dir, "uploads")
	for name, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		path := filepath.Join(uploads, name)
		check.Must(t, link(secret, path))
		t.Cleanup(func() { _ = os.Remove(path) })
	}
	for _, path := range []string{
		secret, "../secret.txt", "/etc/passwd", "file:///etc/passwd", "symbolic", "hard",
		uploads + "/../secret.txt",
	} {
		a := c.do("POST", "/hooks/file-chooser", map[string]any{"paths": []string{path}, "element": "input"})
		if a.status != http.StatusBadRequest || !strings.Contains(a.str("error"), "Invalid path") {
			t.Errorf("%s: got %d %s, want 400 Invalid path", path, a.status, a.text)
		}
	}
	if a := c.ok("POST", "/act",
		`{"kind":"evaluate","fn":"document.querySelector('input').files.length"}`); a.body["result"] != 0.0 {
		t.Errorf("the page got %v files", a.body["result"])
	}
}

// URLs of other schemes could be opened: files, scripts, the browser's own pages.
func TestAdvisorySchemesOfNavigation(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	for _, url := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", " file:///etc/passwd", "data:text/html,x",
		"javascript:document.title='ran'", "java\tscript:document.title='ran'",
		"view-source:" + site, "blob:" + site + "/x", "filesystem:" + site + "/temporary/x", "chrome://version",
		"devtools://devtools/bundled/inspector.html",
		"about:config", "about:srcdoc", "ftp://a.example/", "chrome-extension://x/y",
	} {
		for route, body := range map[string]map[string]any{
			"/navigate": {"url": url, "targetId": target}, "/tabs/open": {"url": url},
		} {
			if a := c.do("POST", route, body); a.status != http.StatusBadRequest {
				t.Errorf("%s %q: got %d %s, want 400", route, url, a.status, a.text)
			}
		}
	}
	if a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"document.title"}`); a.body["result"] != "Start" ||
		len(c.listed()) != 1 {
		t.Errorf("something was opened or ran: %s", a.text)
	}
}

// Keys, form submissions and scripts could navigate to forbidden addresses.
func TestAdvisoryNavigationByInteraction(t *testing.T) {
	for name, act := range map[string]string{
		"click":     `{"kind":"click","selector":"#link"}`,
		"press":     `{"kind":"batch","actions":[{"kind":"evaluate","fn":"document.querySelector('#link').focus()"},{"kind":"press","key":"Enter"}]}`,
		"submit":    `{"kind":"type","selector":"#field","text":"x","submit":true}`,
		"evaluate":  `{"kind":"evaluate","fn":"location = '/secret'"}`,
		"in a step": `{"kind":"batch","stopOnError":false,"actions":[{"kind":"click","selector":"#link"},{"kind":"wait","timeMs":10}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := &fakePolicy{word: "secret"}
			c := guarded(t, p)
			target := c.open("/")
			c.ok("POST", "/act", `{"kind":"evaluate","fn":"document.body.innerHTML = '<a id=link href=/secret>Go</a><form action=/secret><input id=field></form>'"}`)
			a := c.do("POST", "/act", act)
			if a.status == http.StatusOK && !strings.Contains(a.text, "avigation blocked") {
				t.Errorf("got %d %s, want a refusal", a.status, a.text)
			}
			// Whatever came of the act: what is there now is not shown.
			for _, route := range []string{"GET /snapshot?targetId=", "GET /text?targetId=", "POST /screenshot?targetId="} {
				method, path, _ := strings.Cut(route, " ")
				a := c.do(method, path+target, nil)
				if strings.Contains(a.text, "not for you") || a.status == http.StatusOK &&
					strings.Contains(a.str("url"), "secret") {
					t.Errorf("%s: got %d %s", route, a.status, a.text)
				}
			}
		})
	}
}

// In a person's own browser, routes did not check the policy.
func TestAdvisoryExistingSessionUnguarded(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := personal(t, c)
	p.set(site)
	for _, step := range []struct{ route, body string }{
		{"GET /snapshot", ""},
		{"GET /text", ""},
		{"POST /screenshot", `{}`},
		{"POST /act", `{"kind":"evaluate","fn":"document.title"}`},
		{"POST /tabs/focus", `{"targetId":"` + target + `"}`},
		{"POST /navigate", `{"url":"` + site + `/two","targetId":"` + target + `"}`},
		{"POST /tabs/open", `{"url":"` + site + `/two"}`},
	} {
		method, path, _ := strings.Cut(step.route, " ")
		refusedByPolicy(t, step.route, c.do(method, path+"?profile=person&targetId="+target, step.body))
	}
	p.set("")
}

func TestAnActionThatNamesNoLimitHasTheOneOfTheServer(t *testing.T) {
	c := serve(t, func(s *control.Server) { s.Settings = serverSettings{limit: 600 * time.Millisecond} })
	c.open("/")
	for body, want := range map[string]string{
		`{"kind":"wait","text":"never"}`:                                                 "600",
		`{"kind":"wait","text":"never","timeoutMs":1500}`:                                "1.5",
		`{"kind":"batch","actions":[{"kind":"wait","text":"never"}],"stopOnError":true}`: "600",
	} {
		if a := c.do("POST", "/act", body); !strings.Contains(a.text, want) {
			t.Errorf("%s: got %d %s, want %q", body, a.status, a.text, want)
		}
	}
	c.ok("POST", "/act", `{"kind":"wait","timeMs":700}`)
}

// Scripts of clients could not be disabled for all routes.
func TestAdvisoryEvaluateWhereItIsOff(t *testing.T) {
	var off atomic.Bool
	off.Store(true)
	c := serve(t, func(s *control.Server) { s.Settings = serverSettings{noEvaluate: &off} })
	c.open("/")
	for name, body := range map[string]string{
		"evaluate": `{"kind":"evaluate","fn":"document.title = 'ran'"}`,
		"wait":     `{"kind":"wait","fn":"(document.title = 'ran')"}`,
		"batch":    `{"kind":"batch","actions":[{"kind":"evaluate","fn":"document.title = 'ran'"}]}`,
	} {
		if a := c.do("POST", "/act", body); !strings.Contains(a.text, "evaluateEnabled=false") {
			t.Errorf("%s: got %d %s", name, a.status, a.text)
		}
	}
	if tabs := c.listed(); len(tabs) != 1 || tabs[0]["title"] != "Start" {
		t.Errorf("it ran: %v", tabs)
	}
	off.Store(false)
	c.ok("POST", "/act", `{"kind":"evaluate","fn":"1"}`)
}
