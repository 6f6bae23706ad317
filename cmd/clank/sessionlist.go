package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"clank/dashboard"
	"clank/internal/terminal"
	"clank/sessions"
	"clank/sqlite"
)

const sessionsIntro = `clank sessions [flags]

Lists the sessions that can be continued with "clank browse --session ID", last used first.`

func listSessions(ctx context.Context, e *env, args []string) error {
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
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
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
