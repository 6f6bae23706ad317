package browsercli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func lookCommands() []command {
	return []command{
		{
			name: "navigate", args: "<url>", short: "go to an address in a tab", options: []option{onTab, limit},
			examples: []string{"navigate https://example.com", "navigate https://example.com --target-id docs"},
			build: func(in *input) (request, error) {
				return in.post("/navigate", map[string]any{"url": in.arg(0)}), nil
			},
			show: showingWith(func(p *show.Printer, in *input, r client.Result) {
				if r.URL == "" {
					r.URL = in.arg(0)
				}
				p.Line("navigated to %s", show.Word(r.URL))
				show.Consequences(p, r)
			}),
		},
		snapshotCommand(),
		{
			name: "screenshot", args: "[tab]", short: "make a picture of a page", capture: true,
			options: []option{
				onTab, limit,
				{name: "full-page", help: "the whole page, not only what is in view", field: "fullPage"},
				{name: "ref", kind: text, value: "ref", help: "this element of the last snapshot", field: "ref"},
				{name: "element", kind: text, value: "css", help: "the first element that matches", field: "element"},
				{name: "type", kind: text, value: "type", help: "png or jpeg", field: "type", choices: []string{"png", "jpeg"}},
				{name: "labels", help: "draw the refs onto it", field: "labels"},
			},
			examples: []string{"screenshot --full-page", "screenshot --ref e12 --type jpeg"},
			build: func(in *input) (request, error) {
				tab, err := in.tab()
				if in.on("full-page") && (in.has("ref") || in.has("element")) {
					err = cmdline.Usagef("--full-page cannot go with --ref or --element")
				}
				r := in.post("/screenshot", nil)
				if tab != "" {
					r.body["targetId"] = tab
				}
				return r, err
			},
			judge: judgePath, show: showPath("MEDIA:"),
		},
		{
			name: "pdf", short: "print a page into a PDF", capture: true, options: []option{onTab},
			build: func(in *input) (request, error) { return in.post("/pdf", nil), nil },
			judge: judgePath, show: showPath("PDF: "),
		},
		{
			name: "text", short: "the readable text of a page and its frames",
			options: []option{
				onTab,
				{name: "selector", kind: text, value: "css", help: "only the first element that matches", field: "selector"},
				{name: "max-chars", kind: integer, value: "n", help: "at most so many characters", field: "maxChars"},
			},
			build: func(in *input) (request, error) { return in.get("/text"), nil },
			judge: judgeUnblocked,
			show: showing(func(p *show.Printer, a struct {
				Text      string
				Truncated bool
			},
			) {
				p.Block(a.Text)
				if a.Text == "" {
					p.Say("no text is shown there")
				}
				if a.Truncated {
					p.Say("the text is cut: --max-chars sets where")
				}
			}),
		},
		{
			name: "highlight", args: "<ref>", short: "outline an element for a moment", options: []option{onTab},
			build: func(in *input) (request, error) {
				return in.post("/highlight", map[string]any{"ref": in.arg(0)}), nil
			},
			show: argLine("highlighted %s"),
		},
	}
}

