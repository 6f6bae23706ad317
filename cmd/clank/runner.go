package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/cancel"
	"clank/consent"
	"clank/internal/browsecli"
	"clank/internal/command"
	"clank/internal/home"
	"clank/sessions"
)

// newRunner uses the server that owns the home, if there is one, and otherwise
// opens the parts in this process. If another command is at work with the home,
// this one keeps nothing, and says so.
func newRunner(ctx context.Context, e *command.Env) (browsecli.Runner, error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.Server()
	if err != nil {
		return nil, err
	}
	if found {
		return browsecli.NewRemote(e, a), nil
	}
	opts := appOptions{getenv: e.Getenv, logger: e.Logger("warn"), version: version, hurry: e.Hurry, shopAddr: defaultShopAddr}
	switch err := h.Claim(); {
	case errors.Is(err, home.ErrClaimed):
		opts.throwaway = true
		fmt.Fprintf(e.Stderr, "another clank is at work with %s; this one uses a browser without its logins, and keeps nothing\n", h.Dir)
	case err != nil:
		return nil, err
	}
	app, err := openApp(ctx, h, opts)
	if err != nil {
		h.Release()
		return nil, err
	}
	return localRunner{app, e}, nil
}

// localRunner works a task in this process.
type localRunner struct {
	app *app
	e   *command.Env
}

// Run implements [browsecli.Runner].
func (r localRunner) Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.Record, error) {
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
	p := browsecli.Prompt(ctx, r.e, func(_ context.Context, id string, allowed, forSession bool) error {
		return r.app.asker.Desk.Answer(id, consent.Answer{Allowed: allowed, ForSession: forSession, By: "the person at the terminal"})
	})
	if p == nil {
		return func() {}
	}
	f := r.app.asker.Desk.Follow(func(consent.Question) bool { return true })
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
		browsecli.EndPrompt(r.e, p)
	}
}

// View implements [browsecli.Runner].
func (r localRunner) View(ctx context.Context, taskID string, n int) (sessions.Image, error) {
	return r.app.manager.View(ctx, taskID, n)
}

// Close implements [browsecli.Runner].
func (r localRunner) Close(hurry context.Context) error {
	defer r.app.home.Release()
	return r.app.close(hurry)
}
