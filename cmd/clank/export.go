//go:build !browseronly

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/server"
	"clank/internal/sqlite"

	"github.com/spf13/cobra"
)

const exportPersonHelp = `Exports the data about a person, or about a Discord server, to a tar.gz: data.json, and files.
clank can keep running. The contents of their browsers are not included. Name a person by ID, or
by a name that they have used.

  clank export --person ada ada.tar.gz`

const forgetHelp = `Deletes the data about a person, or about a Discord server: tasks and sessions, files, recordings
and records, what they said in calls, watches, consents, sign-ins, the state of their browsers,
and their access to entries of the vault. clank must not be running. The budgets keep what was
spent, and the audit log that something was decided, both without the person. A person's wish not
to be heard in calls is kept. Backups are not changed.

  clank forget --person 123456789012345678`

// subjectFlags select the person or server that a command is about.
type subjectFlags struct{ person, server string }

func (f *subjectFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.person, "person", "", "the `PERSON`, by ID or name")
	c.Flags().StringVar(&f.server, "server", "", "the Discord server, by `ID`")
}

// resolve returns the home and the subject of the flags. A name must belong to a single person.
func (f *subjectFlags) resolve(ctx context.Context, e *commandEnv) (*server.Home, sqlite.Subject, error) {
	switch {
	case f.person == "" && f.server == "":
		return nil, sqlite.Subject{}, usagef("name whom it is about: --person or --server")
	case f.person != "" && f.server != "":
		return nil, sqlite.Subject{}, usagef("name --person or --server, not both")
	}
	dir, err := client.HomeDir(e.Getenv)
	if err != nil {
		return nil, sqlite.Subject{}, err
	}
	h := &server.Home{Dir: dir}
	if err := h.CheckUsed(); err != nil {
		return nil, sqlite.Subject{}, err
	}
	if h, err = server.OpenHome(e.Getenv); err != nil || f.server != "" {
		return h, sqlite.Subject{Server: f.server}, err
	}
	found, err := h.FindPeople(ctx, f.person)
	if err != nil {
		return nil, sqlite.Subject{}, err
	}
	names := map[string][]string{} // by id
	for _, p := range found {
		names[p.ID] = append(names[p.ID], p.Name)
	}
	ids := slices.Sorted(maps.Keys(names))
	switch {
	case len(ids) == 0:
		fmt.Fprintf(e.Stderr, "nobody has used the name %s; it is taken for an ID\n", f.person)
		ids = []string{f.person}
	case len(ids) > 1 && !slices.Contains(ids, f.person):
		return nil, sqlite.Subject{}, usagef("several people have the name %s; name one by ID: %s", f.person,
			strings.Join(ids, ", "))
	case len(ids) > 1:
		ids = []string{f.person}
	}
	return h, sqlite.Subject{Person: ids[0]}, nil
}

func newExportPersonCommand(e *commandEnv) *cobra.Command {
	var f subjectFlags
	c := newCommand("export <file>", "", exportPersonHelp, func(ctx context.Context, args []string) error {
		_, file, err := homeAndFile(e, args[0])
		if err != nil {
			return err
		}
		h, of, err := f.resolve(ctx, e)
		if err != nil {
			return err
		}
		d, err := h.ExportSubject(ctx, e.Getenv, of, file)
		if err == nil {
			printSubject(e, file+" has", d, countRows(d))
		}
		return err
	})
	f.add(c)
	return c
}

func newForgetCommand(e *commandEnv) *cobra.Command {
	var f subjectFlags
	var yes bool
	c := newCommand("forget", "", forgetHelp, func(ctx context.Context, _ []string) error {
		h, of, err := f.resolve(ctx, e)
		if err != nil {
			return err
		}
		var confirm func() error
		if !yes {
			confirm = func() error { return confirmForget(ctx, e, of) }
		}
		d, rows, err := h.EraseSubject(ctx, e.Getenv, of, confirm)
		if err != nil {
			return err
		}
		printSubject(e, "forgotten:", d, rows)
		if len(d.Settings) > 0 {
			fmt.Fprintf(e.Stderr, "settings name them still: %s\n", strings.Join(d.Settings, ", "))
		}
		return nil
	})
	f.add(c)
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// confirmForget asks for confirmation before a subject is erased.
func confirmForget(ctx context.Context, e *commandEnv, of sqlite.Subject) error {
	id := of.Person + of.Server
	fmt.Fprintf(e.Stderr, "What is kept of %s is deleted for good. Type the ID to go on:\n", id)
	line, err := readLine(ctx, bufio.NewReader(e.Stdin))
	if ctx.Err() != nil {
		return err
	}
	if strings.TrimSpace(line) != id {
		return errors.New("nothing was deleted: the ID was not typed (--yes does not ask)")
	}
	return nil
}

func countRows(d server.SubjectData) map[string]int {
	rows := map[string]int{}
	for table, list := range d.Database {
		rows[table] = len(list)
	}
	return rows
}

// printSubject prints what was found about a subject.
func printSubject(e *commandEnv, begin string, d server.SubjectData, rows map[string]int) {
	var parts []string
	add := func(what string, n int) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", what, n))
		}
	}
	for _, table := range slices.Sorted(maps.Keys(rows)) {
		add(table, rows[table])
	}
	lines := 0
	for _, t := range d.Transcripts {
		lines += len(t)
	}
	add("lines of transcripts", lines)
	add("files and folders", len(d.Files))
	add("entries of the vault", len(d.Vault))
	add("sign-ins", len(d.SignIns))
	fmt.Fprintln(e.Stderr, begin, cmp.Or(strings.Join(parts, ", "), "nothing, because nothing is kept under this ID"))
}
