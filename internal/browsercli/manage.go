package browsercli

import (
	"errors"
	"net/http"
	"net/url"

	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func manageCommands() []command {
	return []command{
		{
			name: "status", short: "how the browser is; starts nothing",
			build: func(in *input) (request, error) { return in.get("/"), nil },
			show:  showing(show.Status),
		},
		{
			name: "doctor", short: "examine the browser and say what to mend",
			options: []option{{name: "deep", help: "also take a snapshot of the page", field: "deep"}},
			build:   func(in *input) (request, error) { return in.get("/doctor"), nil },
			judge:   judgeReport,
			show:    showing(show.Report),
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
			show: showing(func(p *show.Printer, a struct {
				Profile string
				Stopped bool
			},
			) {
				if a.Stopped {
					p.Line("profile %s is stopped", show.Word(a.Profile))
				} else {
					p.Line("profile %s was not running", show.Word(a.Profile))
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
			show: showing(func(p *show.Printer, a struct {
				Profile, From, To string
				Moved             bool
			},
			) {
				if a.Moved {
					p.Line("profile %s is empty again; its data is in %s", show.Word(a.Profile), show.Word(a.To))
				} else {
					p.Line("profile %s has no data to move", show.Word(a.Profile))
				}
			}),
		},
		{
			name: "profiles", short: "list the profiles",
			build: func(in *input) (request, error) { return in.get("/profiles"), nil },
			show:  showing(func(p *show.Printer, a struct{ Profiles []client.ProfileInfo }) { show.Profiles(p, a.Profiles) }),
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
func profileLine(format string) func(*show.Printer, *input, []byte) error {
	return showing(func(p *show.Printer, a struct{ Profile string }) { p.Line(format, show.Word(a.Profile)) })
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

// reportLost is the report when there is none from the server.
func reportLost(p *show.Printer, asJSON bool, address string, err error) {
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
		if err := p.JSON(report); err != nil {
			p.Say("clank browser doctor: %v", err)
		}
		return
	}
	show.Report(p, report)
}
