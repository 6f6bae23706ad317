package main

import (
	"context"
	"fmt"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/server"
	"clank/llm"
	"clank/sessions"
)

// remoteRunner works a task in a server that is already there.
type remoteRunner struct {
	client *api.Client
	env    *commandEnv
}

// newRemoteRunner returns the server at an address. What is asked meanwhile is asked in the
// terminal of e.
func newRemoteRunner(e *commandEnv, a server.Address) remoteRunner {
	return remoteRunner{newDashboardClient(a), e}
}

// remoteStopTimeout bounds how long a stop may take to reach the server, and the server
// to say how the task ended.
const remoteStopTimeout = 5 * time.Second

// Run implements [taskRunner].
func (r remoteRunner) Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error) {
	p := startPrompt(ctx, r.env, func(ctx context.Context, id string, allowed, forSession bool) error {
		return r.client.Answer(ctx, id, api.AnswerRequest{Allow: allowed, ForSession: forSession})
	})
	if p != nil {
		r.client.OnQuestion = p.HandleEvent
		defer endPrompt(r.env, p)
	}
	started, err := r.client.Start(ctx, api.TaskRequest{
		Prompt: t.Prompt, SessionID: t.SessionID, Runtime: t.Runtime, Profile: t.Profile, Model: t.Model, MaxSteps: t.MaxSteps, Headed: t.Headed,
		Origin: sessions.FromTerminal, Typed: t.Typed, Allow: t.Allow, Asks: p != nil,
	})
	if err != nil {
		return sessions.TaskRecord{}, err
	}
	rec, err := r.client.Follow(ctx, started.TaskID, watch)
	if ctx.Err() == nil {
		return rec, err
	}
	// The person wants out: the task is stopped, and its end told.
	late, cancelLate := context.WithTimeout(context.WithoutCancel(ctx), remoteStopTimeout)
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

// View implements [taskRunner].
func (r remoteRunner) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	return r.client.View(ctx, taskID, n)
}

// Close implements [taskRunner]; the server goes on.
func (r remoteRunner) Close(context.Context) error { return nil }

// startPrompt begins to ask in the terminal; nil if there is none.
func startPrompt(ctx context.Context, e *commandEnv, answer func(context.Context, string, bool, bool) error) *approvalPrompter {
	if e.TTY == nil {
		return nil
	}
	in, err := e.TTY()
	if err != nil {
		return nil
	}
	return startApprovalPrompter(ctx, in, e.Stderr, answer)
}

// endPrompt ends what [startPrompt] began.
func endPrompt(e *commandEnv, p *approvalPrompter) {
	if err := p.Close(); err != nil {
		fmt.Fprintf(e.Stderr, "close the terminal: %v\n", err)
	}
}
