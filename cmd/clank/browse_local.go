package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/cancel"
	"clank/internal/server"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// openTaskRunner uses the server that owns the home, if there is one, and otherwise
// opens the parts in this process. If another command is at work with the home,
// this one keeps nothing, and says so.
func openTaskRunner(ctx context.Context, e *commandEnv) (taskRunner, error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return nil, err
	}
	a, found, err := h.RunningServer()
	if err != nil {
		return nil, err
	}
	if found {
		return newRemoteRunner(e, a), nil
	}
	opts := server.Options{Getenv: e.Getenv, Logger: e.newLogger("warn"), Version: version, AbortContext: e.AbortContext, ShopAddr: server.DefaultShopAddr}
	switch err := h.Claim(); {
	case errors.Is(err, server.ErrHomeClaimed):
		opts.Ephemeral = true
		fmt.Fprintf(e.Stderr, "another clank is at work with %s; this one uses a browser without its logins, and keeps nothing\n", h.Dir)
	case err != nil:
		return nil, err
	}
	app, err := server.Open(ctx, h, opts)
	if err != nil {
		h.Release()
		return nil, err
	}
	return localRunner{app, e}, nil
}

// localRunner works a task in this process.
type localRunner struct {
	server *server.Server
	env    *commandEnv
}

// Run implements [taskRunner].
func (r localRunner) Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error) {
	// An interrupt is the person's stop here, not the end of a server.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(&cancel.Cause{Reason: cancel.Stopped}) })()
	defer r.startQuestions(work)()
	rec, err := r.server.Sessions.Run(work, t, watch)
	rec.Closed = rec.Closed || r.server.Ephemeral
	return rec, err
}

// startQuestions asks the questions of a task in the terminal until its result is called, if
// there is one.
func (r localRunner) startQuestions(ctx context.Context) (end func()) {
	p := startPrompt(ctx, r.env, func(_ context.Context, id string, allowed, forSession bool) error {
		return r.server.Approver.Approvals.Answer(id, approval.Answer{Allowed: allowed, ForSession: forSession, By: "the person at the terminal"})
	})
	if p == nil {
		return func() {}
	}
	f := r.server.Approver.Approvals.Follow(func(approval.Question) bool { return true })
	following, quit := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			ev, err := f.Next(following)
			if err != nil {
				return
			}
			p.HandleEvent(ev)
		}
	})
	return func() {
		f.Close()
		quit()
		done.Wait()
		endPrompt(r.env, p)
	}
}

// View implements [taskRunner].
func (r localRunner) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	return r.server.Sessions.View(ctx, taskID, n)
}

// Close implements [taskRunner].
func (r localRunner) Close(hurry context.Context) error {
	defer r.server.Home.Release()
	return r.server.Close(hurry)
}
