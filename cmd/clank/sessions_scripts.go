package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/untrusted"
)

const scriptIntro = `clank sessions script [flags] <id|file> <name>

Saves a run that ended well as a script: plain steps, which need no model the next
time. What was typed becomes a value that can be another one then:

  clank sessions script bcdf23ghjk find-lamps
  clank browse --script find-lamps 'search = desk'

The script is a text file in the home, in scripts/, and may be edited.`

func (c sessionsCommand) saveScriptVerb(_ context.Context, args []string) (err error) {
	e := c.Env
	fs := newFlags("sessions script", scriptIntro)
	replace := fs.Bool("replace", false, "replace a script of that name")
	if err := e.parseFlags(fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) < 2 {
		return usagef("say which run, and a name for the script")
	}
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	b, err := openRun(e, fs.Rest[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s, notes, err := recording.MakeScript(b, fs.Rest[1])
	if err != nil {
		return err
	}
	if err := (recording.ScriptStore{Dir: h.ScriptsDir()}).Save(s, *replace); err != nil {
		return err
	}
	if _, err := fmt.Fprint(e.Stdout, sanitizeLines(s.String())); err != nil {
		return fmt.Errorf("print the script: %w", err)
	}
	for _, n := range notes {
		fmt.Fprintln(e.Stderr, "note:", untrusted.CleanLine(n, 300))
	}
	fmt.Fprintf(e.Stderr, "saved; run it with: clank browse --script %s\n", s.Name)
	return nil
}

// sanitizeLines is a text with the names of pages in it, fit for a terminal.
func sanitizeLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = untrusted.CleanLine(l, 10_000)
	}
	return strings.Join(lines, "\n") + "\n"
}

const scriptsIntro = `clank sessions scripts [flags] [show|delete <name>]
clank sessions scripts run <name> [values]       (the same as clank browse --script)

Lists the scripts, shows one, deletes one, or runs one with other values:

  clank sessions scripts run find-lamps 'search = desk, city = "Rome, Italy"'`

func (c sessionsCommand) scriptsVerb(ctx context.Context, args []string) error {
	e := c.Env
	if len(args) > 0 && args[0] == "run" {
		return c.Browse.runScriptArgs(ctx, scriptsIntro, args[1:])
	}
	fs := newFlags("sessions scripts", scriptsIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.parseFlags(fs, args, 2); err != nil {
		return err
	}
	h, err := server.OpenHome(e.Getenv)
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
		return listScripts(e, recording.ScriptStore{Dir: h.ScriptsDir()}, *asJSON)
	case verb == "show" && name != "":
		s, err := recording.ScriptStore{Dir: h.ScriptsDir()}.Load(name)
		if err != nil {
			return err
		}
		if *asJSON {
			return printIndentedJSON(e.Stdout, s)
		}
		_, err = fmt.Fprint(e.Stdout, sanitizeLines(s.String()))
		return err
	case verb == "delete" && name != "":
		return recording.ScriptStore{Dir: h.ScriptsDir()}.Delete(name)
	}
	return usagef("write list, show <name>, delete <name> or run <name>")
}

func listScripts(e *commandEnv, shelf recording.ScriptStore, asJSON bool) error {
	names, err := shelf.Names()
	if err != nil {
		return err
	}
	if asJSON {
		return printIndentedJSON(e.Stdout, names)
	}
	if len(names) == 0 {
		fmt.Fprintln(e.Stderr, `no script is saved; "clank sessions script" makes one of a run`)
	}
	for _, n := range names {
		var line strings.Builder
		line.WriteString(n)
		if s, err := shelf.Load(n); err != nil {
			line.WriteString("  (cannot be run: " + untrusted.CleanLine(err.Error(), 200) + ")")
		} else {
			for _, v := range s.Values {
				line.WriteString("  " + v.Name + " = " + untrusted.CleanLine(v.Text, 40))
			}
		}
		if _, err := fmt.Fprintln(e.Stdout, line.String()); err != nil {
			return fmt.Errorf("list the scripts: %w", err)
		}
	}
	return nil
}
