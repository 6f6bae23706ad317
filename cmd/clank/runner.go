package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/cancel"
	"clank/consent"
	"clank/dashboard"
	"clank/internal/terminal"
	"clank/sessions"
)

// newRunner uses the server that owns the home, if there is one, and otherwise
// opens the parts in this process. If another command is at work with the home,
// this one keeps nothing, and says so.
func newRunner(ctx context.Context, e *env) (runner, error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.server()
	if err != nil {
		return nil, err
	}
	if found {
		return newRemoteRunner(e, a), nil
	}
	opts := appOptions{shopAddr: defaultShopAddr}
	switch err := h.claim(); {
	case errors.Is(err, errClaimed):
		opts.throwaway = true
		fmt.Fprintf(e.stderr, "another clank is at work with %s; this one uses a browser without its logins, and keeps nothing\n", h.dir)
	case err != nil:
		return nil, err
	}
	app, err := openApp(ctx, e, h, newLogger(e, "warn"), opts)
	if err != nil {
		h.release()
		return nil, err
	}
	return localRunner{app, e}, nil
}

// localRunner works a task in this process.
type localRunner struct {
	app *app
	e   *env
}

func (r localRunner) run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.Record, error) {
	// An interrupt is the person's stop here, not the end of a server.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(&cancel.Cause{Reason: cancel.Stopped}) })()
	defer r.ask(work)()
	rec, err := r.app.manager.Run(work, t, watch)
	rec.Closed = rec.Closed || r.app.throwaway
	return rec, err
}

// ask asks the questions of a task in the terminal until its result is called, if
// there is one.
func (r localRunner) ask(ctx context.Context) (end func()) {
	p := r.e.prompt(ctx, func(_ context.Context, id string, allowed, forSession bool) error {
		return r.app.asker.desk.Answer(id, consent.Answer{Allowed: allowed, ForSession: forSession, By: "the person at the terminal"})
	})
	if p == nil {
		return func() {}
	}
	f := r.app.asker.desk.Follow(func(consent.Question) bool { return true })
	following, quit := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			ev, err := f.Next(following)
			if err != nil {
				return
			}
			p.Tell(ev)
		}
	})
	return func() {
		f.Close()
		quit()
		done.Wait()
		r.e.endPrompt(p)
	}
}

func (r localRunner) view(ctx context.Context, taskID string, n int) (sessions.Image, error) {
	return r.app.manager.View(ctx, taskID, n)
}

func (r localRunner) close(hurry context.Context) error {
	defer r.app.home.release()
	return r.app.close(hurry)
}

// remoteRunner works a task in a server that is already there.
type remoteRunner struct {
	client *dashboard.Client
	e      *env
}

func newRemoteRunner(e *env, a address) remoteRunner {
	return remoteRunner{&dashboard.Client{Base: a.URL, Token: a.Secret}, e}
}

// stopTime bounds how long a stop may take to reach the server, and the server
// to say how the task ended.
const stopTime = 5 * time.Second

func (r remoteRunner) run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.Record, error) {
	p := r.e.prompt(ctx, func(ctx context.Context, id string, allowed, forSession bool) error {
		return r.client.Answer(ctx, id, dashboard.AnswerRequest{Allow: allowed, ForSession: forSession})
	})
	if p != nil {
		r.client.Asked = p.Tell
		defer r.e.endPrompt(p)
	}
	started, err := r.client.Start(ctx, dashboard.TaskRequest{
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

func (r remoteRunner) view(ctx context.Context, taskID string, n int) (sessions.Image, error) {
	return r.client.View(ctx, taskID, n)
}

func (r remoteRunner) close(context.Context) error { return nil }

// prompt begins to ask in the terminal; nil if there is none.
func (e *env) prompt(ctx context.Context, answer func(context.Context, string, bool, bool) error) *terminal.Prompter {
	if e.tty == nil {
		return nil
	}
	in, err := e.tty()
	if err != nil {
		return nil
	}
	return terminal.StartPrompter(ctx, in, e.stderr, answer)
}

func (e *env) endPrompt(p *terminal.Prompter) {
	if err := p.Close(); err != nil {
		fmt.Fprintf(e.stderr, "close the terminal: %v\n", err)
	}
}
