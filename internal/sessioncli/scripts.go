package sessioncli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/home"
	"clank/runs/script"
	"clank/untrusted"
)

const scriptIntro = `clank sessions script [flags] <id|file> <name>

Saves a run that ended well as a script: plain steps, which need no model the next
time. What was typed becomes a value that can be another one then:

  clank sessions script bcdf23ghjk find-lamps
  clank browse --script find-lamps 'search = desk'

The script is a text file in the home, in scripts/, and may be edited.`

func (c Command) saveScript(_ context.Context, args []string) (err error) {
	e := c.Env
	fs := cmdline.New("sessions script", scriptIntro)
	replace := fs.Bool("replace", false, "replace a script of that name")
	if err := e.Parse(fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) < 2 {
		return cmdline.Usagef("say which run, and a name for the script")
	}
	h, err := home.Open(e.Getenv)
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
	if err := (script.Shelf{Dir: h.Scripts()}).Save(s, *replace); err != nil {
		return err
	}
	if _, err := fmt.Fprint(e.Stdout, shown(s.String())); err != nil {
		return fmt.Errorf("print the script: %w", err)
	}
	for _, n := range notes {
		fmt.Fprintln(e.Stderr, "note:", untrusted.Line(n, 300))
	}
	fmt.Fprintf(e.Stderr, "saved; run it with: clank browse --script %s\n", s.Name)
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

func (c Command) scripts(ctx context.Context, args []string) error {
	e := c.Env
	if len(args) > 0 && args[0] == "run" {
		return c.Browse.RunScript(ctx, scriptsIntro, args[1:])
	}
	fs := cmdline.New("sessions scripts", scriptsIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.Parse(fs, args, 2); err != nil {
		return err
	}
	h, err := home.Open(e.Getenv)
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
		return listScripts(e, script.Shelf{Dir: h.Scripts()}, *asJSON)
	case verb == "show" && name != "":
		s, err := script.Shelf{Dir: h.Scripts()}.Load(name)
		if err != nil {
			return err
		}
		if *asJSON {
			return command.PrintJSON(e.Stdout, s)
		}
		_, err = fmt.Fprint(e.Stdout, shown(s.String()))
		return err
	case verb == "delete" && name != "":
		return script.Shelf{Dir: h.Scripts()}.Delete(name)
	}
	return cmdline.Usagef("write list, show <name>, delete <name> or run <name>")
}

func listScripts(e *command.Env, shelf script.Shelf, asJSON bool) error {
	names, err := shelf.Names()
	if err != nil {
		return err
	}
	if asJSON {
		return command.PrintJSON(e.Stdout, names)
	}
	if len(names) == 0 {
		fmt.Fprintln(e.Stderr, `no script is saved; "clank sessions script" makes one of a run`)
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
		if _, err := fmt.Fprintln(e.Stdout, line.String()); err != nil {
			return fmt.Errorf("list the scripts: %w", err)
		}
	}
	return nil
}
