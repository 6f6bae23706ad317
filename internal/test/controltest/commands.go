package controltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// commandCases returns commands that act on a page, as people and scripts run them. The tests of cmd/clank run every
// command against a fake server.
func commandCases() []testCase {
	return []testCase{
		{Name: "status, in words and as JSON", Run: statusCommand},
		{Name: "an action on a page", Run: actCommands},
		{Name: "elements found, read and checked", Run: elementCommands},
		{Name: "a drag between points", Run: dragCommand},
		{Name: "the history of a tab", Run: historyCommands},
		{Name: "a file from anywhere", Run: uploadCommand},
		{Name: "what was refused", Run: refusedCommands},
		{Name: "a snapshot into a file", Run: intoFile},
		{Name: "a look that failed is told as such", Run: notCaptured},
		{Name: "a dialog is left to be answered", Run: dialogCommands},
	}
}

// wantCommand runs a command that must succeed and checks its output.
func (s *suite) wantCommand(input, line string, want ...string) {
	s.Helper()
	got := s.command(input, strings.Fields(line)...)
	for _, part := range want {
		if !strings.Contains(got.Stdout, part) {
			s.Fatalf("%s: %.300q lacks %q", line, got.Stdout, part)
		}
	}
	if got.Code != 0 {
		s.Fatalf("%s ended with %d: %.300s", line, got.Code, got.Stderr)
	}
}

func statusCommand(s *suite) {
	s.openPage("/form")
	s.wantCommand("", "--browser-profile openclaw status", "profile: clank", "running: true")
	for _, line := range []string{"--json status", "status --json"} {
		s.wantCommand("", line, `"cdpReady": true`)
	}
}

func actCommands(s *suite) {
	name := s.refOn("/form", "textbox", "Name")
	s.wantCommand("", "type "+name+" Ada")
	s.wantCommand(`[{"kind":"click","selector":"#save"}]`, "batch --actions-file -")
	s.wantPage("[document.getElementById('name').value, said.textContent]", []string{"Ada", "saved"})
	s.wantCommand("", "open "+s.Site.URL+"/plain")
	s.wantCommand("", "evaluate --fn document.title", "Plain")
}

// found returns the ref that the command find prints.
func (s *suite) found(flags string) string {
	s.Helper()
	got := s.command("", append([]string{"find"}, strings.Fields(flags)...)...)
	ref := strings.TrimSpace(got.Stdout)
	if got.Code != 0 || ref == "" || strings.ContainsAny(ref, " \n") {
		s.Fatalf("find %s ended with %d: %q %.300s", flags, got.Code, got.Stdout, got.Stderr)
	}
	return ref
}

func elementCommands(s *suite) {
	s.openPage("/form")
	s.wantCommand("", "get value "+s.found("--label name"), "before\n")
	s.wantCommand("", "select "+s.found("--role combobox --text Peru")+" no")
	s.wantCommand("", "get value "+s.found("--label Country"), "no\n")
	news := s.found("--role checkbox")
	s.wantCommand("", "check "+news, "checked "+news)
	s.wantCommand("", "check "+news)
	s.wantPage("document.getElementById('news').checked", true)
	s.wantCommand("", "uncheck "+news)
	s.wantPage("document.getElementById('news').checked", false)
	save := s.found("--text save")
	s.wantCommand("", "get text "+save, "Save\n")
	s.wantCommand("", "get attribute "+save+" id", "save\n")
	for line, want := range map[string]int{
		"get attribute " + save + " href": 1, "find --role slider": 4,
		"snapshot --after e999": 4, "check " + save: 1,
	} {
		if got := s.command("", strings.Fields(line)...); got.Code != want || got.Stdout != "" || got.Stderr == "" {
			s.Fatalf("%s ended with %d, want %d: %q %.300s", line, got.Code, want, got.Stdout, got.Stderr)
		}
	}
	s.wantCommand("", "snapshot --after "+save, `button "Far"`)
	if got := s.command("", "snapshot", "--after", save); strings.Contains(got.Stdout, `"Save"`) {
		s.Fatalf("after %s stands %.300s", save, got.Stdout)
	}
	path := filepath.Join(s.Temp, "page.png")
	s.wantCommand("", "screenshot --out "+path, path)
	if !strings.HasPrefix(string(s.read(path)), "\x89PNG") {
		s.Fatal("the file holds no picture")
	}
}

