package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/runs/script"
	"clank/untrusted"
)

func (h *home) scripts() script.Shelf { return script.Shelf{Dir: h.path("scripts")} }

const scriptIntro = `clank sessions script [flags] <id|file> <name>

Saves a run that ended well as a script: plain steps, which need no model the next
time. What was typed becomes a value that can be another one then:

  clank sessions script bcdf23ghjk find-lamps
  clank browse --model plain:steps 'run find-lamps with search = desk'

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
	fmt.Fprintf(e.stderr, "saved; run it with: clank browse --model %s 'run %s'\n", plainModel, s.Name)
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

Lists the scripts, shows one, or deletes one.`

func workScripts(_ context.Context, e *env, args []string) error {
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
	return usageErrorf("write list, show <name> or delete <name>")
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
