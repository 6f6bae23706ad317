package browsermgr_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// kinds are what a page can leave behind. leave leaves it, find returns it; each place has another word for mine.
var kinds = []struct {
	name, leave, find string
	ends              bool // with the browser
}{
	{"cookie", `document.cookie = "k=mine; max-age=3600"`, `/k=(\w+)/.exec(document.cookie)?.[1]`, false},
	{"cookie of the server", `await fetch("/login?mine")`, `await (await fetch("/who")).text()`, false},
	{"session cookie", `document.cookie = "s=mine"`, `/s=(\w+)/.exec(document.cookie)?.[1]`, true},
	{"localStorage", `localStorage.k = "mine"`, `localStorage.k`, false},
	{"IndexedDB", `await new Promise(done => { indexedDB.open("mine").onsuccess = done })`, `(await indexedDB.databases()).map(d => d.name).join()`, false},
	{"Cache API", `await (await caches.open("c")).put("/k", new Response("mine"))`, `await (await caches.match("/k"))?.text()`, false},
	{"service worker", `await navigator.serviceWorker.register("/sw.js?mine"); await navigator.serviceWorker.ready`, `(await navigator.serviceWorker.getRegistrations())[0]?.active.scriptURL.split("?")[1]`, false},
	{"file system", `await (await navigator.storage.getDirectory()).getFileHandle("mine", {create: true})`, `(await Array.fromAsync((await navigator.storage.getDirectory()).keys())).join()`, false},
	{"HTTP cache", `await (await fetch("/cached", {headers: {"X-Body": "mine"}})).text()`, `await fetch("/cached", {cache: "only-if-cached", mode: "same-origin"}).then(r => r.text(), () => "")`, false},
	{"HTTP login", `await new Promise(done => { const r = new XMLHttpRequest(); r.open("GET", "/basic", true, "mine", "pw"); r.onload = done; r.send() })`, `await (await fetch("/basic", {headers: {"X-Quiet": "1"}})).text()`, true},
	{"permission", `sessionStorage.granted = "mine"`, `(await navigator.permissions.query({name: "geolocation"})).state === "granted" ? sessionStorage.granted ?? "mine of others" : ""`, true},
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
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "login", Value: r.URL.RawQuery, MaxAge: 3600, HttpOnly: true})
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
		if user, password, _ := r.BasicAuth(); password == "pw" {
			fmt.Fprint(w, user)
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

// visit is one look at the site in a place.
type visit struct {
	t    *testing.T
	name string
	word string // what the place leaves
	use  *browsermgr.Lease
	tab  *page.Tab
}

func (v visit) run(script string) string {
	v.t.Helper()
	fn := "async () => { " + strings.ReplaceAll(script, "mine", v.word) + " }"
	res, err := v.tab.Act(v.t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: fn})
	if err != nil {
		v.t.Fatalf("%s: %s: %v", v.name, script, err)
	}
	return strings.Trim(string(res.Value), `"`)
}

// grant grants the page permissions, which a browser forgets when it ends.
func (v visit) grant(names ...string) {
	v.t.Helper()
	origin := v.run("return location.origin")
	for _, name := range names {
		req := proto.BrowserSetPermission{
			Permission: &proto.BrowserPermissionDescriptor{Name: name}, Setting: proto.BrowserPermissionSettingGranted, Origin: origin,
		}
		check.Must(v.t, v.use.Browser.RootSession().Do(v.t.Context(), req))
	}
}

// find returns what there is of each kind.
func (v visit) find() (found []string) {
	v.t.Helper()
	v.grant("clipboard-read", "clipboard-write")
	for _, k := range kinds {
		found = append(found, v.run("return String("+k.find+")"))
	}
	return found
}

// leave leaves all kinds.
func (v visit) leave() {
	v.t.Helper()
	for _, k := range kinds {
		v.run(k.leave)
	}
	v.grant("geolocation")
}

// TestNothingThatAPageLeavesCrossesPlaces has one page leave something in each place. Only some browsers run at once,
// so the places are suspended and resumed meanwhile. CLANK_ISOLATION is how many places take part.
func TestNothingThatAPageLeavesCrossesPlaces(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	site := leavingSite(t)
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.MaxRunning = 2 })
	})
	names := []string{"clank", "clank@server-1", "clank@person-1"}
	most, _ := strconv.Atoi(os.Getenv("CLANK_ISOLATION"))
	for n := 2; len(names) < most; n++ {
		names = append(names, fmt.Sprintf("clank@%s-%d", []string{"server", "person"}[n%2], n))
	}
	var woke time.Duration
	memory := 0
	at := func(i int, do func(v visit)) {
		t.Helper()
		begun := time.Now()
		p := findProfile(t, m, names[i])
		u, err := p.Acquire(t.Context(), true)
		check.Must(t, err)
		defer u.Release()
		tab, err := u.NewTab(t.Context(), page.TabOptions{URL: site})
		check.Must(t, err)
		woke += time.Since(begun)
		do(visit{t, names[i], fmt.Sprintf("mine%d", i), u, tab})
		memory += status(t, p).MemoryMB
		check.Must(t, tab.Close(t.Context()))
	}
	leaks := 0
	for i, name := range names {
		at(i, func(v visit) {
			for k, got := range v.find() {
				if strings.Contains(got, "mine") {
					leaks++
					t.Errorf("%s: %q is found in %s, where nothing was left", kinds[k].name, got, name)
				}
			}
			v.leave()
			for k, got := range v.find() {
				if got != v.word {
					t.Errorf("%s: %q is found in %s, where %s was left", kinds[k].name, got, name, v.word)
				}
			}
		})
	}
	memory, woke = 0, 0
	for i, name := range names {
		stop(t, findProfile(t, m, name))
		at(i, func(v visit) {
			for k, got := range v.find() {
				switch {
				case got == v.word || kinds[k].ends && !strings.Contains(got, "mine"):
				case strings.Contains(got, "mine"):
					leaks++
					t.Errorf("%s: %q of another place is found in %s", kinds[k].name, got, name)
				default:
					t.Errorf("%s is lost with a restart of %s", kinds[k].name, name)
				}
			}
		})
	}
	placesAreListed(t, m, names[1:])
	t.Logf("isolation: places=%d kinds=%d leaks=%d mb_per_place=%d wake_ms=%d",
		len(names), len(kinds), leaks, memory/len(names), woke.Milliseconds()/int64(len(names)))

	_, err := findProfile(t, m, names[1]).Reset(t.Context())
	check.Must(t, err)
	at(1, func(v visit) {
		for k, got := range v.find() {
			if strings.Contains(got, "mine") {
				t.Errorf("%s outlives a reset", kinds[k].name)
			}
		}
	})
	if deleted, err := m.DeleteProfile(t.Context(), names[2]); err != nil || !deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	placesAreListed(t, m, slices.Delete(names, 2, 3)[1:])
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
	rested := open("c", "clank@person-1")
	rested.Rest()
	check.Must(t, begin("clank@server-1")) // which stops the one whose task has ended
	runs("clank@server-1", "clank@server-3")
	if err := rested.WithTab(t.Context(), func(*page.Tab) error { return nil }); err != nil {
		t.Errorf("a window goes on in a browser that made room: %v", err)
	}
	runs("clank@person-1", "clank@server-3")
	check.Must(t, rested.Close(t.Context()))
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
