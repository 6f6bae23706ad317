//go:build !browseronly

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/untrusted"

	"github.com/spf13/cobra"
)

const saveScriptHelp = `Saves a successful run as a script of plain steps, which needs no model. What was typed
becomes a parameter.

  clank sessions script bcdf23ghjk find-lamps
  clank browse --script find-lamps 'search = desk'

The script is a text file in the home directory, in scripts/. You can edit it.`

func newSaveScriptCommand(e *commandEnv) *cobra.Command {
	var replace *bool
	c := newCommand("script <id|file> <name>", "save a run as a script, which needs no model", saveScriptHelp,
		func(_ context.Context, args []string) (err error) {
			b, err := openRun(e, args[0])
			if err != nil {
				return err
			}
			s, notes, err := recording.MakeScript(b, args[1])
			if err != nil {
				return err
			}
			if err := withScripts(e, func(store recording.ScriptStore) error { return store.Save(s, *replace) }); err != nil {
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
		})
	replace = c.Flags().Bool("replace", false, "replace a script of that name")
	return c
}

// sanitizeLines makes a text that may contain names from pages safe to print on a terminal.
func sanitizeLines(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = untrusted.CleanLine(l, 10_000)
	}
	return strings.Join(lines, "\n") + "\n"
}

// withScripts calls do with the scripts of the home.
func withScripts(e *commandEnv, do func(recording.ScriptStore) error) error {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	return do(recording.ScriptStore{Dir: h.ScriptsDir()})
}

const scriptsHelp = `Lists the scripts, shows one, deletes one, or runs one with other values.

  clank sessions scripts run find-lamps 'search = desk, city = "Rome, Italy"'`

func newScriptsCommand(e *commandEnv) *cobra.Command {
	newShow := func(use, short, long string,
		run func(store recording.ScriptStore, asJSON bool, args []string) error,
	) *cobra.Command {
		return newJSONCommand(use, short, long, func(_ context.Context, asJSON bool, args []string) error {
			return withScripts(e, func(store recording.ScriptStore) error { return run(store, asJSON, args) })
		})
	}
	list := func(store recording.ScriptStore, asJSON bool, _ []string) error { return listScripts(e, store, asJSON) }
	c := newShow("scripts", "list, show, run or delete the scripts", scriptsHelp, list)
	show := newShow("show <name>", "show a script", "", func(store recording.ScriptStore, asJSON bool,
		args []string,
	) error {
		s, err := store.Load(args[0])
		if err != nil {
			return err
		}
		return e.printResult(asJSON, s, func(w io.Writer) { fmt.Fprint(w, sanitizeLines(s.String())) })
	})
	remove := newCommand("delete <name>", "delete a script", "", func(_ context.Context, args []string) error {
		return withScripts(e, func(store recording.ScriptStore) error { return store.Delete(args[0]) })
	})
	doRename := func(_ context.Context, args []string) error {
		return withScripts(e, func(store recording.ScriptStore) error { return store.Rename(args[0], args[1]) })
	}
	rename := newCommand("rename <name> <new-name>", "rename a script", "", doRename)
	for _, one := range []*cobra.Command{show, remove, rename} {
		one.ValidArgsFunction = completeScripts(e)
	}
	all := newShow("list", "list the scripts; the same as scripts without a command", "", list)
	c.AddCommand(all, show, rename, remove, newRunScriptCommand(e))
	return c
}

func listScripts(e *commandEnv, store recording.ScriptStore, asJSON bool) error {
	names, err := store.Names()
	if err != nil {
		return err
	}
	if len(names) == 0 && !asJSON {
		fmt.Fprintln(e.Stderr, `no script is saved; "clank sessions script" makes one of a run`)
	}
	return e.printResult(asJSON, names, func(w io.Writer) {
		for _, n := range names {
			words := []string{n}
			if s, err := store.Load(n); err != nil {
				words = append(words, "(cannot be run: "+untrusted.CleanLine(err.Error(), 200)+")")
			} else {
				for _, v := range s.Values {
					words = append(words, v.Name+" = "+untrusted.CleanLine(v.Text, 40))
				}
			}
			fmt.Fprintln(w, strings.Join(words, "  "))
		}
	})
}
