package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/llm/plain"
	"clank/runs/script"
	"clank/sessions"
	"clank/untrusted"
)

func (h *home) scripts() script.Shelf { return script.Shelf{Dir: h.path("scripts")} }

const scriptIntro = `clank sessions script [flags] <id|file> <name>

Saves a run that ended well as a script: plain steps, which need no model the next
time. What was typed becomes a value that can be another one then:

  clank sessions script bcdf23ghjk find-lamps
  clank browse --script find-lamps 'search = desk'

The script is a text file in the home, in scripts/, and may be edited.`

func saveScript(_ context.Context, e *env, args []string) (err error) {
	fs := newFlags("sessions script", scriptIntro)
	replace := fs.Bool("replace", false, "replace a script of that name")
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) < 2 {
		return usageErrorf("say which run, and a name for the script")
	}
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	b, err := openRun(e, fs.Rest[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s, notes, err := script.Make(b, fs.Rest[1])
	if err != nil {
		return err
	}
	if err := h.scripts().Save(s, *replace); err != nil {
		return err
	}
	if _, err := fmt.Fprint(e.stdout, shown(s.String())); err != nil {
		return fmt.Errorf("print the script: %w", err)
	}
	for _, n := range notes {
		fmt.Fprintln(e.stderr, "note:", untrusted.Line(n, 300))
	}
	fmt.Fprintf(e.stderr, "saved; run it with: clank browse --script %s\n", s.Name)
	return nil
}

// shown is a text with the names of pages in it, fit for a terminal.
func shown(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = untrusted.Line(l, 10_000)
	}
	return strings.Join(lines, "\n") + "\n"
}

const scriptsIntro = `clank sessions scripts [flags] [show|delete <name>]
clank sessions scripts run <name> [values]       (the same as clank browse --script)

Lists the scripts, shows one, deletes one, or runs one with other values:

  clank sessions scripts run find-lamps 'search = desk, city = "Rome, Italy"'`

func workScripts(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 && args[0] == "run" {
		return runScript(ctx, e, args[1:])
	}
	fs := newFlags("sessions scripts", scriptsIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	verb, name := "list", ""
	switch {
	case len(fs.Rest) == 2:
		verb, name = fs.Rest[0], fs.Rest[1]
	case len(fs.Rest) == 1:
		verb = fs.Rest[0]
	}
	switch {
	case verb == "list" && name == "":
		return listScripts(e, h.scripts(), *asJSON)
	case verb == "show" && name != "":
		s, err := h.scripts().Load(name)
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(e.stdout, s)
		}
		_, err = fmt.Fprint(e.stdout, shown(s.String()))
		return err
	case verb == "delete" && name != "":
		return h.scripts().Delete(name)
	}
	return usageErrorf("write list, show <name>, delete <name> or run <name>")
}

// runScript has the model that needs no key follow a script, here or in the
// server that owns the home.
func runScript(ctx context.Context, e *env, args []string) error {
	var f browseFlags
	fs := newFlags("sessions scripts run", scriptsIntro)
	fs.BoolVar(&f.json, "json", false, "print the whole outcome as JSON")
	fs.StringVar(&f.session, "session", "", "go on in the session with this `ID`")
	fs.StringVar(&f.profile, "profile", "", "the browser profile: `NAME` (the setting says otherwise)")
	fs.StringVar(&f.allow, "allow", "", "do without asking: `CLASSES` such as buy,submit ("+classList()+")")
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usageErrorf("say which script; \"clank sessions scripts\" lists them")
	}
	if err := checkAllow(f.classes()); err != nil {
		return err
	}
	task, err := scriptTask(e, fs.Rest[0], strings.Join(fs.Rest[1:], ""))
	if err != nil {
		return err
	}
	task.SessionID, task.Profile, task.Allow = f.session, f.profile, f.classes()
	return f.begin(ctx, e, task)
}

// scriptTask is the task of following a script.
func scriptTask(e *env, name, values string) (sessions.Task, error) {
	t := sessions.Task{Model: plainModel, Origin: terminalOrigin()}
	h, err := openHome(e.getenv)
	if err != nil {
		return t, err
	}
	if t.Prompt, err = h.scripts().Steps(name, values); err != nil {
		return t, err
	}
	t.MaxSteps, err = stepsFor(t.Prompt)
	return t, err
}

// stepsFor is how many steps the model may take for an instruction: one for each,
// a look before each, and the answer. The most that a task may have bounds it.
func stepsFor(instruction string) (int, error) {
	n, err := plain.Check(instruction)
	if err != nil {
		return 0, err
	}
	if n+1 > maxSteps {
		return 0, fmt.Errorf("the script has %d steps, and a task may have %d: divide it", n, maxSteps-1)
	}
	return min(2*n+1, maxSteps), nil
}

func listScripts(e *env, shelf script.Shelf, asJSON bool) error {
	names, err := shelf.Names()
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.stdout, names)
	}
	if len(names) == 0 {
		fmt.Fprintln(e.stderr, `no script is saved; "clank sessions script" makes one of a run`)
	}
	for _, n := range names {
		var line strings.Builder
		line.WriteString(n)
		if s, err := shelf.Load(n); err != nil {
			line.WriteString("  (cannot be run: " + untrusted.Line(err.Error(), 200) + ")")
		} else {
			for _, v := range s.Values {
				line.WriteString("  " + v.Name + " = " + untrusted.Line(v.Text, 40))
			}
		}
		if _, err := fmt.Fprintln(e.stdout, line.String()); err != nil {
			return fmt.Errorf("list the scripts: %w", err)
		}
	}
	return nil
}
