package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"clank/browsermgr/control/client"
)

func readCommands() []browserCommand {
	out := browserOption{name: "out", kind: kindFile, value: "path", help: "copy it into this file and print the path"}
	return append([]browserCommand{
		{
			name: "navigate", args: "<url>", short: "go to an address in a tab",
			options:      []browserOption{tabOption, timeoutOption},
			examples:     []string{"navigate https://example.com", "navigate https://example.com --target-id docs"},
			buildRequest: buildLoad("/navigate"),
			printAnswer: printTypedWithInput(func(p *outputPrinter, in *commandInput, r client.Result) {
				p.Line("navigated to %s", cleanLine(cmp.Or(r.URL, in.arg(0))))
				printConsequences(p, r)
			}),
		},
		snapshotCommand(),
		{
			name: "screenshot", args: "[tab]", short: "take a picture of a page", isCapture: true,
			options: []browserOption{
				tabOption, timeoutOption,
				{name: "full-page", help: "the whole page, not only what is in view", field: "fullPage"},
				{name: "ref", kind: kindText, value: "ref", help: "this element of the last snapshot", field: "ref"},
				{name: "element", kind: kindText, value: "css", help: "the first element that matches", field: "element"},
				{
					name: "type", kind: kindText, value: "type", help: "png or jpeg", field: "type",
					choices: []string{"png", "jpeg"}, strict: true,
				},
				{name: "labels", help: "draw the refs in", field: "labels"},
				out,
			},
			examples: []string{"screenshot --full-page --out page.png", "screenshot --ref e12 --type jpeg"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				tab, err := in.tabArg()
				if in.isOn("full-page") && (in.has("ref") || in.has("element")) {
					err = usagef("--full-page cannot go with --ref or --element")
				}
				r := in.postRequest("/screenshot", nil)
				if tab != "" {
					r.body["targetId"] = tab
				}
				kind, wrong := pictureType("out", in.text("out"))
				if kind == "jpeg" && !in.has("type") { // the server makes PNG
					r.body["type"] = kind
				}
				return r, cmp.Or(err, wrong)
			},
			checkAnswer: checkHasFile, printAnswer: printFilePath("MEDIA:"), saveContent: readSavedFile,
		},
		{
			name: "pdf", short: "save a page as a PDF", isCapture: true, options: []browserOption{out, tabOption},
			buildRequest: buildPost("/pdf"),
			checkAnswer:  checkHasFile, printAnswer: printFilePath("PDF: "), saveContent: readSavedFile,
		},
		{
			name: "text", short: "print the readable text of a page and its frames",
			options: []browserOption{
				tabOption,
				{name: "selector", kind: kindText, value: "css", help: "only the first element that matches", field: "selector"},
				{name: "max-chars", kind: kindInteger, value: "n", help: "at most this many characters", field: "maxChars"},
			},
			buildRequest: buildGet("/text"),
			checkAnswer:  checkNoDialog,
			printAnswer: printTyped(func(p *outputPrinter, a struct {
				Text      string
				Truncated bool
			},
			) {
				p.Text(a.Text)
				if a.Text == "" {
					p.Message("no text is shown there")
				}
				if a.Truncated {
					p.Message("the text is cut: --max-chars sets where")
				}
			}),
		},
		{
			name: "highlight", args: "<ref>", short: "outline an element for a moment", options: []browserOption{tabOption},
			buildRequest: buildPost("/highlight", "ref"),
			printAnswer:  printSentence("highlighted {0}"),
		},
		findCommand(),
	}, getCommands()...)
}

// pictureType returns the type of picture, png or jpeg, that the name of a file asks for; "" if it asks for none. flag
// is the flag that has the name. Another type is a usage error.
func pictureType(flag, path string) (string, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png":
		return "png", nil
	case ".jpg", ".jpeg":
		return "jpeg", nil
	case ".gif", ".webp", ".avif", ".bmp", ".svg", ".tif", ".tiff", ".pdf":
		return "", usagef("--%s %s: a picture is a .png or a .jpg file", flag, path)
	default:
		return "", nil
	}
}

