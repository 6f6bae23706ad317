package main

import (
	"context"
	"fmt"
	"os"
	"slices"
)

// profileLifeCases are made, listed, used and taken away.
func profileLifeCases() []testCase {
	create := func(body map[string]any) requestCase { return requestCase{Path: "/profiles/create", Body: body} }
	refused := func(name string, status int, says string, body map[string]any) requestCase {
		x := create(body)
		x.Name, x.Status, x.Contains = name, status, []string{says}
		return x
	}
	list := []requestCase{
		refused("no name", 400, "name is required", map[string]any{}),
		refused("a bad name", 400, "invalid profile name", map[string]any{"name": "Bad Name"}),
		refused("a name of dots", 400, "invalid profile name", map[string]any{"name": "../evil"}),
		refused("a name too long", 400, "invalid profile name", map[string]any{"name": fmt.Sprintf("%065d", 1)}),
		refused("the name of a profile that is there", 409, "already exists", map[string]any{"name": "clank"}),
		refused("a bad address", 400, "cdpUrl", map[string]any{"name": "remote", "cdpUrl": "ftp://127.0.0.1/"}),
		refused("an unknown driver", 400, "unsupported profile driver", map[string]any{"name": "odd", "driver": "netscape"}),
		refused("a directory without its driver", 400, "driver=existing-session is required", map[string]any{"name": "odd", "userDataDir": os.TempDir()}),
		refused("a directory that is not there", 400, "nosuch", map[string]any{"name": "odd", "driver": "existing-session", "userDataDir": "/nosuch"}),
		{Name: "delete the default profile", Method: "DELETE", Path: "/profiles/clank", Status: 400, Contains: []string{"cannot delete the default profile"}},
		{Name: "delete an unknown profile", Method: "DELETE", Path: "/profiles/nosuch", Status: 404, Contains: []string{"not found"}},
		{Name: "delete a bad name", Method: "DELETE", Path: "/profiles/Bad%20Name", Status: 400, Contains: []string{"invalid profile name"}},
		{Name: "a remote profile is not reset", Method: "POST", Path: "/reset-profile?profile=user", Status: 400},
		{Name: "doctor", Path: "/doctor", Members: []string{"ok", "profile", "transport", "checks", "status"}},
		{Name: "doctor of a running browser, in depth", Path: "/doctor?deep=true", Page: "/form", Contains: []string{"live-snapshot"}},
		{Name: "status", Path: "/", Members: []string{
			"enabled", "profile", "driver", "transport", "running", "cdpReady", "cdpHttp", "pageReady", "pid", "cdpPort", "cdpUrl", "chosenBrowser",
			"userDataDir", "color", "headless", "headlessSource", "noSandbox", "executablePath", "attachOnly", "graphics",
		}},
	}
	return append(requestCases(list), testCase{Name: "a life", Run: profileLife}, testCase{Name: "colours", Run: profileColours}, testCase{Name: "a running browser is told and stopped", Run: startStop})
}

type profileEntry struct {
	Name, Transport, Color, Driver string
	CDPPort                        *int
	Running, IsDefault, IsRemote   bool
	TabCount                       int
}

func listProfiles(ctx context.Context, s *controlSuite) (map[string]profileEntry, error) {
	var answer struct{ Profiles []profileEntry }
	if err := s.Call(ctx, "GET", "/profiles", nil, &answer); err != nil {
		return nil, err
	}
	out := map[string]profileEntry{}
	for _, p := range answer.Profiles {
		out[p.Name] = p
	}
	return out, nil
}

func profileLife(ctx context.Context, s *controlSuite) error {
	var made struct {
		Profile, Transport, Color string
		CDPPort                   int
		UserDataDir               *string
		IsRemote                  bool
	}
	if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": "work", "driver": "clawd"}, &made); err != nil {
		return err
	}
	if made.CDPPort < 18800 || made.CDPPort > 18899 || made.Transport != "cdp" || made.UserDataDir != nil || made.IsRemote {
		return fmt.Errorf("made %+v", made)
	}
	if err := s.Call(ctx, "POST", "/tabs/open?profile=work", map[string]any{"url": s.Site.URL + "/plain"}, nil); err != nil {
		return err
	}
	all, err := listProfiles(ctx, s)
	if err != nil {
		return err
	}
	if p := all["work"]; !p.Running || p.TabCount < 1 || p.IsDefault || p.CDPPort == nil || *p.CDPPort != made.CDPPort {
		return fmt.Errorf("listed as %+v", p)
	}
	if !all["clank"].IsDefault || all["user"].Driver != "existing-session" {
		return fmt.Errorf("the built-in ones: %+v %+v", all["clank"], all["user"])
	}
	var reset struct {
		Moved    bool
		From, To string
	}
	if err := s.Call(ctx, "POST", "/reset-profile?profile=work", nil, &reset); err != nil {
		return err
	}
	if _, err := os.Stat(reset.From); !reset.Moved || err == nil {
		return fmt.Errorf("reset %+v, the directory is there: %v", reset, err == nil)
	}
	var gone struct{ Deleted bool }
	if err := s.Call(ctx, "DELETE", "/profiles/work", nil, &gone); err != nil {
		return err
	}
	if all, err = listProfiles(ctx, s); err != nil {
		return err
	}
	if _, there := all["work"]; there {
		return fmt.Errorf("the profile is still listed, deleted = %v", gone.Deleted)
	}
	return nil
}

func profileColours(ctx context.Context, s *controlSuite) error {
	var seen []string
	for i := range 3 {
		var made struct{ Color string }
		if err := s.Call(ctx, "POST", "/profiles/create", map[string]any{"name": fmt.Sprintf("colour-%d", i)}, &made); err != nil {
			return err
		}
		if slices.Contains(append(seen, "#FF4500"), made.Color) {
			return fmt.Errorf("colour %s was given twice", made.Color)
		}
		seen = append(seen, made.Color)
	}
	for i := range 3 {
		if err := s.Call(ctx, "DELETE", fmt.Sprintf("/profiles/colour-%d", i), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func startStop(ctx context.Context, s *controlSuite) error {
	if err := s.Call(ctx, "POST", "/start", nil, nil); err != nil {
		return err
	}
	var status struct {
		Running, CDPReady bool
		PID               *int
		Headless          bool
	}
	if err := s.Call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	if !status.Running || !status.CDPReady || status.PID == nil {
		return fmt.Errorf("after the start: %+v", status)
	}
	for _, want := range []bool{true, false} {
		var stop struct{ Stopped bool }
		if err := s.Call(ctx, "POST", "/stop", nil, &stop); err != nil {
			return err
		}
		if err := wantEqualJSON("stopped", stop.Stopped, want); err != nil {
			return err
		}
	}
	var list struct {
		Running bool
		Tabs    []any
	}
	if err := s.Call(ctx, "GET", "/tabs", nil, &list); err != nil {
		return err
	}
	if list.Running || list.Tabs == nil || len(list.Tabs) > 0 {
		return fmt.Errorf("tabs of a stopped browser: %+v", list)
	}
	return nil
}
