package main

import (
	"context"
	"fmt"

	"clank/dashboard/api"
	"clank/sessions"
)

const sayIntro = `clank sessions say [flags] <id> <text>

Tells a task that runs in "clank serve", or waits in line there, something more. It
is heard at the task's next step. The id is that of the task or of its session.

  clank sessions say bcdf23ghjk 'only those under 50 euros'`

// sayVerb passes on to a running task what the person at the terminal says.
func (c sessionsCommand) sayVerb(ctx context.Context, args []string) error {
	e := c.Env
	fs := newFlags("sessions say", sayIntro)
	if err := e.parseFlags(fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) < 2 {
		return usagef("say to which task, by its id, and what")
	}
	server, err := requireServer(e, "tasks can be told something while that does them")
	if err != nil {
		return err
	}
	task, err := server.SendNote(ctx, fs.Rest[0], api.NoteRequest{Text: fs.Rest[1], Origin: sessions.FromTerminal})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "told to task %s; it hears it at its next step\n", task)
	return nil
}
