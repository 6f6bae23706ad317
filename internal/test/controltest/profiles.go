package controltest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"clank/internal/test/check"
)

// profileLifeCases returns the cases in which profiles are created, listed, used and deleted.
func profileLifeCases() []testCase {
	create := func(body m) requestCase { return requestCase{Path: "/profiles/create", Body: body} }
	refused := func(name string, status int, says string, body m) requestCase {
		x := create(body)
		x.Name, x.Status, x.Contains = name, status, []string{says}
		return x
	}
	list := []requestCase{
		refused("no name", 400, "name is required", m{}),
		refused("a bad name", 400, "invalid profile name", m{"name": "Bad Name"}),
		refused("the name of a profile that is there", 409, "already exists", m{"name": "clank"}),
		refused("a bad address", 400, "cdpUrl", m{"name": "remote", "cdpUrl": "ftp://127.0.0.1/"}),
		refused("a directory without its driver", 400, "driver=existing-session is required",
			m{"name": "odd", "userDataDir": os.TempDir()}),
		{
			Name: "delete the default profile", Method: "DELETE", Path: "/profiles/clank", Status: 400,
			Contains: []string{"cannot delete the default profile"},
		},
		{
			Name: "delete an unknown profile", Method: "DELETE", Path: "/profiles/nosuch", Status: 404,
			Contains: []string{"not found"},
		},
		{
			Name: "delete a bad name", Method: "DELETE", Path: "/profiles/Bad%20Name", Status: 400,
			Contains: []string{"invalid profile name"},
		},
		{Name: "a remote profile is not reset", Method: "POST", Path: "/reset-profile?profile=user", Status: 400},
		{Name: "doctor", Path: "/doctor", Members: []string{"ok", "profile", "transport", "checks", "status"}},
		{
			Name: "doctor of a running browser, in depth", Path: "/doctor?deep=true", Page: "/form",
			Contains: []string{"live-snapshot"},
		},
		{Name: "status", Path: "/", Members: []string{
			"enabled", "profile", "driver", "transport", "running", "cdpReady", "cdpHttp", "pageReady", "pid", "cdpPort",
			"cdpUrl", "chosenBrowser",
			"userDataDir", "color", "headless", "headlessSource", "noSandbox", "executablePath", "attachOnly", "graphics",
		}},
	}
	return append(requestCases(list),
		testCase{Name: "a life", Run: profileLife},
		testCase{Name: "a running browser is told and stopped", Run: startStop},
		testCase{Name: "one is stopped while another works", Run: stopBeside},
		testCase{Name: "to ask about a person's browser touches nothing", Run: onlyAsked},
		testCase{Name: "no orphan after kill -9", Run: orphanedBrowser, Program: true},
	)
}

type profileEntry struct {
	Name, Transport, Color, Driver string
	CDPPort                        *int
	Running, IsDefault, IsRemote   bool
	TabCount                       int
}

func listProfiles(s *suite) map[string]profileEntry {
	var answer struct{ Profiles []profileEntry }
	s.call("GET", "/profiles", nil, &answer)
	out := map[string]profileEntry{}
	for _, p := range answer.Profiles {
		out[p.Name] = p
	}
	return out
}

func profileLife(s *suite) {
	var made struct {
		Profile, Transport, Color string
		CDPPort                   int
		UserDataDir               *string
		IsRemote                  bool
	}
	s.call("POST", "/profiles/create", m{"name": "work", "driver": "clawd"}, &made)
	if made.CDPPort < 18800 || made.CDPPort > 18899 || made.Transport != "cdp" || made.UserDataDir != nil ||
		made.IsRemote {
		s.Fatalf("made %+v", made)
	}
	s.call("POST", "/tabs/open?profile=work", m{"url": s.Site.URL + "/plain"}, nil)
	all := listProfiles(s)
	if p := all["work"]; !p.Running || p.TabCount < 1 || p.IsDefault || p.CDPPort == nil || *p.CDPPort != made.CDPPort {
		s.Fatalf("listed as %+v", p)
	}
	if !all["clank"].IsDefault || all["user"].Driver != "existing-session" {
		s.Fatalf("the built-in ones: %+v %+v", all["clank"], all["user"])
	}
	var reset struct {
		Moved    bool
		From, To string
	}
	s.call("POST", "/reset-profile?profile=work", nil, &reset)
	if _, err := os.Stat(reset.From); !reset.Moved || err == nil {
		s.Fatalf("reset %+v, the directory is there: %v", reset, err == nil)
	}
	var renamed struct{ Profile, From string }
	s.call("POST", "/profiles/work/rename", m{"name": "shop"}, &renamed)
	all = listProfiles(s)
	if _, there := all["work"]; there || all["shop"].Name != "shop" || renamed.Profile != "shop" ||
		renamed.From != "work" {
		s.Fatalf("renamed %+v, there are %+v", renamed, all)
	}
	var gone struct{ Deleted bool }
	s.call("DELETE", "/profiles/shop", nil, &gone)
	all = listProfiles(s)
	if _, there := all["shop"]; there {
		s.Fatalf("the profile is still listed, deleted = %v", gone.Deleted)
	}
}

