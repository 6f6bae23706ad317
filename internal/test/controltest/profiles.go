package controltest

import (
	"fmt"
	"os"
	"slices"
)

// profileLifeCases returns the cases in which profiles are made, listed, used and deleted.
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
		refused("a name of dots", 400, "invalid profile name", m{"name": "../evil"}),
		refused("a name too long", 400, "invalid profile name", m{"name": fmt.Sprintf("%065d", 1)}),
		refused("the name of a profile that is there", 409, "already exists", m{"name": "clank"}),
		refused("a bad address", 400, "cdpUrl", m{"name": "remote", "cdpUrl": "ftp://127.0.0.1/"}),
		refused("an unknown driver", 400, "unsupported profile driver", m{"name": "odd", "driver": "netscape"}),
		refused("a directory without its driver", 400, "driver=existing-session is required", m{"name": "odd", "userDataDir": os.TempDir()}),
		refused("a directory that is not there", 400, "nosuch", m{"name": "odd", "driver": "existing-session", "userDataDir": "/nosuch"}),
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
	if s.Bin != "" && (made.CDPPort < 18800 || made.CDPPort > 18899) || made.Transport != "cdp" || made.UserDataDir != nil || made.IsRemote {
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
	var gone struct{ Deleted bool }
	s.call("DELETE", "/profiles/work", nil, &gone)
	all = listProfiles(s)
	if _, there := all["work"]; there {
		s.Fatalf("the profile is still listed, deleted = %v", gone.Deleted)
	}
}

func profileColours(s *suite) {
	var seen []string
	for i := range 3 {
		var made struct{ Color string }
		s.call("POST", "/profiles/create", m{"name": fmt.Sprintf("colour-%d", i)}, &made)
		if slices.Contains(append(seen, "#FF4500"), made.Color) {
			s.Fatalf("colour %s was given twice", made.Color)
		}
		seen = append(seen, made.Color)
	}
	for i := range 3 {
		s.call("DELETE", fmt.Sprintf("/profiles/colour-%d", i), nil, nil)
	}
}

func startStop(s *suite) {
	s.call("POST", "/start", nil, nil)
	var status struct {
		Running, CDPReady bool
		PID               *int
		Headless          bool
	}
	s.call("GET", "/", nil, &status)
	if !status.Running || !status.CDPReady || status.PID == nil {
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
