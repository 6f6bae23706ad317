package browsercli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"clank/browsermgr/control/client"
	"clank/internal/cmdline"
)

func manageCommands() []command {
	return []command{
		{
			name: "status", short: "how the browser is; starts nothing",
			build: func(in *input) (request, error) { return in.get("/"), nil },
			show:  showing(showStatus),
		},
		{
			name: "doctor", short: "examine the browser and say what to mend",
			options: []option{{name: "deep", help: "also take a snapshot of the page", field: "deep"}},
			build:   func(in *input) (request, error) { return in.get("/doctor"), nil },
			judge:   judgeReport,
			show:    showing(showReport),
			partial: true,
			lost:    reportLost,
		},
		{
			name: "start", short: "start the browser",
			options:  []option{{name: "headless", help: "without a window, this once", field: "headless"}},
			examples: []string{"start", "start --browser-profile work --headless"},
			build: func(in *input) (request, error) {
				r := in.get("/start")
				r.method = http.MethodPost
				return r, nil
			},
			show: profileLine("profile %s is running"),
		},
		{
			name: "stop", short: "end the browser",
			build: func(in *input) (request, error) { return in.post("/stop", nil), nil },
			show: showing(func(p *printer, _ *input, a struct {
				Profile string
				Stopped bool
			},
			) {
				if a.Stopped {
					p.line("profile %s is stopped", word(a.Profile))
				} else {
					p.line("profile %s was not running", word(a.Profile))
				}
			}),
		},
	}
}

func profileCommands() []command {
	return []command{
		{
			name: "reset-profile", short: "move the profile's data to the trash",
			build: func(in *input) (request, error) { return in.post("/reset-profile", nil), nil },
			show: showing(func(p *printer, _ *input, a struct {
				Profile, From, To string
				Moved             bool
			},
			) {
				if a.Moved {
					p.line("profile %s is empty again; its data is in %s", word(a.Profile), word(a.To))
				} else {
					p.line("profile %s has no data to move", word(a.Profile))
				}
			}),
		},
		{
			name: "profiles", short: "list the profiles",
			build: func(in *input) (request, error) { return in.get("/profiles"), nil },
			show:  showing(showProfiles),
		},
		{
			name: "create-profile", short: "add a profile",
			options: []option{
				{name: "name", kind: text, value: "name", help: "small letters, digits and dashes (needed)", field: "name"},
				{name: "color", kind: text, value: "#RRGGBB", help: "its colour", field: "color"},
				{name: "cdp-url", kind: text, value: "address", help: "use the browser at this DevTools address", field: "cdpUrl"},
				{name: "user-data-dir", kind: file, value: "dir", help: "data of a browser to attach to (with --driver existing-session)", field: "userDataDir"},
				{name: "driver", kind: text, value: "driver", help: "how the browser is worked", field: "driver", choices: []string{"clank", "existing-session"}},
			},
			examples: []string{"create-profile --name work --color '#0066CC'"},
			build: func(in *input) (request, error) {
				if in.text("name") == "" {
					return request{}, cmdline.Usagef("--name is needed")
				}
				return in.post("/profiles/create", nil), nil
			},
			show: profileLine("profile %s is created"),
		},
		{
			name: "delete-profile", short: "stop a profile and move it to the trash",
			options: []option{{name: "name", kind: text, value: "name", help: "the profile (needed)"}},
			build: func(in *input) (request, error) {
				if in.text("name") == "" {
					return request{}, cmdline.Usagef("--name is needed")
				}
				return request{method: http.MethodDelete, path: "/profiles/" + url.PathEscape(in.text("name"))}, nil
			},
			show: profileLine("profile %s is deleted"),
		},
	}
}

// profileLine makes a show that prints a sentence with the name of the answer's profile.
func profileLine(format string) func(*printer, *input, []byte) error {
	return showing(func(p *printer, _ *input, a struct{ Profile string }) { p.line(format, word(a.Profile)) })
}

func showStatus(p *printer, _ *input, s client.Status) {
	line := func(name, value string) {
		if value != "" {
			p.line("%s: %s", name, word(value))
		}
	}
	line("profile", s.Profile)
	line("running", strconv.FormatBool(s.Running))
	line("driver", s.Driver)
	line("transport", s.Transport)
	line("pid", numeral(s.PID))
	line("port", numeral(s.CDPPort))
	line("address", deref(s.CDPURL))
	line("browser", deref(s.ChosenBrowser))
	line("found", deref(s.DetectedBrowser))
	line("program", deref(s.DetectedPath))
	line("problem", deref(s.DetectError))
	line("data", deref(s.UserDataDir))
	if s.HeadlessSource != "" {
		line("headless", strconv.FormatBool(s.Headless)+" ("+s.HeadlessSource+")")
	}
	line("color", s.Color)
	if g := s.Guard; g.Mode != "" {
		line("guard", fmt.Sprintf("%s, %d refused", g.Mode, g.Refusals))
		line("about it", g.Note)
	}
}

func showProfiles(p *printer, _ *input, a struct{ Profiles []client.ProfileInfo }) {
	for _, info := range a.Profiles {
		state := "stopped"
		if info.Running {
			state = "running, " + counted(info.TabCount, "tab")
		}
		if info.IsDefault {
			state += ", default"
		}
		if info.IsRemote {
			state += ", remote"
		}
		if info.MissingFromConfig {
			state += ", no longer configured"
		}
		p.line("%s: %s", word(info.Name), state)
		where := numeral(info.CDPPort)
		if where != "" {
			where = "port " + where
		} else if where = deref(info.CDPURL); where == "" {
			where = info.Transport
		}
		p.line("   %s, color %s", word(where), word(info.Color))
		if reason := deref(info.ReconcileReason); reason != "" {
			p.line("   %s", word(reason))
		}
	}
}

var (
	errUnwell = errors.New("a check failed")
	errNoFile = errors.New("the server made no file: its answer names none; try again")
)

func judgeReport(_ *input, answer []byte) error {
	report, err := decode[client.Report](answer)
	if err == nil && !report.OK {
		return errUnwell
	}
	return err
}

func showReport(p *printer, _ *input, r client.Report) {
	if r.Profile != "" {
		p.line("profile: %s (%s)", word(r.Profile), word(r.Transport))
	}
	for _, c := range r.Checks {
		sign, known := map[string]string{"pass": "✓ ok  ", "warn": "! warn", "fail": "✗ FAIL", "info": "- info"}[c.Status]
		if !known {
			sign = "? " + word(c.Status)
		}
		p.line("%s  %s: %s", sign, word(c.Label), word(c.Summary))
		if c.FixHint != "" {
			p.line("          to mend it: %s", word(c.FixHint))
		}
	}
}

// reportLost is the report when there is none from the server.
func reportLost(p *printer, asJSON bool, address string, err error) {
	check := client.Check{ID: "control-server", Label: "Control server", Status: "fail", Summary: err.Error()}
	var answered *client.Error
	switch {
	case errors.Is(err, client.ErrNotListening):
		check.Summary, check.FixHint = "nobody listens at "+address, `start it with "clank serve", or name another server with --url`
	case errors.Is(err, client.ErrTimeout):
		check.FixHint = "it listens but does not answer: look at its log, or start it again"
	case errors.As(err, &answered) && answered.Status == http.StatusUnauthorized:
		check.Label = "Secret"
	}
	report := client.Report{Checks: []client.Check{check}}
	if asJSON {
		if err := p.json(report); err != nil {
			p.say("clank browser doctor: %v", err)
		}
		return
	}
	showReport(p, nil, report)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func numeral(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