func snapshotCommand() command {
	return command{
		name: "snapshot", short: "the content of a page as text with refs, for acting on", capture: true,
		options: []option{
			onTab, limit,
			{name: "format", kind: text, value: "format", help: "ai (text) or aria (nodes of the accessibility tree)", field: "format", choices: []string{"ai", "aria"}},
			{name: "limit", kind: integer, value: "n", help: "at most so many nodes (aria)", field: "limit"},
			{name: "max-chars", kind: integer, value: "n", help: "at most so many characters; 0 is all (ai)", field: "maxChars"},
			{name: "mode", kind: text, value: "mode", help: "efficient: short, for small budgets", field: "mode", choices: []string{"efficient"}, strict: true},
			{name: "efficient", help: "the same as --mode efficient"},
			{name: "interactive", help: "only what can be acted on, as a flat list", field: "interactive"},
			{name: "compact", help: "without structure that has no name", field: "compact"},
			{name: "depth", kind: integer, value: "n", help: "at most so many levels", field: "depth"},
			{name: "refs", kind: text, value: "kind", help: "role or aria", field: "refs", choices: []string{"role", "aria"}, strict: true},
			{name: "selector", kind: text, value: "css", help: "only below the first element that matches", field: "selector"},
			{name: "frame", kind: text, value: "css", help: "only the content of this iframe", field: "frame"},
			{name: "labels", help: "also make a picture with the refs on it", field: "labels"},
			{name: "urls", help: "list where the links lead", field: "urls"},
			{name: "query", kind: text, value: "words", help: "only lines with all these words", field: "query"},
			{name: "out", kind: file, value: "path", help: "write it into a file and print the path"},
		},
		examples: []string{"snapshot --interactive", "snapshot --selector main --urls --out page.txt", "snapshot --format aria --limit 200 --json"},
		build: func(in *input) (request, error) {
			r := in.get("/snapshot")
			if in.on("efficient") {
				r.query.Set("mode", "efficient")
			}
			return r, nil
		},
		judge: judgeSnapshot,
		show:  showing(show.Snapshot),
		save:  saveSnapshot,
	}
}

// judgeSnapshot refuses an answer that holds no content; a page that is empty says so in words.
func judgeSnapshot(_ *input, answer []byte) error {
	s, err := decode[client.Snapshot](answer)
	switch {
	case err != nil:
		return err
	case s.BlockedByDialog:
		return blocked(s.BrowserState)
	case s.Text == "" && len(s.Nodes) == 0:
		return errors.New("the server made no snapshot: its answer holds no content; try again")
	}
	return nil
}

// judgeUnblocked refuses an answer that a dialog kept from being given.
func judgeUnblocked(_ *input, answer []byte) error {
	r, err := decode[client.Result](answer)
	if err == nil && r.BlockedByDialog {
		return blocked(r.BrowserState)
	}
	return err
}

// blocked says that a dialog is in the way, and how to go on.
func blocked(state *client.BrowserState) error { return errors.New(show.DialogHint(state)) }

func saveSnapshot(answer []byte) (content []byte, big []string) {
	big = []string{"snapshot", "nodes", "refs"}
	fields, err := decode[struct {
		Snapshot string          `json:"snapshot"`
		Nodes    json.RawMessage `json:"nodes"`
	}](answer)
	if err == nil && len(fields.Nodes) > 2 {
		var buf bytes.Buffer
		if json.Indent(&buf, fields.Nodes, "", "  ") == nil {
			buf.WriteByte('\n')
			return buf.Bytes(), big
		}
	}
	return []byte(strings.TrimSuffix(fields.Snapshot, "\n") + "\n"), big
}

// judgePath refuses an answer without a file.
func judgePath(_ *input, answer []byte) error {
	a, err := decode[struct {
		Path            string               `json:"path"`
		BlockedByDialog bool                 `json:"blockedByDialog"`
		BrowserState    *client.BrowserState `json:"browserState"`
	}](answer)
	switch {
	case err != nil:
		return err
	case a.BlockedByDialog && a.Path == "":
		return blocked(a.BrowserState)
	case a.Path == "":
		return errNoFile
	}
	return nil
}

// showPath makes a show that prints where the file is.
func showPath(prefix string) func(*show.Printer, *input, []byte) error {
	return showing(func(p *show.Printer, a client.Picture) { p.Line("%s%s", prefix, show.Clean(a.Path)) })
}

// argLine makes a show that prints a sentence with the first argument.
func argLine(format string) func(*show.Printer, *input, []byte) error {
	return func(p *show.Printer, in *input, _ []byte) error {
		p.Line(format, show.Word(in.arg(0)))
		return nil
	}
}
