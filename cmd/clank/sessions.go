package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/sqlite"
	"clank/sessions"
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

// sessionsCommand is "clank sessions". All fields are needed.
type sessionsCommand struct {
	Env    *commandEnv
	Browse browseCommand // runs scripts
	// PlayRun does what a run did once more, in a browser of its own, asking about all actions but those of the classes in
	// allow. found is called with each step.
	PlayRun func(ctx context.Context, e *commandEnv, p *recording.Player, allow []string, found func(recording.StepComparison)) (recording.ReplaySummary, error)
}

// subcommands are the commands of "clank sessions" by name.
func (c sessionsCommand) subcommands() map[string]func(ctx context.Context, args []string) error {
	return map[string]func(ctx context.Context, args []string) error{
		"say": c.sayVerb, "show": c.showVerb, "export": c.exportVerb, "replay": c.replayVerb, "script": c.saveScriptVerb, "scripts": c.scriptsVerb,
	}
}

// runArgs carries out args, which follow the words "clank sessions".
func (c sessionsCommand) runArgs(ctx context.Context, args []string) error {
	e := c.Env
	if len(args) > 0 {
		if run, found := c.subcommands()[args[0]]; found {
			return run(ctx, args[1:])
		}
		if args[0] == "list" {
			args = args[1:]
		}
	}
	fs := newFlags("sessions", sessionsIntro)
	asJSON := fs.Bool("json", false, "print them as JSON")
	if err := e.parseFlags(fs, args, 0); err != nil {
		return err
	}
	list, err := listOpenSessions(ctx, e)
	if err != nil {
		return err
	}
	if *asJSON {
		return printIndentedJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, "there is no session to continue")
		return nil
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tLAST USED\tSTEPS\tPAGE")
	for _, s := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", s.ID, s.State, s.LastUsed.Local().Format(time.DateTime), s.Steps, clipLine(s.Title+" "+s.URL, 80))
	}
	return w.Flush()
}

// openSessionsOf keeps the sessions that are not closed.
func openSessionsOf(views []api.SessionView) []sessions.Session {
	var list []sessions.Session
	for _, v := range views {
		if v.State != sessions.SessionClosed {
			list = append(list, v.Session)
		}
	}
	return list
}

// listOpenSessions asks the server that owns the home, or else reads the database.
func listOpenSessions(ctx context.Context, e *commandEnv) (list []sessions.Session, err error) {
	err = withServerOrDatabase(ctx, e, func(c *api.Client) error {
		views, err := c.Sessions(ctx)
		list = openSessionsOf(views)
		return err
	}, func(db *sqlite.DB) error {
		list, err = db.Sessions(ctx, sessions.SessionQuery{
			States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
		})
		for i := range list {
			list[i].Memory = nil
		}
		return err
	})
	return list, err
}