func startStop(s *suite) {
	s.call("POST", "/stop", nil, nil)
	s.call("POST", "/start?headless=true", nil, nil)
	var status struct {
		Running, CDPReady bool
		PID               *int
		Headless          bool
		HeadlessSource    string
	}
	s.call("GET", "/", nil, &status)
	if !status.Running || !status.CDPReady || status.PID == nil || !status.Headless || status.HeadlessSource != "request" {
		s.Fatalf("after the start: %+v", status)
	}
	for _, want := range []bool{true, false} {
		var stop struct{ Stopped bool }
		s.call("POST", "/stop", nil, &stop)
		s.wantEqual("stopped", stop.Stopped, want)
	}
	var list struct {
		Running bool
		Tabs    []any
	}
	s.call("GET", "/tabs", nil, &list)
	if list.Running || list.Tabs == nil || len(list.Tabs) > 0 {
		s.Fatalf("tabs of a stopped browser: %+v", list)
	}
}

// stopBeside stops a profile that is permanently busy while another one is used.
func stopBeside(s *suite) {
	s.withProfile(m{"name": "busy"}, func(query string) {
		s.call("POST", "/tabs/open"+query, m{"url": s.Site.URL + "/plain"}, nil)
		hung := make(chan error, 1)
		ctx := s.ctx()
		go func() {
			_, err := s.Request(ctx, "POST", "/act"+query, m{
				"kind": "evaluate", "fn": "fetch('/hit/busy'); for(;;);",
				"timeoutMs": 20000,
			})
			hung <- err
		}()
		s.openPage("/form")
		begin := time.Now()
		s.call("POST", "/stop"+query, nil, nil)
		s.check(<-hung)
		s.wantPage("document.title", "Form")
		s.wantWithin(15*time.Second, begin)
	})
}

// onlyAsked sends all read requests for the profile of the user's own browser, which is not running here.
func onlyAsked(s *suite) {
	before, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	s.check(err)
	begin := time.Now()
	for _, path := range []string{"/?profile=user", "/tabs?profile=user", "/doctor?profile=user", "/profiles"} {
		s.send(requestCase{Path: path, Excludes: []string{`"running":true,"tabs"`}})
	}
	s.wantWithin(10*time.Second, begin)
	after, err := os.ReadDir(filepath.Join(s.Home, "browser"))
	s.check(err)
	s.wantEqual("folders of browsers", len(after), len(before))
}

func orphanedBrowser(s *suite) {
	var first struct{ PID int }
	s.openPage("/plain")
	s.call("GET", "/", nil, &first)
	if first.PID == 0 {
		s.Fatal("no process is told")
	}
	s.Kill()
	s.waitUntil("the browser of the dead server to end", func() bool { return !check.IsRunning(first.PID) })
	s.check(s.Restart(s.ctx()))
	s.openPage("/plain")
}

// profileReportCases returns the cases about reports on profiles, browsers and tabs, and about the isolation of
// profiles.
func profileReportCases() []testCase {
	return []testCase{
		{Name: "a doctor's report of a browser that does not run", Run: doctorAtRest},
		{Name: "a doctor's report of one that runs", Run: doctorAtWork},
		{Name: "a profile in the list", Run: profileEntries},
		{Name: "graphics", Run: graphicsTold},
		{Name: "profiles share neither cookies nor stores", Run: profileIsolation},
		{Name: "profiles do not know each other's tabs", Run: tabsOfProfiles},
		{Name: "a window without a display", Run: noDisplay},
	}
}

type doctorReport struct {
	OK                 bool
	Profile, Transport string
	Checks             []struct{ ID, Label, Status, Summary, FixHint string }
	Status             m
}

func (r doctorReport) checkReport(ids ...string) error {
	seen := map[string]string{}
	for _, c := range r.Checks {
		if c.Label == "" || c.Summary == "" || !slices.Contains([]string{"pass", "warn", "fail", "info"}, c.Status) ||
			seen[c.ID] != "" {
			return fmt.Errorf("check %+v", c)
		}
		if c.Status == "fail" == r.OK {
			return fmt.Errorf("ok = %v with %+v", r.OK, c)
		}
		seen[c.ID] = c.Status
	}
	for _, id := range ids {
		if id, status, _ := strings.Cut(id, "="); seen[id] == "" || status != "" && seen[id] != status {
			return fmt.Errorf("check %s is %q, want %q", id, seen[id], status)
		}
	}
	if r.Status["profile"] == nil || r.Profile == "" || r.Transport != "cdp" {
		return fmt.Errorf("profile %q, transport %q, status %v", r.Profile, r.Transport, r.Status)
	}
	return nil
}

