package browsermgr_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// kinds are what a page can leave behind. leave leaves it, find returns "mine" where it is found.
var kinds = []struct {
	name, leave, find string
	ends              bool // with the browser
}{
	{"cookie", `document.cookie = "k=mine; max-age=3600"`, `document.cookie.includes("k=mine") ? "mine" : ""`, false},
	{"cookie of the server", `await fetch("/login")`, `await (await fetch("/who")).text()`, false},
	{"session cookie", `document.cookie = "s=mine"`, `document.cookie.includes("s=mine") ? "mine" : ""`, true},
	{"localStorage", `localStorage.k = "mine"`, `localStorage.k`, false},
	{"IndexedDB", `await new Promise(done => { indexedDB.open("mine").onsuccess = done })`, `(await indexedDB.databases()).map(d => d.name).join()`, false},
	{"Cache API", `await (await caches.open("mine")).put("/k", new Response("mine"))`, `await (await caches.match("/k"))?.text()`, false},
	{"service worker", `await navigator.serviceWorker.register("/sw.js"); await navigator.serviceWorker.ready`, `(await navigator.serviceWorker.getRegistrations()).length ? "mine" : ""`, false},
	{"file system", `await (await navigator.storage.getDirectory()).getFileHandle("mine", {create: true})`, `(await Array.fromAsync((await navigator.storage.getDirectory()).keys())).join()`, false},
	{"HTTP cache", `await (await fetch("/cached", {headers: {"X-Body": "mine"}})).text()`, `await (await fetch("/cached")).text()`, false},
	{"HTTP login", `await new Promise(done => { const r = new XMLHttpRequest(); r.open("GET", "/basic", true, "ada", "pw"); r.onload = done; r.send() })`, `await (await fetch("/basic", {headers: {"X-Quiet": "1"}})).text()`, true},
	{"permission", ``, `(await navigator.permissions.query({name: "geolocation"})).state === "granted" ? "mine" : ""`, true},
	{"clipboard", `await navigator.clipboard.writeText("mine")`, `await navigator.clipboard.readText()`, true},
}

// leavingSite serves a page of one origin to all.
func leavingSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Here</title>")
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "login", Value: "mine", MaxAge: 3600, HttpOnly: true})
	})
	mux.HandleFunc("GET /who", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("login"); err == nil {
			fmt.Fprint(w, c.Value)
		}
	})
	mux.HandleFunc("GET /sw.js", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/javascript") })
	mux.HandleFunc("GET /cached", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		fmt.Fprint(w, r.Header.Get("X-Body"))
	})
	mux.HandleFunc("GET /basic", func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password == "pw" {
			fmt.Fprint(w, "mine")
			return
		}
		if r.Header.Get("X-Quiet") == "" { // a browser that is asked for a login waits for a person
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestNothingThatAPageLeavesCrossesPlaces(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	base := leavingSite(t)
	m := manager(t, nil)
	const mine = "clank@server-1"
	others := []string{"clank", "clank@server-2", "clank@person-1"}
	tabIn := func(name string) func(script string) string {
		t.Helper()
		p := findProfile(t, m, name)
		u, err := p.Acquire(t.Context(), true)
		check.Must(t, err)
		defer u.Release()
		tab, err := u.NewTab(t.Context(), page.TabOptions{URL: base})
		check.Must(t, err)
		clipboard := []proto.BrowserPermissionType{proto.BrowserPermissionTypeClipboardReadWrite, proto.BrowserPermissionTypeClipboardSanitizedWrite}
		if name == mine {
			clipboard = append(clipboard, proto.BrowserPermissionTypeGeolocation)
		}
		grant := proto.BrowserGrantPermissions{Permissions: clipboard, Origin: base}
		check.Must(t, u.Browser.RootSession().Do(t.Context(), grant))
		return func(script string) string {
			t.Helper()
			res, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: "async () => { " + script + " }"})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, script, err)
			}
			return string(res.Value)
		}
	}
	found := func(run func(string) string, find string) bool { return run("return String("+find+")") == `"mine"` }

	run := tabIn(mine)
	for _, k := range kinds {
		run(k.leave)
		if !found(run, k.find) {
			t.Errorf("%s: not found where it was left", k.name)
		}
	}
	for _, name := range others {
		run := tabIn(name)
		for _, k := range kinds {
			if found(run, k.find) {
				t.Errorf("%s of %s is found in %s", k.name, mine, name)
			}
		}
	}
	stop(t, findProfile(t, m, mine))
	run = tabIn(mine)
	for _, k := range kinds {
		if got := found(run, k.find); !k.ends && !got {
			t.Errorf("%s is lost with a restart", k.name)
		}
	}
	placesAreListed(t, m, append(others[1:], mine))

	_, err := findProfile(t, m, mine).Reset(t.Context())
	check.Must(t, err)
	run = tabIn(mine)
	for _, k := range kinds {
		if k.name != "permission" && found(run, k.find) { // which is granted anew
			t.Errorf("%s outlives a reset", k.name)
		}
	}
	if deleted, err := m.DeleteProfile(t.Context(), "clank@server-2"); err != nil || !deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	placesAreListed(t, m, []string{"clank@person-1", mine})
}

