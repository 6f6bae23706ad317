package controltest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// profileReportCases returns the cases of what is reported about profiles, browsers and tabs, and that profiles
// share nothing.
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
		if c.Label == "" || c.Summary == "" || !slices.Contains([]string{"pass", "warn", "fail", "info"}, c.Status) || seen[c.ID] != "" {
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
	s.check(got.checkReport("plugin-enabled=pass", "profile=pass", "managed-executable=pass", "headless-mode", "display", "linux-sandbox", "cdp-http=info", "cdp-websocket=info", "graphics=info"))
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
		for _, name := range []string{"name", "transport", "cdpPort", "cdpUrl", "color", "driver", "running", "tabCount", "isDefault", "isRemote", "reconcileReason"} {
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
	if !slices.Contains([]string{"hardware", "software", "unknown"}, got.Graphics.Acceleration) || !got.PageReady || !got.Headless ||
		!slices.Contains([]string{"request", "env", "profile", "config", "linux-display-fallback", "default"}, got.HeadlessSource) || !filepath.IsAbs(got.UserDataDir) {
		s.Fatalf("status %+v", got)
	}
}

func profileIsolation(s *suite) {
	s.openPage("/plain")
	s.run("document.cookie = 'mine=1'; localStorage.setItem('mine', '1'); 1")
	s.call("POST", "/profiles/create", m{"name": "apart"}, nil)
	s.call("POST", "/tabs/open?profile=apart", m{"url": s.Site.URL + "/plain"}, nil)
	s.send([]requestCase{
		{Path: "/act?profile=apart", Body: m{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"}, Contains: []string{`"result":",0"`}},
		{Path: "/cookies?profile=apart", Excludes: []string{"mine"}},
		{Path: "/act", Body: m{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"}, Contains: []string{"mine=1"}},
	}...)
	s.call("POST", "/cookies/clear", nil, nil)
}

// tabsOfProfiles goes on with the profile of the case before.
func tabsOfProfiles(s *suite) {
	t := s.newTab("/form", "shared")
	for _, name := range []string{t.TargetID, "shared"} {
		s.send(requestCase{Path: "/snapshot?profile=apart&targetId=" + name, Status: 404, Contains: []string{"tab not found"}})
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
	if d := told.Details; d.Profile != "clank" || d.HeadlessSource != "request" || d.RequestedHeadless == nil || d.DisplayPresent == nil || *d.DisplayPresent {
		s.Fatalf("details of %s", a.Body)
	}
}
