package main

import (
	"context"
	"errors"
	"fmt"

	"clank/dashboard"
	"clank/sessions"
)

const sayIntro = `clank sessions say [flags] <id> <text>

Tells a task that runs in "clank serve", or waits in line there, something more. It
is heard at the task's next step. The id is that of the task or of its session.

  clank sessions say bcdf23ghjk 'only those under 50 euros'`

// sayToTask passes on to a running task what the person at the terminal says.
func sayToTask(ctx context.Context, e *env, args []string) error {
	fs := newFlags("sessions say", sayIntro)
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) < 2 {
		return usageErrorf("say to which task, by its id, and what")
	}
	c, err := server(e, "tasks can be told something while that does them")
	if err != nil {
		return err
	}
	task, err := c.Say(ctx, fs.Rest[0], dashboard.Saying{Text: fs.Rest[1], Origin: sessions.FromTerminal})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "told to task %s; it hears it at its next step\n", task)
	return nil
}

// server is the clank serve that owns the home. Without one the error says what
// for it is needed.
func server(e *env, why string) (*dashboard.Client, error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.server()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("no \"clank serve\" runs with " + h.dir + ": " + why)
	}
	return newRemoteRunner(e, a).client, nil
}
