package controltest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
)

// commandCase is a command line and what must come of it. In args and input "SITE" is the address of the site, "TEMP" a folder,
// "%20" a space, and "{Save}" the ref of the element with that name on the page.
type commandCase struct {
	args       []string
	input      string
	page       string // opened first; "" leaves the tab as it is
	fails      bool   // with any code but 0
	out        string // begins the standard output, if not ""
	holds      []string
	wantStderr string // in the standard error; if it fails there must be something
	json       bool   // the standard output is JSON
}

func newCommandCase(text string, page string) commandCase {
	return commandCase{args: strings.Fields(text), page: page}
}

func (l commandCase) with(args ...string) commandCase { l.args = append(l.args, args...); return l }

func (l commandCase) prints(out string, holds ...string) commandCase {
	l.out, l.holds = out, holds
	return l
}

func (l commandCase) printsJSON(holds ...string) commandCase { l.json, l.holds = true, holds; return l }

func (l commandCase) refused(talk string) commandCase { l.fails, l.wantStderr = true, talk; return l }

func (l commandCase) reads(input string) commandCase { l.input = input; return l }

// commandCases returns the commands, each run as people and scripts do.
func commandCases() []testCase {
	var out []testCase
	seen := map[string]bool{}
	for _, list := range [][]commandCase{globalFlagCommands(), browserCommands(), readingCommands(), actingCommands(), recordingCommands(), stateCommands(), wrongUseCommands()} {
		for _, l := range list {
			name := strings.Join(l.args, " ")
			if len(name) > 90 {
				name = name[:90] + "…"
			}
			for seen[name] {
				name += " again"
			}
			seen[name] = true
			out = append(out, testCase{Name: name, Run: l.run})
		}
	}
	return append(out, testCase{Name: "a snapshot into a file", Run: intoFile}, testCase{Name: "a look that failed is told as such", Run: notCaptured},
		testCase{Name: "a dialog is left to be answered", Run: dialogCommands})
}

func (l commandCase) run(s *suite) {
	if l.page != "" {
		s.openPage(l.page)
	}
	got := s.command(strings.ReplaceAll(l.input, "SITE", s.Site.URL), l.filled(s)...)
	if (got.Code != 0) != l.fails {
		s.Fatalf("it ended with %d: %.300s%.300s", got.Code, got.Stdout, got.Stderr)
	}
	if l.fails && got.Stderr == "" || !strings.Contains(got.Stderr, l.wantStderr) {
		s.Fatalf("standard error %q lacks %q", got.Stderr, l.wantStderr)
	}
	if !strings.HasPrefix(got.Stdout, l.out) {
		s.Fatalf("standard output %.300q does not begin with %q", got.Stdout, l.out)
	}
	for _, part := range l.holds {
		if part = strings.ReplaceAll(part, "SITE", s.Site.URL); !strings.Contains(got.Stdout, part) {
			s.Fatalf("standard output %.300q lacks %q", got.Stdout, part)
		}
	}
	if l.json && !json.Valid([]byte(got.Stdout)) {
		s.Fatalf("standard output %.300q is no JSON", got.Stdout)
	}
}

// namedCase returns a placeholder for a ref.
func namedCase(arg string) []string {
	return regexp.MustCompile(`\{[A-Z][a-z ]*\}`).FindAllString(arg, -1)
}

func (l commandCase) filled(s *suite) []string {
	var snap *snapshotAnswer
	args := make([]string, len(l.args))
	for i, arg := range l.args {
		arg = strings.ReplaceAll(arg, "%20", " ")
		for _, hole := range namedCase(arg) {
			if snap == nil {
				got := s.snapshot("interactive=true")
				snap = &got
			}
			id := ""
			for ref, r := range snap.Refs {
				if r.Name == hole[1:len(hole)-1] {
					id = ref
				}
			}
			if id == "" {
				s.Fatalf("nothing on the page is named %s:\n%s", hole, snap.Snapshot)
			}
			arg = strings.ReplaceAll(arg, hole, id)
		}
		args[i] = strings.NewReplacer("SITE", s.Site.URL, "TEMP", s.Temp).Replace(arg)
	}
	return args
}

func intoFile(s *suite) {
	s.openPage("/form")
	path := filepath.Join(s.Temp, "page.txt")
	got := s.command("", "snapshot", "--out", path, "--json")
	var told struct {
		OK, Captured bool
		Out          string
	}
	s.check(json.Unmarshal([]byte(got.Stdout), &told))
	text := s.read(path)
	if !told.OK || !told.Captured || told.Out != path || !strings.Contains(string(text), `button "Save"`) {
		s.Fatalf("told %+v, the file holds %.200q", told, text)
	}
}

func notCaptured(s *suite) {
	s.openPage("/form")
	for _, args := range [][]string{{"screenshot", "--element", "#nosuch", "--timeout", "20000"}, {"snapshot", "--target-id", "nosuch"}} {
		got := s.command("", append(args, "--json")...)
		var told struct {
			Captured *bool
			Error    string
		}
		s.check(json.Unmarshal([]byte(got.Stdout), &told))
		if got.Code == 0 || told.Captured == nil || *told.Captured || told.Error == "" {
			s.Fatalf("%v ended with %d and told %s", args, got.Code, got.Stdout)
		}
	}
}

// dialogCommands opens one by a click, which is told, and answers it.
func dialogCommands(s *suite) {
	for _, l := range []commandCase{
		newCommandCase("click {Prompt}", "/dialogs").prints(""),
		newCommandCase("dialogs", "").printsJSON("Your name?"),
		newCommandCase("snapshot", "").refused("dialog"),
		newCommandCase("dialog --accept --prompt Ada", ""),
	} {
		l.run(s)
	}
	s.waitForSaid("Ada")
}

// globalFlagCommands returns the flags of every command, before and after its name.
func globalFlagCommands() []commandCase {
	return []commandCase{
		newCommandCase("status", "/form").prints("profile: clank", "running: true"),
		newCommandCase("--json status", "").printsJSON(`"cdpReady": true`),
		newCommandCase("status --json", "").printsJSON(`"cdpReady": true`),
		newCommandCase("tabs --json", "").printsJSON(`"tabs": [`),
		newCommandCase("--browser-profile openclaw status", "").prints("profile: "),
		newCommandCase("status --browser-profile nosuch", "").refused("nosuch"),
		newCommandCase("--url http://127.0.0.1:1 --token x status", "").refused("127.0.0.1:1"),
		newCommandCase("status --token wrong", "").refused("secret"),
		newCommandCase("--timeout 30000 --expect-final status", "").prints("profile: "),
		newCommandCase("tabs --timeout soon", "").refused("timeout"),
		newCommandCase("evaluate --fn 1 --target-id nosuch", "").refused("tab not found"),
	}
}