func dragCommand(s *suite) {
	s.openPage("/drag")
	s.wantCommand("", "drag-coords 40 40 60 240", "dragged from 40,40 to 60,240")
	s.waitForSaid("dropped")
}

func historyCommands(s *suite) {
	s.openPage("/rows")
	s.wantCommand("", "scroll --pixels 300", "scrolled")
	s.wantPage("scrollY", 300)
	s.wantCommand("", "navigate "+s.Site.URL+"/other")
	s.wantCommand("", "back", "went back on "+s.Site.URL+"/rows")
	s.wantCommand("", "forward", "went forward on "+s.Site.URL+"/other")
	s.run("window.stays = true")
	s.wantCommand("", "reload", "loaded the page again on "+s.Site.URL+"/other")
	s.wantPage("String(window.stays)", "undefined")
}

func uploadCommand(s *suite) {
	path := filepath.Join(s.Temp, "from anywhere.txt")
	s.check(os.WriteFile(path, []byte("mine"), 0o600))
	s.openPage("/files")
	got := s.command("", "upload", path, "--element", "#one")
	s.wantEqual("exit code", got.Code, 0)
	s.waitForSaid("from anywhere.txt")
	s.evaluate("one.files[0].text()", &got.Stdout)
	s.wantEqual("content", got.Stdout, "mine")
	left, err := filepath.Glob(filepath.Join(s.Home, "uploads", "lent-*"))
	s.check(err)
	s.wantEqual("copies left behind", len(left), 0)
}

func refusedCommands(s *suite) {
	for line, want := range map[string]string{
		"status --browser-profile nosuch":                "nosuch",
		"--url http://127.0.0.1:1 --token x status":      "127.0.0.1:1",
		"status --token wrong":                           "secret",
		"evaluate --fn 1 --target-id nosuch":             "tab not found",
		"set timezone Mars":                              "Invalid timezone ID",
		"navigate http://10.0.0.1/ --timeout 20000":      "blocked by policy",
		"waitfordownload ../../escape.txt --timeout 500": "Invalid path",
	} {
		if got := s.command("", strings.Fields(line)...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
			s.Fatalf("%s ended with %d: %q lacks %q", line, got.Code, got.Stderr, want)
		}
	}
}

func intoFile(s *suite) {
	s.openPage("/form")
	path := filepath.Join(s.Temp, "page.txt")
	s.wantCommand("", "snapshot --json --out "+path, `"captured": true`, path)
	if text := s.read(path); !strings.Contains(string(text), `button "Save"`) {
		s.Fatalf("the file holds %.200q", text)
	}
}

func notCaptured(s *suite) {
	s.openPage("/form")
	for _, line := range []string{
		"screenshot --element #nosuch --timeout 20000 --json",
		"snapshot --target-id nosuch --json",
	} {
		got := s.command("", strings.Fields(line)...)
		var told struct {
			Captured *bool
			Error    string
		}
		s.check(json.Unmarshal([]byte(got.Stdout), &told))
		if got.Code == 0 || told.Captured == nil || *told.Captured || told.Error == "" {
			s.Fatalf("%s ended with %d and told %s", line, got.Code, got.Stdout)
		}
	}
}

// dialogCommands opens a dialog by a click, which reports it, and answers it.
func dialogCommands(s *suite) {
	s.wantCommand("", "click "+s.refOn("/dialogs", "button", "Prompt"))
	s.wantCommand("", "dialogs", "Your name?")
	if got := s.command("", "snapshot"); got.Code == 0 || !strings.Contains(got.Stderr, "dialog") {
		s.Fatalf("a snapshot ended with %d: %s", got.Code, got.Stderr)
	}
	s.wantCommand("", "dialog --accept --prompt Ada")
	s.waitForSaid("Ada")
}
