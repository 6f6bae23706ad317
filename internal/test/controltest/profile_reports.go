package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// profileReportCases are what is told of profiles, browsers and tabs; that profiles share nothing.
func profileReportCases() []testCase {
	return []testCase{
		{Name: "a doctor's report of a browser that does not run", Run: doctorAtRest},
		{Name: "a doctor's report of one that runs", Run: doctorAtWork},
		{Name: "a profile in the list", Run: profileEntries},
		{Name: "a tab in the list", Run: tabEntry},
		{Name: "graphics", Run: graphicsTold},
		{Name: "colours that are given", Run: givenColours},
		{Name: "a port is not given twice", Run: profilePorts},
		{Name: "profiles share neither cookies nor stores", Run: profileIsolation},
		{Name: "profiles do not know each other's tabs", Run: tabsOfProfiles},
		{Name: "a window without a display", Run: noDisplay},
	}
}

type doctorReport struct {
	OK                 bool
	Profile, Transport string
	Checks             []struct{ ID, Label, Status, Summary, FixHint string }
	Status             map[string]any
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

func doctorAtRest(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	var got doctorReport
	if err := s.Call(ctx, "GET", "/doctor", nil, &got); err != nil {
		return err
	}
	if err := got.checkReport("plugin-enabled=pass", "profile=pass", "managed-executable=pass", "headless-mode", "display", "linux-sandbox", "cdp-http=info", "cdp-websocket=info", "graphics=info"); err != nil {
		return err
	}
	return wantEqualJSON("running", got.Status["running"], false)
}

func doctorAtWork(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	for _, query := range []string{"deep=true", "live=yes"} {
		var got doctorReport
		if err := s.Call(ctx, "GET", "/doctor?"+query, nil, &got); err != nil {
			return err
		}
		if err := got.checkReport("cdp-http=pass", "cdp-websocket=pass", "live-snapshot=pass", "graphics"); err != nil {
			return err
		}
	}
	var plain doctorReport
	if err := s.Call(ctx, "GET", "/doctor?deep=false", nil, &plain); err != nil {
		return err
	}
	if plain.checkReport("live-snapshot") == nil {
		return errors.New("it looked at a page unasked")
	}
	return plain.checkReport("cdp-websocket=pass")
}

func profileEntries(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	var got struct{ Profiles []map[string]any }
	if err := s.Call(ctx, "GET", "/profiles", nil, &got); err != nil {
		return err
	}
	defaults := 0
	for _, p := range got.Profiles {
		for _, name := range []string{"name", "transport", "cdpPort", "cdpUrl", "color", "driver", "running", "tabCount", "isDefault", "isRemote", "reconcileReason"} {
			if _, ok := p[name]; !ok {
				return fmt.Errorf("no %s in %v", name, p)
			}
		}
		if p["isDefault"] == true {
			defaults++
		}
		if colour, _ := p["color"].(string); !regexp.MustCompile(`^#[0-9A-F]{6}$`).MatchString(colour) {
			return fmt.Errorf("colour %q", colour)
		}
		if p["name"] == "clank" && (p["running"] != true || p["driver"] != "openclaw" || p["tabCount"] == 0.0) {
			return fmt.Errorf("the running one: %v", p)
		}
		if p["name"] == "user" && (p["driver"] != "existing-session" || p["color"] != "#00AA00") {
			return fmt.Errorf("the person's: %v", p)
		}
	}
	return wantEqualJSON("default profiles", defaults, 1)
}

func tabEntry(ctx context.Context, s *controlSuite) error {
	if err := s.closeOtherTabs(ctx); err != nil {
		return err
	}
	t, err := s.NewTab(ctx, "/form", "")
	if err != nil {
		return err
	}
	all, err := s.Tabs(ctx)
	if err != nil {
		return err
	}
	got := findTab(all, t.TargetID)
	if got == nil || !regexp.MustCompile(`^t[1-9]\d*$`).MatchString(got.TabID) || got.SuggestedTargetID != got.TabID || got.Title != "Form" || got.Type != "page" ||
		!regexp.MustCompile(`^[0-9A-F]{32}$`).MatchString(got.TargetID) {
		return fmt.Errorf("tab %+v", got)
	}
	return s.CloseTab(ctx, t.TargetID)
}

func graphicsTold(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/form"); err != nil {
		return err
	}
	var got struct {
		Graphics            *struct{ Acceleration, Renderer, Backend string }
		PageReady, Headless bool
		HeadlessSource      string
		UserDataDir         string
	}
	if err := s.waitForAnswer(ctx, "/", &got, func() bool { return got.Graphics != nil }); err != nil {
		return err
	}
	if !slices.Contains([]string{"hardware", "software", "unknown"}, got.Graphics.Acceleration) || !got.PageReady || !got.Headless ||
		!slices.Contains([]string{"request", "env", "profile", "config", "linux-display-fallback", "default"}, got.HeadlessSource) || !filepath.IsAbs(got.UserDataDir) {
		return fmt.Errorf("status %+v", got)
	}
	return nil
}

