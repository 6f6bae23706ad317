// Package commands has the cases about "clank browser": each command with its flags, what it prints where, and how it ends. What
// the routes behind them do is elsewhere.
package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"clank/internal/conformance/check"
)

// line is a command line and what must come of it. In args and input "SITE" is the address of the site, "TEMP" a folder,
// "%20" a space, and "{Save}" the ref of the element with that name on the page.
type line struct {
	args  []string
	input string
	page  string // opened first; "" leaves the tab as it is
	fails bool   // with any code but 0
	out   string // begins the standard output, if not ""
	holds []string
	talk  string // in the standard error; if it fails there must be something
	json  bool   // the standard output is JSON
}

func cmd(text string, page string) line { return line{args: strings.Fields(text), page: page} }

func (l line) with(args ...string) line { l.args = append(l.args, args...); return l }

func (l line) prints(out string, holds ...string) line { l.out, l.holds = out, holds; return l }

func (l line) printsJSON(holds ...string) line { l.json, l.holds = true, holds; return l }

func (l line) refused(talk string) line { l.fails, l.talk = true, talk; return l }

func (l line) reads(input string) line { l.input = input; return l }

// Run are the commands, each run as people and scripts do.
func Run() []check.Case {
	var out []check.Case
	seen := map[string]bool{}
	for _, list := range [][]line{everywhere(), browsers(), looking(), acting(), watching(), state(), wrong()} {
		for _, l := range list {
			name := strings.Join(l.args, " ")
			if len(name) > 90 {
				name = name[:90] + "…"
			}
			for seen[name] {
				name += " again"
			}
			seen[name] = true
			out = append(out, check.Case{Name: name, Run: l.run})
		}
	}
	return append(out, check.Case{Name: "a snapshot into a file", Run: intoFile}, check.Case{Name: "a look that failed is told as such", Run: notCaptured},
		check.Case{Name: "a dialog is left to be answered", Run: dialogs})
}

func (l line) run(ctx context.Context, s *check.Suite) error {
	if l.page != "" {
		if err := s.Open(ctx, l.page); err != nil {
			return err
		}
	}
	args, err := l.filled(ctx, s)
	if err != nil {
		return err
	}
	got, err := s.Command(ctx, strings.ReplaceAll(l.input, "SITE", s.Site.URL), args...)
	if err != nil {
		return err
	}
	if (got.Code != 0) != l.fails {
		return fmt.Errorf("it ended with %d: %.300s%.300s", got.Code, got.Out, got.Talk)
	}
	if l.fails && got.Talk == "" || !strings.Contains(got.Talk, l.talk) {
		return fmt.Errorf("standard error %q lacks %q", got.Talk, l.talk)
	}
	if !strings.HasPrefix(got.Out, l.out) {
		return fmt.Errorf("standard output %.300q does not begin with %q", got.Out, l.out)
	}
	for _, part := range l.holds {
		if part = strings.ReplaceAll(part, "SITE", s.Site.URL); !strings.Contains(got.Out, part) {
			return fmt.Errorf("standard output %.300q lacks %q", got.Out, part)
		}
	}
	if l.json && !json.Valid([]byte(got.Out)) {
		return fmt.Errorf("standard output %.300q is no JSON", got.Out)
	}
	return nil
}

// named is a placeholder for a ref.
func named(arg string) []string { return regexp.MustCompile(`\{[A-Z][a-z ]*\}`).FindAllString(arg, -1) }

func (l line) filled(ctx context.Context, s *check.Suite) ([]string, error) {
	var snap *check.Snapshot
	args := make([]string, len(l.args))
	for i, arg := range l.args {
		arg = strings.ReplaceAll(arg, "%20", " ")
		for _, hole := range named(arg) {
			if snap == nil {
				got, err := s.Snapshot(ctx, "interactive=true")
				if err != nil {
					return nil, err
				}
				snap = &got
			}
			id := ""
			for ref, r := range snap.Refs {
				if r.Name == hole[1:len(hole)-1] {
					id = ref
				}
			}
			if id == "" {
				return nil, fmt.Errorf("nothing on the page is named %s:\n%s", hole, snap.Snapshot)
			}
			arg = strings.ReplaceAll(arg, hole, id)
		}
		args[i] = strings.NewReplacer("SITE", s.Site.URL, "TEMP", s.Temp).Replace(arg)
	}
	return args, nil
}

func intoFile(ctx context.Context, s *check.Suite) error {
	if err := s.Open(ctx, "/form"); err != nil {
		return err
	}
	path := filepath.Join(s.Temp, "page.txt")
	got, err := s.Command(ctx, "", "snapshot", "--out", path, "--json")
	if err != nil {
		return err
	}
	var told struct {
		OK, Captured bool
		Out          string
	}
	if err := json.Unmarshal([]byte(got.Out), &told); err != nil {
		return fmt.Errorf("printed %q: %w", got.Out, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !told.OK || !told.Captured || told.Out != path || !strings.Contains(string(text), `button "Save"`) {
		return fmt.Errorf("told %+v, the file holds %.200q", told, text)
	}
	return nil
}

func notCaptured(ctx context.Context, s *check.Suite) error {
	if err := s.Open(ctx, "/form"); err != nil {
		return err
	}
	for _, args := range [][]string{{"screenshot", "--element", "#nosuch", "--timeout", "20000"}, {"snapshot", "--target-id", "nosuch"}} {
		got, err := s.Command(ctx, "", append(args, "--json")...)
		if err != nil {
			return err
		}
		var told struct {
			Captured *bool
			Error    string
		}
		if err := json.Unmarshal([]byte(got.Out), &told); err != nil {
			return fmt.Errorf("printed %q: %w", got.Out, err)
		}
		if got.Code == 0 || told.Captured == nil || *told.Captured || told.Error == "" {
			return fmt.Errorf("%v ended with %d and told %s", args, got.Code, got.Out)
		}
	}
	return nil
}

// dialogs opens one by a click, which is told, and answers it.
func dialogs(ctx context.Context, s *check.Suite) error {
	for _, l := range []line{
		cmd("click {Prompt}", "/dialogs").prints(""),
		cmd("dialogs", "").printsJSON("Your name?"),
		cmd("snapshot", "").refused("dialog"),
		cmd("dialog --accept --prompt Ada", ""),
	} {
		if err := l.run(ctx, s); err != nil {
			return fmt.Errorf("%v: %w", l.args, err)
		}
	}
	return s.Says(ctx, "Ada")
}

// everywhere are the flags of every command, before and after its name.
func everywhere() []line {
	return []line{
		cmd("status", "/form").prints("profile: clank", "running: true"),
		cmd("--json status", "").printsJSON(`"cdpReady": true`),
		cmd("status --json", "").printsJSON(`"cdpReady": true`),
		cmd("tabs --json", "").printsJSON(`"tabs": [`),
		cmd("--browser-profile openclaw status", "").prints("profile: "),
		cmd("status --browser-profile nosuch", "").refused("nosuch"),
		cmd("--url http://127.0.0.1:1 --token x status", "").refused("127.0.0.1:1"),
		cmd("status --token wrong", "").refused("secret"),
		cmd("--timeout 30000 --expect-final status", "").prints("profile: "),
		cmd("tabs --timeout soon", "").refused("timeout"),
		cmd("evaluate --fn 1 --target-id nosuch", "").refused("tab not found"),
	}
}
