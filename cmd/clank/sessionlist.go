package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"clank/dashboard"
	"clank/internal/terminal"
	"clank/sessions"
	"clank/sqlite"
)

const sessionsIntro = `clank sessions [flags]
clank sessions say|show|export|replay|script|scripts …

Lists the sessions that can be continued with "clank browse --session ID", last used first.

  clank sessions say <id> <text>       tell a task that runs something; it hears it at its next step
  clank sessions show <id>             tell a run, step by step
  clank sessions export <id> [file]    write a run with its pictures as one zip
  clank sessions replay <id|file>      give the recorded answers again, on live pages, and say what differs
  clank sessions script <id> <name>    save a run as a script, which needs no model
  clank sessions scripts               list, show, run or delete the scripts

An id is that of a task or of a session, as "clank browse --json" prints them.`

// sessionCommands are the commands of "clank sessions" by name.
func sessionCommands() map[string]func(ctx context.Context, e *env, args []string) error {
	return map[string]func(ctx context.Context, e *env, args []string) error{
		"say": sayToTask, "show": showRun, "export": exportRun, "replay": replayRun, "script": saveScript, "scripts": workScripts,
	}
}

func listSessions(ctx context.Context, e *env, args []string) error {
	if len(args) > 0 {
		if run, found := sessionCommands()[args[0]]; found {
			return run(ctx, e, args[1:])
		}
		if args[0] == "list" {
			args = args[1:]
		}
	}
	fs := newFlags("sessions", sessionsIntro)
	asJSON := fs.Bool("json", false, "print them as JSON")
	if err := parse(e, fs, args, 0); err != nil {
		return err
	}
	list, err := openSessions(ctx, e)
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(e.stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.stderr, "there is no session to continue")
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tLAST USED\tSTEPS\tPAGE")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", s.ID, s.State, s.LastUsed.Local().Format(time.DateTime), s.Steps, terminal.Clip(s.Title+" "+s.URL, 80))
	}
	return w.Flush()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// openSessions asks the server that owns the home, or else reads the database.
func openSessions(ctx context.Context, e *env) ([]sessions.Session, error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return nil, err
	}
	var list []sessions.Session
	if a, found, err := h.server(); err != nil {
		return nil, err
	} else if found {
		views, err := newRemoteRunner(e, a).client.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		return open(views), nil
	}
	db, err := sqlite.Open(ctx, h.path("clank.db"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	list, err = db.Sessions(ctx, sessions.SessionQuery{
		States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
	})
	for i := range list {
		list[i].Memory = nil
	}
	return list, err
}

// open keeps the sessions that are not closed.
func open(views []dashboard.SessionView) []sessions.Session {
	var list []sessions.Session
	for _, v := range views {
		if v.State != sessions.SessionClosed {
			list = append(list, v.Session)
		}
	}
	return list
}