func snapshotCommand() browserCommand {
	return browserCommand{
		name: "snapshot", short: "print the page as text, with refs for acting on it", isCapture: true,
		options: []browserOption{
			tabOption, timeoutOption,
			{
				name: "format", kind: kindText, value: "format", help: "ai (text) or aria (nodes of the accessibility tree)",
				field: "format", choices: []string{"ai", "aria"}, strict: true,
			},
			{name: "limit", kind: kindInteger, value: "n", help: "at most this many nodes (aria)", field: "limit"},
			{
				name: "max-chars", kind: kindInteger, value: "n", help: "at most this many characters; 0 means all (ai)",
				field: "maxChars",
			},
			{
				name: "mode", kind: kindText, value: "mode", help: "efficient: short, for small budgets", field: "mode",
				choices: []string{"efficient"}, strict: true,
			},
			{name: "efficient", help: "the same as --mode efficient"},
			{name: "interactive", help: "only what can be acted on, as a flat list", field: "interactive"},
			{name: "compact", help: "leave out structure without a name", field: "compact"},
			{name: "depth", kind: kindInteger, value: "n", help: "at most this many levels", field: "depth"},
			{
				name: "refs", kind: kindText, value: "kind", help: "role or aria", field: "refs", choices: []string{"role", "aria"},
				strict: true,
			},
			{
				name: "selector", kind: kindText, value: "css", help: "only below the first element that matches",
				field: "selector",
			},
			{name: "frame", kind: kindText, value: "css", help: "only the content of this iframe", field: "frame"},
			{
				name: "after", kind: kindText, value: "ref", help: "continue after this ref, where a snapshot was cut or folded",
				field: "after",
			},
			{name: "labels", help: "also take a picture with the refs drawn in", field: "labels"},
			{name: "urls", help: "list where the links lead", field: "urls"},
			{name: "query", kind: kindText, value: "words", help: "only lines with all these words", field: "query"},
			{name: "out", kind: kindFile, value: "path", help: "write it into a file and print the path"},
		},
		examples: []string{
			"snapshot --interactive", "snapshot --selector main --urls --out page.txt",
			"snapshot --format aria --limit 200 --json",
		},
		buildRequest: func(in *commandInput) (controlRequest, error) {
			r := in.getRequest("/snapshot")
			if in.isOn("efficient") {
				r.query.Set("mode", "efficient")
			}
			return r, nil
		},
		checkAnswer: checkSnapshot,
		printAnswer: printTyped(printSnapshot),
		saveContent: saveSnapshot,
	}
}

// checkSnapshot returns an error for an answer without content; even an empty page has some text.
func checkSnapshot(_ *commandInput, answer []byte) error {
	s, err := decodeAnswer[client.Snapshot](answer)
	switch {
	case err != nil:
		return err
	case s.BlockedByDialog:
		return dialogError(s.BrowserState)
	case s.Text == "" && len(s.Nodes) == 0:
		return errors.New("the server made no snapshot: its answer holds no content; try again")
	}
	return nil
}

// checkNoDialog returns an error for an answer that was prevented by a dialog.
func checkNoDialog(_ *commandInput, answer []byte) error {
	r, err := decodeAnswer[client.Result](answer)
	if err == nil && r.BlockedByDialog {
		return dialogError(r.BrowserState)
	}
	return err
}

// dialogError reports an open dialog and how to continue.
func dialogError(state *client.BrowserState) error { return errors.New(dialogHint(state)) }

func saveSnapshot(answer []byte) (content []byte, big []string, err error) {
	big = []string{"snapshot", "nodes", "refs"}
	fields, err := decodeAnswer[struct {
		Snapshot string          `json:"snapshot"`
		Nodes    json.RawMessage `json:"nodes"`
	}](answer)
	if err == nil && len(fields.Nodes) > 2 {
		var buf bytes.Buffer
		if json.Indent(&buf, fields.Nodes, "", "  ") == nil {
			buf.WriteByte('\n')
			return buf.Bytes(), big, nil
		}
	}
	return []byte(strings.TrimSuffix(fields.Snapshot, "\n") + "\n"), big, err
}

// readSavedFile reads the file that the server has created on its own machine.
func readSavedFile(answer []byte) (content []byte, big []string, err error) {
	a, err := decodeAnswer[client.SavedFile](answer)
	if err != nil {
		return nil, nil, err
	}
	if content, err = os.ReadFile(a.Path); err != nil {
		err = fmt.Errorf("it was made as %s on the server's machine, and cannot be read here: %w", cleanText(a.Path), err)
	}
	return content, nil, err
}

// checkHasFile returns an error for an answer without a file.
func checkHasFile(_ *commandInput, answer []byte) error {
	a, err := decodeAnswer[struct {
		Path            string               `json:"path"`
		BlockedByDialog bool                 `json:"blockedByDialog"`
		BrowserState    *client.BrowserState `json:"browserState"`
	}](answer)
	switch {
	case err != nil:
		return err
	case a.BlockedByDialog && a.Path == "":
		return dialogError(a.BrowserState)
	case a.Path == "":
		return errNoFileMade
	}
	return nil
}

// printFilePath returns a function that prints the path of the file.
func printFilePath(prefix string) func(*outputPrinter, *commandInput, []byte) error {
	return printTyped(func(p *outputPrinter, a client.SavedFile) { p.Line("%s%s", prefix, cleanText(a.Path)) })
}
