package browsermgr_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/cdp"
	"clank/browsermgr/control"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/go-rod/rod/lib/proto"
)

// kinds are the kinds of state that a page can leave behind. leave leaves it, find returns it; each place has another
// word for mine.
var kinds = []struct {
	name, leave, find string
	ends              bool // with the browser
}{
	{"cookie", `document.cookie = "k=mine; max-age=3600"`, `/k=(\w+)/.exec(document.cookie)?.[1]`, false},
	{"cookie of the server", `await fetch("/login?mine")`, `await (await fetch("/who")).text()`, false},
	{"session cookie", `document.cookie = "s=mine"`, `/s=(\w+)/.exec(document.cookie)?.[1]`, true},
	{"localStorage", `localStorage.k = "mine"`, `localStorage.k`, false},
	{
		"IndexedDB", `await new Promise(done => { indexedDB.open("mine").onsuccess = done })`,
		`(await indexedDB.databases()).map(d => d.name).join()`, false,
	},
	{
		"Cache API", `await (await caches.open("c")).put("/k", new Response("mine"))`,
		`await (await caches.match("/k"))?.text()`, false,
	},
	{
		"service worker", `await navigator.serviceWorker.register("/sw.js?mine"); await navigator.serviceWorker.ready`,
		`(await navigator.serviceWorker.getRegistrations())[0]?.active.scriptURL.split("?")[1]`, false,
	},
	{
		"file system", `await (await navigator.storage.getDirectory()).getFileHandle("mine", {create: true})`,
		`(await Array.fromAsync((await navigator.storage.getDirectory()).keys())).join()`, false,
	},
	{
		"HTTP cache", `await (await fetch("/cached", {headers: {"X-Body": "mine"}})).text()`,
		`await fetch("/cached", {cache: "only-if-cached", mode: "same-origin"}).then(r => r.text(), () => "")`, false,
	},
	{"HTTP login", `await new Promise(done => { const r = new XMLHttpRequest(); r.open("GET", "/basic", true, "mine", "pw"); r.onload = done; r.send() })`, `await (await fetch("/basic", {headers: {"X-Quiet": "1"}})).text()`, true},
	{
		"permission", `sessionStorage.granted = "mine"`,
		`(await navigator.permissions.query({name: "geolocation"})).state === "granted" ? sessionStorage.granted ?? "mine of others" : ""`, true,
	},
	{"clipboard", `await navigator.clipboard.writeText("mine")`, `await navigator.clipboard.readText()`, true},
	{"HSTS", "", "", false},
	{"download", "", "", false},
	{"visited link", "", "", false},
}

// byHand leaves or finds the kinds that need more than a script.
var byHand = map[string]func(v visit, leave bool) (found string){
	"HSTS": visit.strictTransport, "download": visit.download, "visited link": visit.visitedLink,
}