// placesAreListed checks which places have a state, and that what they take up is told of those that run.
func placesAreListed(t *testing.T, m *browsermgr.Manager, want []string) {
	t.Helper()
	list, err := m.Profiles(t.Context())
	check.Must(t, err)
	got := map[string]profile.Info{}
	for _, info := range list {
		if info.Place != "" {
			got[info.Name] = info
		}
	}
	for _, name := range want {
		if info, ok := got[name]; !ok || info.Running && info.MemoryMB < 20 || info.MissingFromConfig || info.IsDefault {
			t.Errorf("%s is listed as %+v", name, info)
		}
	}
	if len(got) != len(want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestBrowsersThatAreNotUsedMakeRoom(t *testing.T) {
	base := site(t)
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.MaxRunning = 2 })
	})
	begin := func(name string) error {
		return findProfile(t, m, name).Start(t.Context(), browsermgr.StartOptions{})
	}
	open := func(key, name string) *browsermgr.Window {
		t.Helper()
		return window(t, m, browsermgr.WindowOptions{Key: key, Profile: name, URL: base + "/two"})
	}
	runs := func(want ...string) {
		t.Helper()
		var got []string
		for _, s := range m.Status() {
			if s.Running {
				got = append(got, s.Profile)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("running: %v, want %v", got, want)
		}
	}
	w := open("a", "clank@server-1")
	check.Must(t, begin("clank@server-2"))
	check.Must(t, begin("clank@server-3"))
	runs("clank@server-1", "clank@server-3") // the one with a page stays, though it was used before
	open("b", "clank@server-3")
	for range 5 { // more often than the breaker bears failures
		err := begin("clank@person-1")
		if !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), "2 run") || !strings.Contains(err.Error(), "in use") {
			t.Fatalf("a third one: %v", err)
		}
	}
	runs("clank@server-1", "clank@server-3")
	check.Must(t, w.Close(t.Context()))
	if err := begin("clank@person-1"); err != nil {
		t.Errorf("after a window was closed: %v", err)
	}
	runs("clank@person-1", "clank@server-3")
	stop(t, findProfile(t, m, "clank@person-1"))
	var started sync.WaitGroup
	for _, name := range []string{"clank@server-4", "clank@server-5", "clank@server-6"} { // at once
		started.Go(func() { _ = begin(name) }) // two of them may find the other in use
	}
	started.Wait()
	if n := len(running(t, m)); n != 2 {
		t.Errorf("%d run", n)
	}
}

func TestABrowserOfAPersonHasNoPlaces(t *testing.T) {
	m := manager(t, nil)
	for _, name := range []string{"user@server-1", "nobody@", "clank@server-1@server-2"} {
		if err := m.CheckInstance(name); err == nil {
			t.Errorf("a place may have %q", name)
		}
	}
	if err := m.CheckInstance("clank@server-1"); err != nil {
		t.Error(err)
	}
	if _, err := m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "clank@server-1"}); err == nil {
		t.Error("an instance is made by hand")
	}
}