func doctorAtRest(s *suite) {
	s.call("POST", "/stop", nil, nil)
	var got doctorReport
	s.call("GET", "/doctor", nil, &got)
	s.check(got.checkReport("plugin-enabled=pass", "profile=pass", "managed-executable=pass", "headless-mode", "display",
		"linux-sandbox", "cdp-http=info", "cdp-websocket=info", "graphics=info"))
	s.wantEqual("running", got.Status["running"], false)
}

func doctorAtWork(s *suite) {
	s.openPage("/form")
	for _, query := range []string{"deep=true", "live=yes"} {
		var got doctorReport
		s.call("GET", "/doctor?"+query, nil, &got)
		s.check(got.checkReport("cdp-http=pass", "cdp-websocket=pass", "live-snapshot=pass", "graphics"))
	}
	var plain doctorReport
	s.call("GET", "/doctor?deep=false", nil, &plain)
	if plain.checkReport("live-snapshot") == nil {
		s.Fatal("it looked at a page unasked")
	}
	s.check(plain.checkReport("cdp-websocket=pass"))
}

func profileEntries(s *suite) {
	s.openPage("/form")
	var got struct{ Profiles []m }
	s.call("GET", "/profiles", nil, &got)
	defaults := 0
	for _, p := range got.Profiles {
		for _, name := range []string{
			"name", "transport", "cdpPort", "cdpUrl", "color", "driver", "running", "tabCount",
			"isDefault", "isRemote", "reconcileReason",
		} {
			if _, ok := p[name]; !ok {
				s.Fatalf("no %s in %v", name, p)
			}
		}
		if p["isDefault"] == true {
			defaults++
		}
		if colour, _ := p["color"].(string); !regexp.MustCompile(`^#[0-9A-F]{6}$`).MatchString(colour) {
			s.Fatalf("colour %q", colour)
		}
		if p["name"] == "clank" && (p["running"] != true || p["driver"] != "openclaw" || p["tabCount"] == 0.0) {
			s.Fatalf("the running one: %v", p)
		}
		if p["name"] == "user" && (p["driver"] != "existing-session" || p["color"] != "#00AA00") {
			s.Fatalf("the person's: %v", p)
		}
	}
	s.wantEqual("default profiles", defaults, 1)
}

func graphicsTold(s *suite) {
	s.openPage("/form")
	var got struct {
		Graphics            *struct{ Acceleration, Renderer, Backend string }
		PageReady, Headless bool
		HeadlessSource      string
		UserDataDir         string
	}
	s.waitForAnswer("/", &got, func() bool { return got.Graphics != nil })
	if !slices.Contains([]string{"hardware", "software", "unknown"}, got.Graphics.Acceleration) || !got.PageReady ||
		!got.Headless ||
		!slices.Contains([]string{"request", "env", "profile", "config", "linux-display-fallback", "default"},
			got.HeadlessSource) || !filepath.IsAbs(got.UserDataDir) {
		s.Fatalf("status %+v", got)
	}
}

func profileIsolation(s *suite) {
	s.openPage("/plain")
	s.run("document.cookie = 'mine=1'; localStorage.setItem('mine', '1'); 1")
	s.call("POST", "/profiles/create", m{"name": "apart"}, nil)
	s.call("POST", "/tabs/open?profile=apart", m{"url": s.Site.URL + "/plain"}, nil)
	s.send([]requestCase{
		{
			Path: "/act?profile=apart", Body: m{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"},
			Contains: []string{`"result":",0"`},
		},
		{Path: "/cookies?profile=apart", Excludes: []string{"mine"}},
		{
			Path: "/act", Body: m{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"},
			Contains: []string{"mine=1"},
		},
	}...)
	s.call("POST", "/cookies/clear", nil, nil)
}

// tabsOfProfiles continues with the profile of the previous case.
func tabsOfProfiles(s *suite) {
	t := s.newTab("/form", "shared")
	for _, name := range []string{t.TargetID, "shared"} {
		s.send(requestCase{
			Path: "/snapshot?profile=apart&targetId=" + name, Status: 404,
			Contains: []string{"tab not found"},
		})
	}
	s.closeTab(t.TargetID)
	s.call("DELETE", "/profiles/apart", nil, nil)
}

func noDisplay(s *suite) {
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		return // there is one
	}
	s.call("POST", "/stop", nil, nil)
	x := requestCase{Method: "POST", Path: "/start?headless=false", Status: 409, Reason: "no_display_for_headed_profile"}
	a := x.Send(s)
	var told struct {
		Details struct {
			Profile, HeadlessSource           string
			RequestedHeadless, DisplayPresent *bool
		}
	}
	x.checkAnswer(s, a)
	s.check(a.Into(&told))
	if d := told.Details; d.Profile != "clank" || d.HeadlessSource != "request" || d.RequestedHeadless == nil ||
		d.DisplayPresent == nil || *d.DisplayPresent {
		s.Fatalf("details of %s", a.Body)
	}
}