// leavingSite serves the page, of one origin, to all places.
func leavingSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>Here</title><style>a { position: absolute; inset: 0; background: #fff }
			a:visited { background: #f00 }</style><input type=file><a href="/who"></a>`)
	})
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "login", Value: r.URL.RawQuery, MaxAge: 3600, HttpOnly: true})
	})
	mux.HandleFunc("GET /who", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("login"); err == nil {
			fmt.Fprint(w, c.Value)
		}
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="kept.txt"`)
		fmt.Fprint(w, r.URL.RawQuery)
	})
	mux.HandleFunc("GET /sw.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
	})
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

// visit is a visit to the site in one place.
type visit struct {
	t    *testing.T
	name string
	word string // what the place leaves
	hsts string // host and port of a site that wants to be visited with TLS only
	home string
	use  *browsermgr.Lease
	tab  *page.Tab
}

// strictTransport visits a site over TLS that then requires TLS (HSTS); found is the word if a plain visit is upgraded.
func (v visit) strictTransport(leave bool) (found string) {
	v.t.Helper()
	address := "http://" + v.hsts
	if leave {
		address = "https://" + v.hsts
	}
	tab, err := v.use.NewTab(v.t.Context(), page.TabOptions{URL: address})
	check.Must(v.t, err)
	if strings.HasPrefix(tab.URL(), "https://") {
		found = v.word
	}
	check.Must(v.t, tab.Close(v.t.Context()))
	return found
}

// visitedLink follows a link, which is red from then on: scripts cannot read that, but people see it; found is the word
// if it is red.
func (v visit) visitedLink(leave bool) (found string) {
	v.t.Helper()
	begin := v.run("return location.origin")
	isRed := func() bool {
		tab, err := v.use.NewTab(v.t.Context(), page.TabOptions{URL: begin})
		check.Must(v.t, err)
		defer tab.Close(v.t.Context())
		shoot, session := proto.PageCaptureScreenshot{}, tab.MainFrame().Session
		got, err := cdp.Ask[proto.PageCaptureScreenshotResult](v.t.Context(), session, shoot)
		check.Must(v.t, err)
		picture, err := png.Decode(bytes.NewReader(got.Data))
		check.Must(v.t, err)
		r, g, _, _ := picture.At(300, 300).RGBA()
		return r > g
	}
	if leave {
		tab, err := v.use.NewTab(v.t.Context(), page.TabOptions{URL: begin})
		check.Must(v.t, err)
		follow := page.Action{Kind: actiontable.KindEvaluate, Fn: `() => document.querySelector("a").click()`}
		check.Must(v.t, check.Err(tab.Act(v.t.Context(), follow)))
		eventually(v.t, "a red link", isRed)
		check.Must(v.t, tab.Close(v.t.Context()))
		return ""
	}
	for range 3 { // a browser that has just started reads its history beside its first pages
		if isRed() {
			return v.word
		}
	}
	return ""
}

// download downloads a file; found are the words of the files of the place and of those that may be uploaded there.
// Only the operator reads the operator's downloads.
func (v visit) download(leave bool) (found string) {
	v.t.Helper()
	i := slices.IndexFunc(v.use.Observers, func(o page.Observer) bool { _, ok := o.(*files.Transfers); return ok })
	transfers := v.use.Observers[i].(*files.Transfers)
	if leave {
		click := page.Action{Kind: actiontable.KindEvaluate, Fn: `() => {
			const a = document.createElement("a"); a.href = "/file?` + v.word + `"; a.download = ""; a.click()
		}`}
		_, got, err := transfers.PerformAction(v.t.Context(), v.tab, click)
		if err != nil || len(got) != 1 || got[0].Path == "" {
			v.t.Fatalf("%s: downloaded %+v, %v", v.name, got, err)
		}
		return ""
	}
	downloads := filepath.Join(v.home, "downloads")
	check.Must(v.t, filepath.WalkDir(downloads, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "kept.txt") {
			return err
		}
		mine := filepath.Dir(path) == downloads && !strings.Contains(v.name, "@")
		err = transfers.Upload(v.t.Context(), v.tab, files.UploadRequest{Paths: []string{path}, Element: "input"})
		switch {
		case err == nil || mine:
			text, err := os.ReadFile(path)
			found += string(text)
			return err
		case strings.Contains(v.name, "@"):
			check.Fails(v.t, err, browsermgr.ErrInvalid, "another place")
		}
		return nil
	}))
	return found
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

// grant grants the page permissions, which a browser forgets when it exits.
func (v visit) grant(names ...string) {
	v.t.Helper()
	origin := v.run("return location.origin")
	for _, name := range names {
		req := proto.BrowserSetPermission{
			Permission: &proto.BrowserPermissionDescriptor{Name: name}, Setting: proto.BrowserPermissionSettingGranted,
			Origin: origin,
		}
		check.Must(v.t, v.use.Browser.RootSession().Do(v.t.Context(), req))
	}
}

// find returns the state of each kind.
func (v visit) find() (found []string) {
	v.t.Helper()
	v.grant("clipboard-read", "clipboard-write")
	for _, k := range kinds {
		if do := byHand[k.name]; do != nil {
			found = append(found, do(v, false))
			continue
		}
		found = append(found, v.run("return String("+k.find+")"))
	}
	return found
}

// leave leaves state of all kinds.
func (v visit) leave() {
	v.t.Helper()
	for _, k := range kinds {
		if do := byHand[k.name]; do != nil {
			do(v, true)
			continue
		}
		v.run(k.leave)
	}
	v.grant("geolocation")
}

var (
	otherHalf       = flag.Bool("other", false, "the test that make test leaves out")
	isolationPlaces = flag.Int("isolation.places", 0, "how many places take part in it, if more than three")
)

// TestNothingThatAPageLeavesCrossesPlaces has a page leave state in each place. Only some browsers run at once, so the
// places are suspended and resumed meanwhile. "make other-half" runs it, and "make isolation" with many places.
func TestNothingThatAPageLeavesCrossesPlaces(t *testing.T) {
	if !*otherHalf && *isolationPlaces == 0 {
		t.Skip("make other-half runs it")
	}
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	site, keys := leavingSite(t), stateKeys("key of this test")
	hsts, flags := strictSite(t)
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.MaxRunning, c.Args = 2, flags })
		m.StateKeys, m.NewObservers = keys, (&control.Features{Dir: m.Home}).Observe
	})
	names := []string{"clank", "clank@server-1", "clank@person-1"}
	for n := 2; len(names) < *isolationPlaces; n++ {
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
		word := fmt.Sprintf("mine%dx", i)
		tab, err := u.NewTab(t.Context(), page.TabOptions{URL: site + "/?visited=" + word})
		check.Must(t, err)
		woke += time.Since(begun)
		do(visit{t, names[i], word, hsts, m.Home, u, tab})
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
				mayEnd := kinds[k].ends || isPacked(name) && kinds[k].name == "HTTP cache"
				switch {
				case got == v.word || mayEnd && !strings.Contains(got, "mine"):
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
	for i, name := range names {
		stop(t, findProfile(t, m, name))
		leaks += searchState(t, m.Home, name, keys, fmt.Sprintf("mine%dx", i))
	}
	t.Logf("isolation: places=%d kinds=%d leaks=%d mb_per_place=%d wake_ms=%d", // and the history, in the files
		len(names), len(kinds)+1, leaks, memory/len(names), woke.Milliseconds()/int64(len(names)))

	_, err := findProfile(t, m, names[1]).Reset(t.Context())
	check.Must(t, err)
	at(1, func(v visit) {
		for k, got := range v.find() {
			if strings.Contains(got, "mine") && kinds[k].name != "download" { // a file, and no state
				t.Errorf("%s outlives a reset", kinds[k].name)
			}
		}
	})
	if deleted, err := m.DeleteProfile(t.Context(), names[2]); err != nil || !deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	placesAreListed(t, m, slices.Delete(names, 2, 3)[1:])
}

type giveKeys = func(context.Context) ([]string, error)

// stateKeys returns the keys that encrypt the state of people's places.
func stateKeys(keys ...string) giveKeys {
	return func(context.Context) ([]string, error) { return keys, nil }
}

func isPacked(name string) bool { return strings.Contains(name, "@person-") }

// strictSite serves a site that requires TLS. The flags make a browser find it and accept its certificate.
func strictSite(t *testing.T) (address string, flags []string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=3600")
	}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of visits without
	key := sha256.Sum256(server.Certificate().RawSubjectPublicKeyInfo)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	check.Must(t, err)
	return "strict.example:" + port, []string{
		"--host-resolver-rules=MAP strict.example 127.0.0.1",
		"--ignore-certificate-errors-spki-list=" + base64.StdEncoding.EncodeToString(key[:]),
	}
}

// searchState searches all files of a place whose browser has ended, the history as a database, and returns how many
// contain the word of another place. A person's are packed.
func searchState(t *testing.T, home, name string, keys giveKeys, word string) (leaks int) {
	t.Helper()
	dir := filepath.Join(home, "browser", name, "user-data")
	if _, err := os.Stat(dir); isPacked(name) != errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state of %s in the clear: %v", name, err)
	}
	check.Must(t, profile.UnpackState(t.Context(), dir, keys))
	words := regexp.MustCompile(`m\x00?i\x00?n\x00?e(\x00?[0-9])+\x00?x`) // in UTF-8 or UTF-16
	visited := false
	check.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, found := range words.FindAll(data, -1) {
			if got := strings.ReplaceAll(string(found), "\x00", ""); got != word {
				leaks++
				t.Errorf("%q is found in %s of %s", got, path, name)
			}
		}
		visited = visited || e.Name() == "History" && strings.Contains(string(data), "visited="+word)
		return err
	}))
	if !visited {
		t.Errorf("the history of %s is lost", name)
	}
	return leaks
}

// TestTheStateOfAPersonIsEncrypted ends a browser, and then clank, in each possible way.
func TestTheStateOfAPersonIsEncrypted(t *testing.T) {
	const name = "clank@person-1"
	base := site(t)
	m := manager(t, func(m *browsermgr.Manager) { m.StateKeys = stateKeys("one key") })
	dir := filepath.Join(m.Home, "browser", name)
	clear := filepath.Join(dir, "user-data")
	p := findProfile(t, m, name)
	begin := func(want string) {
		t.Helper()
		u, err := p.Acquire(t.Context(), true)
		check.Must(t, err)
		defer u.Release()
		tab, err := u.NewTab(t.Context(), page.TabOptions{URL: base + "/two"})
		check.Must(t, err)
		v := visit{t: t, use: u, tab: tab}
		if got := v.run(`return String(localStorage.k)`); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		v.run(`localStorage.k = "kept"`)
	}
	isPacked := func() bool {
		left, err := os.ReadDir(dir)
		return err == nil && len(left) == 1 && left[0].Name() == profile.PackName
	}
	begin("undefined")
	stop(t, p)
	if !isPacked() {
		t.Error("after a stop it is not packed")
	}
	begin("kept")
	kill(t, m)
	eventually(t, "packing after a crash of the browser", isPacked)

	check.Must(t, profile.UnpackState(t.Context(), clear, m.StateKeys)) // as clank leaves it that is killed
	next := newManager(t, m.Home)
	next.StateKeys = m.StateKeys
	check.Must(t, next.Open(t.Context()))
	eventually(t, "packing after a crash of clank", isPacked)
	check.Must(t, next.Close(t.Context()))
	placesAreListed(t, m, []string{name})

	m.StateKeys = stateKeys("another key")
	_, err := p.Acquire(t.Context(), true)
	pack := filepath.Join(dir, profile.PackName)
	check.Fails(t, err, browsermgr.ErrUnavailable, pack, "another key", name+" reset-profile")
	if !isPacked() {
		t.Error("what cannot be read is gone")
	}
	if moved, err := p.Reset(t.Context()); err != nil || !moved.Moved || moved.To != "" {
		t.Errorf("reset: %+v, %v", moved, err)
	}
	check.Fails(t, check.Err(os.Stat(dir)), os.ErrNotExist)
	begin("undefined")
	stop(t, p)
}

// TestAPlaceThatIsLeftIsForgotten makes clank leave a server while a browser of it runs.
func TestAPlaceThatIsLeftIsForgotten(t *testing.T) {
	m := manager(t, nil)
	for _, name := range []string{"clank@server-1", "clank@server-12"} {
		check.Must(t, findOrCreate(t, m, name).Start(t.Context(), browsermgr.StartOptions{}))
	}
	// of one that ended
	check.Must(t, os.MkdirAll(filepath.Join(m.Home, "browser", findOrCreate(t, m, "work@server-1").Name(), "user-data"),
		0o700))
	check.Must(t, m.RemovePlace(t.Context(), "server-1"))
	placesAreListed(t, m, []string{"clank@server-12"})
	left, err := filepath.Glob(filepath.Join(m.Home, "browser", "*server*"))
	if err != nil || len(left) != 1 || len(running(t, m)) != 1 {
		t.Errorf("left %q, %v", left, err)
	}
	check.Must(t, m.RemovePlace(t.Context(), "server-2"))
	for _, place := range []sessions.Place{"", "..", "server-*", "server-1/.."} {
		check.Fails(t, m.RemovePlace(t.Context(), place), browsermgr.ErrInvalid)
	}
}

func findOrCreate(t *testing.T, m *browsermgr.Manager, name string) *browsermgr.Profile {
	t.Helper()
	check.Must(t, m.CheckInstance(name))
	return findProfile(t, m, name)
}

// placesAreListed checks which places have state, and that the memory of those that run is reported.
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
		if !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), "2 run") ||
			!strings.Contains(err.Error(), "in use") {
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
	for name, want := range map[string]string{
		"user@server-1": `the browser of profile "user" is not started here`, "nobody@": "invalid profile name",
		"clank@server-1@server-2": "invalid profile name",
	} {
		check.Fails(t, m.CheckInstance(name), nil, want)
	}
	if err := m.CheckInstance("clank@server-1"); err != nil {
		t.Error(err)
	}
	check.Fails(t, check.Err(m.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "clank@server-1"})),
		nil, `"clank@server-1"`)
}