func givenColours(ctx context.Context, s *controlSuite) error {
	for given, want := range map[string]string{"#12abEF": "#12ABEF", "red": "", "#123": ""} {
		var made struct{ Color string }
		if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "tinted", "color": given}, &made); err != nil {
			return err
		}
		if err := s.Call(ctx, "DELETE", "/profiles/tinted", nil, nil); err != nil {
			return err
		}
		if want != "" && !strings.EqualFold(made.Color, want) || !regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`).MatchString(made.Color) {
			return fmt.Errorf("%s became %s", given, made.Color)
		}
	}
	return nil
}

func profilePorts(ctx context.Context, s *controlSuite) error {
	var first, second struct{ CDPPort int }
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "port-a"}, &first); err != nil {
		return err
	}
	// The address of one is not given to the next.
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "port-b", "cdpUrl": fmt.Sprint("http://127.0.0.1:", first.CDPPort+1)}, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "port-c"}, &second); err != nil {
		return err
	}
	if second.CDPPort == first.CDPPort || second.CDPPort == first.CDPPort+1 {
		return fmt.Errorf("ports %d and %d", first.CDPPort, second.CDPPort)
	}
	for _, name := range []string{"port-a", "port-b", "port-c"} {
		if err := s.Call(ctx, "DELETE", "/profiles/"+name, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func profileIsolation(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/plain"); err != nil {
		return err
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "evaluate", "fn": "document.cookie = 'mine=1'; localStorage.setItem('mine', '1'); 1"}); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "apart"}, nil); err != nil {
		return err
	}
	if err := s.Call(ctx, "POST", "/tabs/open?profile=apart", map[string]any{"url": s.Site.URL + "/plain"}, nil); err != nil {
		return err
	}
	for _, x := range []requestCase{
		{Path: "/act?profile=apart", Body: map[string]any{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"}, Contains: []string{`"result":",0"`}},
		{Path: "/cookies?profile=apart", Excludes: []string{"mine"}},
		{Path: "/act", Body: map[string]any{"kind": "evaluate", "fn": "[document.cookie, localStorage.length].join()"}, Contains: []string{"mine=1"}},
	} {
		if err := x.Run(ctx, s); err != nil {
			return err
		}
	}
	return s.Call(ctx, "POST", "/cookies/clear", nil, nil)
}

// tabsOfProfiles goes on with the profile of the case before.
func tabsOfProfiles(ctx context.Context, s *controlSuite) error {
	t, err := s.NewTab(ctx, "/form", "shared")
	if err != nil {
		return err
	}
	for _, name := range []string{t.TargetID, "shared"} {
		if err := (requestCase{Path: "/snapshot?profile=apart&targetId=" + name, Status: 404, Contains: []string{"tab not found"}}).Run(ctx, s); err != nil {
			return err
		}
	}
	return errors.Join(s.CloseTab(ctx, t.TargetID), s.Call(ctx, "DELETE", "/profiles/apart", nil, nil))
}

func noDisplay(ctx context.Context, s *controlSuite) error {
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		return nil // there is one
	}
	if err := s.Call(ctx, "POST", "/stop", nil, nil); err != nil {
		return err
	}
	x := requestCase{Method: "POST", Path: "/start?headless=false", Status: 409, Reason: "no_display_for_headed_profile"}
	a, err := x.Send(ctx, s)
	if err != nil {
		return err
	}
	var told struct {
		Details struct {
			Profile, HeadlessSource           string
			RequestedHeadless, DisplayPresent *bool
		}
	}
	if err := errors.Join(x.checkAnswer(a), a.Into(&told)); err != nil {
		return err
	}
	if d := told.Details; d.Profile != "clank" || d.HeadlessSource != "request" || d.RequestedHeadless == nil || d.DisplayPresent == nil || *d.DisplayPresent {
		return fmt.Errorf("details of %s", a.Body)
	}
	return nil
}
