package main

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"clank/browsermgr/control/client"
)

func browserLifecycleCommands() []browserCommand {
	return []browserCommand{
		{
			name: "status", short: "show the state of the browser; starts none",
			buildRequest: buildGet("/"),
			printAnswer:  printTyped(printBrowserStatus),
		},
		{
			name: "doctor", short: "check the browser, and say how to fix problems",
			options:          []browserOption{{name: "deep", help: "also take a snapshot of the page", field: "deep"}},
			buildRequest:     buildGet("/doctor"),
			checkAnswer:      checkReport,
			printAnswer:      printTyped(printReport),
			printsFailures:   true,
			printUnreachable: printReportUnreachable,
		},
		{
			name: "start", short: "start the browser",
			options:  []browserOption{{name: "headless", help: "without a window, this once", field: "headless"}},
			examples: []string{"start", "start --browser-profile work --headless"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				r := in.getRequest("/start")
				r.method = http.MethodPost
				return r, nil
			},
			printAnswer: printSentence("profile {profile} is running"),
		},
		{
			name: "stop", short: "stop the browser",
			buildRequest: buildPost("/stop"),
			printAnswer: printTyped(func(p *outputPrinter, a struct {
				Profile string
				Stopped bool
			},
			) {
				if a.Stopped {
					p.Line("profile %s is stopped", cleanLine(a.Profile))
				} else {
					p.Line("profile %s was not running", cleanLine(a.Profile))
				}
			}),
		},
	}
}

func profileCommands() []browserCommand {
	return []browserCommand{
		{
			name: "reset-profile", short: "move the profile's data to the trash; a person's data is deleted",
			buildRequest: buildPost("/reset-profile"),
			printAnswer: printTyped(func(p *outputPrinter, a struct {
				Profile, From, To string
				Moved             bool
			},
			) {
				switch {
				case a.Moved && a.To == "": // deleted, or the system does not report where it was moved
					p.Line("profile %s is empty again", cleanLine(a.Profile))
				case a.Moved:
					p.Line("profile %s is empty again; its data is in %s", cleanLine(a.Profile), cleanLine(a.To))
				default:
					p.Line("profile %s has no data to move", cleanLine(a.Profile))
				}
			}),
		},
		{
			name: "profiles", short: "list the profiles",
			buildRequest: buildGet("/profiles"),
			printAnswer:  printTyped(printProfiles),
		},
		{
			name: "create-profile", short: "add a profile",
			options: []browserOption{
				{
					name: "name", kind: kindText, value: "name", help: "lower-case letters, digits and dashes (required)",
					field:  "name",
					needed: true,
				},
				{name: "color", kind: kindText, value: "#RRGGBB", help: "its colour", field: "color"},
				{
					name: "cdp-url", kind: kindText, value: "address", help: "use the browser at this DevTools address",
					field: "cdpUrl",
				},
				{name: "user-data-dir", kind: kindFile, value: "dir", help: "data directory of a browser to join (with --driver " +
					"existing-session)", field: "userDataDir"},
				{
					name: "driver", kind: kindText, value: "driver",
					help: "clank, which starts a browser, or existing-session, which joins yours", field: "driver",
					choices: []string{"clank", "existing-session"},
				},
			},
			examples: []string{"create-profile --name work --color '#0066CC'"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				if color := in.text("color"); color != "" && !hexColor().MatchString(color) {
					return controlRequest{}, usagef("--color takes a colour such as #0066CC, not %q", color)
				}
				return buildPost("/profiles/create")(in)
			},
			printAnswer: printSentence("profile {profile} is created"),
		},
		{
			name: "rename-profile", short: "rename a profile whose browser is not running",
			options: []browserOption{
				{name: "name", kind: kindText, value: "name", help: "the profile (required)", needed: true},
				{name: "to", kind: kindText, value: "name", help: "its new name (required)", field: "name", needed: true},
			},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				body := map[string]any{"name": in.text("to")}
				path := "/profiles/" + url.PathEscape(in.text("name")) + "/rename"
				return controlRequest{method: http.MethodPost, path: path, body: body}, nil
			},
			printAnswer: printSentence("profile {from} is {profile} now"),
		},
		{
			name: "delete-profile", short: "stop a profile and move it to the trash",
			options: []browserOption{
				{name: "name", kind: kindText, value: "name", help: "the profile (required)", needed: true},
			},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				return controlRequest{method: http.MethodDelete, path: "/profiles/" + url.PathEscape(in.text("name"))}, nil
			},
			printAnswer: printSentence("profile {profile} is deleted"),
		},
	}
}

var hexColor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^#[0-9A-Fa-f]{6}$") })

var (
	errCheckFailed = errors.New("a check failed")
	errNoFileMade  = errors.New("the server made no file: its answer names none; try again")
)

func checkReport(_ *commandInput, answer []byte) error {
	report, err := decodeAnswer[client.Report](answer)
	if err == nil && !report.OK {
		return errCheckFailed
	}
	return err
}

// printReportUnreachable prints a report instead of the one that the unreachable server cannot give.
func printReportUnreachable(p *outputPrinter, asJSON bool, address string, err error) {
	check := client.Check{ID: "control-server", Label: "Control server", Status: "fail", Summary: err.Error()}
	var answered *client.Error
	switch {
	case errors.Is(err, client.ErrNotListening):
		check.Summary, check.FixHint = "nobody listens at "+address,
			`start it with "clank serve", or name another server with --url`
	case errors.Is(err, client.ErrTimeout):
		check.FixHint = "it listens but does not answer: look at its log, or start it again"
	case errors.As(err, &answered) && answered.Status == http.StatusUnauthorized:
		check.Label = "Secret"
	}
	report := client.Report{Checks: []client.Check{check}}
	if asJSON {
		if err := p.JSON(report); err != nil {
			p.Message("clank browser doctor: %v", err)
		}
		return
	}
	printReport(p, report)
}
