package controltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
)

// foreignBrowserCases returns the cases about browsers that clank did not start: it attaches to them, works in them,
// and leaves them running.
func foreignBrowserCases() []testCase {
	own := func(name string, work func(*suite, *foreignBrowser)) testCase {
		return testCase{Name: name, Run: func(s *suite) { work(s, launchForeignBrowser(s.T, s)) }}
	}
	var b *foreignBrowser // shared by the cases that do not change it
	shared := func(name string, work func(*suite, *foreignBrowser)) testCase {
		return testCase{Name: name, Run: func(s *suite) {
			if b == nil {
				b = launchForeignBrowser(s.group, s)
			}
			work(s, b)
		}}
	}
	return []testCase{
		shared("every form of its address", everyForm),
		shared("its downloads stay in its own folder", ownDownloads),
		shared("what only our own browsers can do", ownOnly),
		shared("secrets in its address", secretAddress),
		own("a frozen tab in a browser that was just joined", coldConnect),
		own("it ends while we are in it", endsMeanwhile),
	}
}

// foreignBrowser is a Chromium that clank did not start.
type foreignBrowser struct {
	cmd  *exec.Cmd
	done chan struct{}
	// data is its user data directory, saves its downloads folder; base and socket are its DevTools addresses.
	data, saves, base, socket string
}

