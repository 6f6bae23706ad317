package browsercli

import (
	"encoding/json"
	"errors"
	"strconv"

	"clank/internal/browsercli/show"
)

func watchCommands() []command {
	forget := option{name: "clear", help: "forget them afterwards", field: "clear"}
	return []command{
		{
			name: "console", short: "what a page wrote to its console, as JSON",
			options: []option{{name: "level", kind: text, value: "level", help: "this level and above", field: "level", choices: []string{"error", "warning", "warn", "info", "log", "debug"}, strict: true}, onTab},
			build:   func(in *input) (request, error) { return in.get("/console"), nil },
			show:    showingField("messages", "[]"),
		},
		{
			name: "errors", short: "the errors of a page's scripts", options: []option{forget, onTab},
			build: func(in *input) (request, error) { return in.get("/errors"), nil },
			show:  showing(showErrors),
		},
		{
			name: "requests", short: "what a page asked the network for",
			options: []option{{name: "filter", kind: text, value: "text", help: "only addresses with this in them", field: "filter"}, forget, onTab},
			build:   func(in *input) (request, error) { return in.get("/requests"), nil },
			show:    showing(showRequests),
		},
		{
			name: "responsebody", args: "<url>", short: "wait for the next answer from an address and print its body",
			options:  []option{onTab, limit, {name: "max-chars", kind: integer, value: "n", help: "at most so many characters", field: "maxChars"}},
			examples: []string{`responsebody "**/api/orders*"`},
			build: func(in *input) (request, error) {
				return in.post("/response/body", map[string]any{"url": in.arg(0)}), nil
			},
			show: showing(showBody),
		},
		{
			name: "har", short: "what a page asked the network for, as an HTTP archive", capture: true,
			options: []option{{name: "out", kind: file, value: "path", help: "write it into a file and print the path"}, onTab},
			build:   func(in *input) (request, error) { return in.get("/har"), nil },
			judge: func(_ *input, answer []byte) error {
				if archive(answer) == nil {
					return errors.New("the server's answer holds no HTTP archive")
				}
				return nil
			},
			show: func(p *show.Printer, _ *input, answer []byte) error { return p.JSON(archive(answer)) },
			save: func(answer []byte) ([]byte, []string) {
				return append(archive(answer), '\n'), []string{"har", "log"}
			},
		},
		{
			name: "trace start", short: "record what happens from now on, for a trace viewer",
			options: []option{
				{name: "no-screenshots", help: "without pictures"},
				{name: "no-snapshots", help: "without the content of pages"},
				{name: "sources", help: "with sources", field: "sources"},
				onTab,
			},
			build: func(in *input) (request, error) {
				r := in.post("/trace/start", nil)
				for _, what := range []string{"screenshots", "snapshots"} {
					if in.on("no-" + what) {
						r.body[what] = false
					}
				}
				return r, nil
			},
			show: sentence("trace started"),
		},
		{
			name: "trace stop", short: "end the recording and save it", capture: true,
			options: []option{{name: "out", kind: text, value: "path", help: "where, below the server's directory for files", field: "path"}, onTab},
			build:   func(in *input) (request, error) { return in.post("/trace/stop", nil), nil },
			judge:   judgePath, show: showPath("TRACE:"),
		},
	}
}

func showErrors(p *show.Printer, a struct {
	Errors []struct{ Timestamp, Name, Message string }
},
) {
	if len(a.Errors) == 0 {
		p.Say("there are no errors")
	}
	for _, e := range a.Errors {
		name := ""
		if e.Name != "" {
			name = show.Word(e.Name) + ": "
		}
		p.Line("%s %s%s", show.Word(e.Timestamp), name, show.Word(e.Message))
	}
}

func showRequests(p *show.Printer, a struct {
	Requests []struct {
		ID, Timestamp, Method, URL, FailureText string
		Status                                  int
	}
},
) {
	if len(a.Requests) == 0 {
		p.Say("there are no requests")
	}
	for _, r := range a.Requests {
		end := "pending"
		switch {
		case r.FailureText != "":
			end = "failed (" + show.Word(r.FailureText) + ")"
		case r.Status != 0:
			end = strconv.Itoa(r.Status)
		}
		p.Line("%s %s %s %s", show.Word(r.Timestamp), show.Word(r.Method), end, show.Word(r.URL))
	}
}

// showBody prints a body as it is: it may go into a file.
func showBody(p *show.Printer, a struct {
	Response struct {
		Body      string
		Truncated bool
	}
},
) {
	p.Line("%s", a.Response.Body)
	if a.Response.Truncated {
		p.Say("the body is cut: --max-chars sets where")
	}
}

// archive is the HTTP archive of an answer, or nil.
func archive(answer []byte) []byte {
	a, err := decode[struct {
		HAR json.RawMessage `json:"har"`
		Log json.RawMessage `json:"log"`
	}](answer)
	switch {
	case err != nil:
		return nil
	case len(a.HAR) > 0:
		return a.HAR
	case len(a.Log) > 0:
		return append(append([]byte(`{"log":`), a.Log...), '}')
	}
	return nil
}
