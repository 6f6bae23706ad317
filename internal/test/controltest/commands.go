package controltest

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// commandCases returns commands that go through to a page, as people and scripts run them. The tests of cmd/clank try every command
// against a server of their own.
func commandCases() []testCase {
	return []testCase{
		{Name: "status, in words and as JSON", Run: statusCommand},
		{Name: "an action on a page", Run: actCommands},
		{Name: "what was refused", Run: refusedCommands},
		{Name: "a snapshot into a file", Run: intoFile},
		{Name: "a look that failed is told as such", Run: notCaptured},
		{Name: "a dialog is left to be answered", Run: dialogCommands},
	}
}

// wantCommand runs a command that must work and checks what its output has.
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
	for _, line := range []string{"screenshot --element #nosuch --timeout 20000 --json", "snapshot --target-id nosuch --json"} {
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

// dialogCommands opens one by a click, which is told, and answers it.
func dialogCommands(s *suite) {
	s.wantCommand("", "click "+s.refOn("/dialogs", "button", "Prompt"))
	s.wantCommand("", "dialogs", "Your name?")
	if got := s.command("", "snapshot"); got.Code == 0 || !strings.Contains(got.Stderr, "dialog") {
		s.Fatalf("a snapshot ended with %d: %s", got.Code, got.Stderr)
	}
	s.wantCommand("", "dialog --accept --prompt Ada")
	s.waitForSaid("Ada")
}