// launchForeignBrowser starts the browser that clank has found. It is closed when the test t ends.
func launchForeignBrowser(t *testing.T, s *suite) *foreignBrowser {
	t.Helper()
	var status struct{ DetectedExecutablePath string }
	s.call("GET", "/", nil, &status)
	dir := t.TempDir()
	b := &foreignBrowser{data: filepath.Join(dir, "data"), saves: filepath.Join(dir, "saves"), done: make(chan struct{})}
	prefs, _ := json.Marshal(m{"download": m{"default_directory": b.saves, "prompt_for_download": false}})
	s.check(os.MkdirAll(filepath.Join(b.data, "Default"), 0o700))
	s.check(os.Mkdir(b.saves, 0o700))
	s.check(os.WriteFile(filepath.Join(b.data, "Default", "Preferences"), prefs, 0o600))
	args := []string{
		"--headless=new", "--remote-debugging-port=0", "--no-first-run", "--disable-gpu",
		"--disable-dev-shm-usage", "--user-data-dir=" + b.data,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	b.cmd = exec.Command(status.DetectedExecutablePath, append(args, "about:blank")...) //nolint:noctx // ended by end
	check.OwnGroup(b.cmd)
	s.check(b.cmd.Start())
	go func() {
		defer close(b.done)
		_ = b.cmd.Wait() // the exit code does not matter
	}()
	t.Cleanup(b.end)
	s.waitUntil("the other browser", func() bool {
		data, _ := os.ReadFile(filepath.Join(b.data, "DevToolsActivePort"))
		port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n")
		b.base, b.socket = "http://127.0.0.1:"+port, "ws://127.0.0.1:"+port+path
		return ok
	})
	return b
}

func (b *foreignBrowser) end() {
	check.KillGroup(b.cmd)
	<-b.done
}

// pages requests the list of pages from the browser itself.
func (b *foreignBrowser) pages(s *suite) (list []struct{ ID, URL, Type string }) {
	s.Helper()
	s.check(json.Unmarshal(b.ask(s, http.MethodGet, "/json/list"), &list))
	return list
}

func (b *foreignBrowser) ask(s *suite, method, path string) []byte {
	s.Helper()
	req, err := http.NewRequestWithContext(s.ctx(), method, b.base+path, nil)
	s.check(err)
	res, err := http.DefaultClient.Do(req)
	s.check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	s.check(err)
	return data
}

// withProfile creates a profile, calls work and deletes it.
func (s *suite) withProfile(body m, work func(query string)) {
	s.Helper()
	s.call("POST", "/profiles/create", body, nil)
	name := fmt.Sprint(body["name"])
	defer s.call("DELETE", "/profiles/"+name, nil, nil)
	work("?profile=" + name)
}

// joinAs creates a profile for a running browser, calls work and deletes it.
func joinAs(s *suite, name string, more m, work func()) {
	s.Helper()
	body := m{"name": name}
	maps.Copy(body, more)
	s.withProfile(body, func(string) {
		attachOnly(s, name)
		work()
	})
}

// attachOnly marks a profile in the profiles file as attach-only, which no request can do.
func attachOnly(s *suite, name string) {
	path := filepath.Join(s.Home, "browser", "profiles.json")
	var file map[string]map[string]m
	s.check(json.Unmarshal(s.read(path), &file))
	file["profiles"][name]["attachOnly"] = true
	data, err := json.Marshal(file)
	s.check(err)
	s.check(os.WriteFile(path, data, 0o600))
}

// worksForeignBrowser opens a page in the browser, acts on it and reads it, then stops the profile, which leaves the
// browser and its existing pages untouched.
func worksForeignBrowser(s *suite, b *foreignBrowser, name, stays string) {
	s.call("POST", "/tabs/open?profile="+name, m{"url": s.Site.URL + "/form", "label": "joined"}, nil)
	var snap snapshotAnswer
	s.call("GET", "/snapshot?profile="+name, nil, &snap)
	save := s.ref(snap, "button", "Save")
	s.send([]requestCase{
		{Path: "/act?profile=" + name, Body: m{"kind": "click", "ref": save}},
		{Path: "/snapshot?profile=" + name, Contains: []string{`button \"Save\"`, "saved"}},
		{Path: "/?profile=" + name, Contains: []string{`"running":true`, `"cdpReady":true`, `"pid":null`}},
		{Path: "/tabs?profile=" + name, Contains: []string{`"running":true`, `"label":"joined"`}},
		{Path: "/profiles", Contains: []string{`"` + name + `"`}},
		{Path: "/stop?profile=" + name, Method: "POST", Contains: []string{`"stopped":true`}},
	}...)
	list := b.pages(s)
	for _, p := range list {
		if p.URL == stays {
			return
		}
	}
	s.Fatalf("the stop closed a tab: %+v", list)
}

func everyForm(s *suite, b *foreignBrowser) {
	for form, address := range map[string]string{
		"http": b.base, "socket": b.socket,
		"bare": strings.Replace(b.base, "http", "ws", 1),
	} {
		joinAs(s, "joined-"+form, m{"cdpUrl": address}, func() {
			worksForeignBrowser(s, b, "joined-"+form, s.Site.URL+"/form")
		})
	}
}

func ownDownloads(s *suite, b *foreignBrowser) {
	joinAs(s, "joined", m{"cdpUrl": b.base}, func() {
		s.call("POST", "/tabs/open?profile=joined", m{"url": s.Site.URL + "/files"}, nil)
		s.send([]requestCase{
			{Path: "/wait/download?profile=joined", Body: m{"timeoutMs": 500}, Status: 501},
			{Path: "/download?profile=joined", Body: m{"ref": "e1", "path": "x.txt"}, Status: 501},
			{Path: "/act?profile=joined", Body: m{"kind": "click", "selector": "#get"}, Excludes: []string{"downloads"}},
		}...)
		s.waitUntil("the file in the folder of that browser", func() bool {
			data, err := os.ReadFile(filepath.Join(b.saves, "report.txt"))
			if errors.Is(err, os.ErrNotExist) {
				return false
			}
			return bytes.Equal(data, []byte("the report"))
		})
	})
}

func coldConnect(s *suite, b *foreignBrowser) {
	b.ask(s, http.MethodPut, "/json/new?"+url.QueryEscape(s.Site.URL+"/freeze"))
	s.waitUntil("the page that freezes", func() bool { return s.Site.Hits("/frozen") > 0 })
	joinAs(s, "cold", m{"cdpUrl": b.base}, func() {
		begin := time.Now()
		s.call("POST", "/tabs/open?profile=cold", m{"url": s.Site.URL + "/form", "label": "warm"}, nil)
		s.send(requestCase{Path: "/tabs?profile=cold", Contains: []string{"/freeze", "warm"}})
		s.send(requestCase{Path: "/snapshot?profile=cold&targetId=warm", Contains: []string{`button \"Save\"`}})
		s.wantWithin(10*time.Second, begin)
	})
}

func ownOnly(s *suite, b *foreignBrowser) {
	joinAs(s, "joined", m{"cdpUrl": b.socket}, func() {
		s.send([]requestCase{
			{Path: "/start?profile=joined", Method: "POST"},
			{Path: "/start?profile=joined&headless=true", Method: "POST", Status: 400},
			{Path: "/reset-profile?profile=joined", Method: "POST", Status: 400},
			{Path: "/doctor?profile=joined", Contains: []string{`"attach-target"`, `"ok":true`}},
			{Path: "/doctor?profile=joined&live=1", Contains: []string{`"live-snapshot"`, `"ok":true`}},
		}...)
	})
}

func secretAddress(s *suite, b *foreignBrowser) {
	address := strings.Replace(b.base, "http://", "http://ada:hunter2@", 1) + "/?token=hunter3"
	for _, x := range []requestCase{
		{Path: "/profiles/create", Body: m{"name": "secret", "cdpUrl": address}},
		{Path: "/?profile=secret"},
		{Path: "/tabs?profile=secret"},
		{Path: "/profiles"},
		{Path: "/doctor?profile=secret"},
		{Path: "/profiles/secret", Method: "DELETE"},
	} {
		x.Excludes = []string{"hunter2", "hunter3"}
		x.Run(s)
	}
}

func endsMeanwhile(s *suite, b *foreignBrowser) {
	joinAs(s, "mortal", m{"cdpUrl": b.base}, func() {
		s.call("POST", "/tabs/open?profile=mortal", m{"url": s.Site.URL + "/plain"}, nil)
		check.KillGroup(b.cmd)
		<-b.done
		s.waitUntil("the profile to be told as not running", func() bool {
			var list struct{ Running bool }
			s.call("GET", "/tabs?profile=mortal", nil, &list)
			return !list.Running
		})
		s.send(requestCase{
			Path: "/tabs/open?profile=mortal", Body: m{"url": "SITE/plain"}, Status: 409,
			Excludes: []string{"restart"},
		})
	})
}
