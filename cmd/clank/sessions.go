//go:build !browseronly

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/sessions"

	"github.com/spf13/cobra"
)

const sessionsHelp = `Lists the sessions that can be continued with "clank browse --session ID", last used first.

Other commands take the id of a task or of a session, as "clank browse --json" prints them.`

func newSessionsCommand(e *commandEnv) *cobra.Command {
	newList := func(use, short, long string) *cobra.Command {
		return newJSONCommand(use, short, long, func(ctx context.Context, asJSON bool, _ []string) error {
			list, err := listOpenSessions(ctx, e)
			if err != nil {
				return err
			}
			if len(list) == 0 && !asJSON {
				fmt.Fprintln(e.Stderr, "there is no session to continue")
				return nil
			}
			return e.printResult(asJSON, list, func(w io.Writer) {
				fmt.Fprintln(w, "ID\tSTATE\tLAST USED\tSTEPS\tPAGE")
				for _, s := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", s.ID, s.State, s.LastUsed.Local().Format(time.DateTime), s.Steps,
						clipLine(s.Title+" "+s.URL, 80))
				}
			})
		})
	}
	c := newList("sessions", "", sessionsHelp)
	c.AddCommand(newList("list", "list them, as sessions alone does", ""), newSayCommand(e), newShowCommand(e),
		newExportCommand(e), newReplayCommand(e), newSaveScriptCommand(e), newScriptsCommand(e))
	return c
}

const sayHelp = `Sends a message to a task that runs or waits in "clank serve". The model reads it before
its next step. The id is that of the task or of its session.

  clank sessions say bcdf23ghjk 'only those under 50 euros'`

// newSayCommand returns the command that sends a note to a running task.
func newSayCommand(e *commandEnv) *cobra.Command {
	return newCommand("say <id> <text>", "send a message to a running task, which reads it before its next step", sayHelp,
		func(ctx context.Context, args []string) error {
			server, err := requireServer(e, "tasks can be told something while that does them")
			if err != nil {
				return err
			}
			task, err := server.SendNote(ctx, args[0], api.NoteRequest{Text: args[1], Origin: sessions.FromTerminal})
			if err != nil {
				return err
			}
			fmt.Fprintf(e.Stderr, "sent to task %s; it is read before its next step\n", task)
			return nil
		})
}

// listOpenSessions returns the sessions of the running server, or else those in the database.
func listOpenSessions(ctx context.Context, e *commandEnv) (list []sessions.Session, err error) {
	err = withServerOrDatabase(ctx, e, func(c *api.Client) error {
		views, err := c.Sessions(ctx)
		for _, v := range views {
			if v.State != sessions.SessionClosed {
				list = append(list, v.Session)
			}
		}
		return err
	}, func(db *sqlite.DB) error {
		list, err = db.Sessions(ctx, sessions.SessionQuery{
			States: []sessions.SessionState{sessions.SessionIdle, sessions.SessionRunning, sessions.SessionParked},
		})
		for i := range list {
			list[i].Memory = nil
		}
		if err == nil && slices.ContainsFunc(list, isRunning) {
			err = parkEnded(e, list)
		}
		return err
	})
	return list, err
}

func isRunning(s sessions.Session) bool { return s.State == sessions.SessionRunning }

// parkEnded corrects the state of sessions whose clank has ended without saving it, as the next start does, unless one
// uses the home.
func parkEnded(e *commandEnv, list []sessions.Session) error {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	held, err := h.IsClaimed()
	for i := range list {
		if isRunning(list[i]) && !held {
			list[i].State = sessions.SessionParked
		}
	}
	return err
}
