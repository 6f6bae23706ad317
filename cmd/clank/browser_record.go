package main

import (
	"encoding/json"
	"errors"
	"strconv"
)

func recordCommands() []browserCommand {
	forget := browserOption{name: "clear", help: "clear the list afterwards", field: "clear"}
	return []browserCommand{
		{
			name: "console", short: "print the console messages of a page, as JSON",
			options: []browserOption{{
				name: "level", kind: kindText, value: "level", help: "this level and above",
				field: "level", choices: []string{"error", "warning", "warn", "info", "log", "debug"}, strict: true,
			}, tabOption},
			buildRequest: buildGet("/console"),
			printAnswer:  printConsole,
		},
		{
			name: "errors", short: "list the script errors of a page", options: []browserOption{forget, tabOption},
			buildRequest: buildGet("/errors"),
			printAnswer:  printTyped(printPageErrors),
		},
		{
			name: "requests", short: "list the requests of a page",
			options: []browserOption{
				{name: "filter", kind: kindText, value: "text", help: "only addresses with this in them", field: "filter"},
				forget,
				tabOption,
			},
			buildRequest: buildGet("/requests"),
			printAnswer:  printTyped(printPageRequests),
		},
		{
			name: "responsebody", args: "<url>", short: "wait for the next response from an address and print its body",
			options: []browserOption{
				tabOption, timeoutOption,
				{name: "max-chars", kind: kindInteger, value: "n", help: "at most this many characters", field: "maxChars"},
			},
			examples:     []string{`responsebody "**/api/orders*"`},
			buildRequest: buildPost("/response/body", "url"),
			printAnswer:  printTyped(printResponseBody),
		},
		{
			name: "har", short: "print the requests of a page as an HTTP archive", isCapture: true,
			options: []browserOption{{name: "out", kind: kindFile, value: "path", help: "write it into a file and print " +
				"the path"}, tabOption},
			buildRequest: buildGet("/har"),
			checkAnswer: func(_ *commandInput, answer []byte) error {
				if harOf(answer) == nil {
					return errors.New("the server's answer holds no HTTP archive")
				}
				return nil
			},
			printAnswer: func(p *outputPrinter, _ *commandInput, answer []byte) error { return p.JSON(harOf(answer)) },
			saveContent: func(answer []byte) ([]byte, []string, error) {
				return append(harOf(answer), '\n'), []string{"har", "log"}, nil
			},
		},
		{
			name: "trace start", short: "start recording a trace, for Playwright's viewer",
			options: []browserOption{
				{name: "no-screenshots", help: "without pictures"},
				{name: "no-snapshots", help: "without page contents"},
				{name: "sources", help: "include sources", field: "sources"},
				tabOption,
			},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				r := in.postRequest("/trace/start", nil)
				for _, what := range []string{"screenshots", "snapshots"} {
					if in.isOn("no-" + what) {
						r.body[what] = false
					}
				}
				return r, nil
			},
			printAnswer: printSentence("trace started"),
		},
		{
			name: "trace stop", short: "stop recording and save the trace", isCapture: true,
			options: []browserOption{{name: "out", kind: kindFile, value: "path", help: "copy it into this file and print " +
				"the path"}, tabOption},
			buildRequest: buildPost("/trace/stop"),
			checkAnswer:  checkHasFile, printAnswer: printFilePath("TRACE:"), saveContent: readSavedFile,
		},
	}
}

func printConsole(p *outputPrinter, in *commandInput, answer []byte) error {
	if a, err := decodeAnswer[struct{ Dropped int }](answer); err == nil {
		printDropped(p, a.Dropped)
	}
	return printField("messages", "[]")(p, in, answer)
}

// printDropped prints that older entries are missing.
func printDropped(p *outputPrinter, n int) {
	if n > 0 {
		p.Message("older ones left out: %d", n)
	}
}

func printPageErrors(p *outputPrinter, a struct {
	Errors  []struct{ Timestamp, Name, Message string }
	Dropped int
},
) {
	printDropped(p, a.Dropped)
	if len(a.Errors) == 0 {
		p.Message("there are no errors")
	}
	for _, e := range a.Errors {
		name := ""
		if e.Name != "" {
			name = cleanLine(e.Name) + ": "
		}
		p.Line("%s %s%s", cleanLine(e.Timestamp), name, cleanLine(e.Message))
	}
}

func printPageRequests(p *outputPrinter, a struct {
	Requests []struct {
		ID, Timestamp, Method, URL, FailureText string
		Status                                  int
	}
	Dropped int
},
) {
	printDropped(p, a.Dropped)
	if len(a.Requests) == 0 {
		p.Message("there are no requests")
	}
	for _, r := range a.Requests {
		end := "pending"
		switch {
		case r.FailureText != "":
			end = "failed (" + cleanLine(r.FailureText) + ")"
		case r.Status != 0:
			end = strconv.Itoa(r.Status)
		}
		p.Line("%s %s %s %s", cleanLine(r.Timestamp), cleanLine(r.Method), end, cleanLine(r.URL))
	}
}

// printResponseBody prints a body unchanged: it may be redirected to a file.
func printResponseBody(p *outputPrinter, a struct {
	Response struct {
		Body      string
		Truncated bool
	}
},
) {
	p.Line("%s", a.Response.Body)
	if a.Response.Truncated {
		p.Message("the body is cut: --max-chars sets where")
	}
}

// harOf returns the HTTP archive (HAR) of a response, or nil.
func harOf(answer []byte) []byte {
	a, err := decodeAnswer[struct {
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
