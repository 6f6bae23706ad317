package browsecli

import (
	"context"
	"fmt"
	"time"

	"clank/cancel"
	"clank/dashboard/client"
	"clank/dashboard/wire"
	"clank/internal/command"
	"clank/internal/home"
	"clank/internal/owner"
	"clank/internal/terminal"
	"clank/sessions"
)

// Remote works a task in a server that is already there.
type Remote struct {
	client *client.Client
	e      *command.Env
}

// NewRemote is the server at an address. What is asked meanwhile is asked in the
// terminal of e.
func NewRemote(e *command.Env, a home.Address) Remote {
	return Remote{owner.Client(a), e}
}

// stopTime bounds how long a stop may take to reach the server, and the server
// to say how the task ended.
const stopTime = 5 * time.Second

// Run implements [Runner].
func (r Remote) Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.Record, error) {
	p := Prompt(ctx, r.e, func(ctx context.Context, id string, allowed, forSession bool) error {
		return r.client.Answer(ctx, id, wire.AnswerRequest{Allow: allowed, ForSession: forSession})
	})
	if p != nil {
		r.client.Asked = p.Tell
		defer EndPrompt(r.e, p)
	}
	started, err := r.client.Start(ctx, wire.TaskRequest{
		Prompt: t.Prompt, SessionID: t.SessionID, Runtime: t.Runtime, Profile: t.Profile, Model: t.Model, MaxSteps: t.MaxSteps, Headed: t.Headed,
		Origin: sessions.FromTerminal, Allow: t.Allow, Asks: p != nil,
	})
	if err != nil {
		return sessions.Record{}, err
	}
	rec, err := r.client.Follow(ctx, started.TaskID, watch)
	if ctx.Err() == nil {
		return rec, err
	}
	// The person wants out: the task is stopped, and its end told.
	late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancelLate()
	if _, err := r.client.Stop(late, started.TaskID); err != nil {
		return rec, fmt.Errorf("stop the task in the server: %w", err)
	}
	rec, err = r.client.Follow(late, started.TaskID, func(sessions.Event) {})
	if err != nil {
		return rec, &cancel.Cause{Reason: cancel.Stopped}
	}
	return rec, nil
}

// View implements [Runner].
func (r Remote) View(ctx context.Context, taskID string, n int) (sessions.Image, error) {
	return r.client.View(ctx, taskID, n)
}

// Close implements [Runner]; the server goes on.
func (r Remote) Close(context.Context) error { return nil }

// Prompt begins to ask in the terminal; nil if there is none.
func Prompt(ctx context.Context, e *command.Env, answer func(context.Context, string, bool, bool) error) *terminal.Prompter {
	if e.TTY == nil {
		return nil
	}
	in, err := e.TTY()
	if err != nil {
		return nil
	}
	return terminal.StartPrompter(ctx, in, e.Stderr, answer)
}

// EndPrompt ends what [Prompt] began.
func EndPrompt(e *command.Env, p *terminal.Prompter) {
	if err := p.Close(); err != nil {
		fmt.Fprintf(e.Stderr, "close the terminal: %v\n", err)
	}
}
