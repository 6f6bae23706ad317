//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/spf13/cobra"
)

// openTaskRunner connects to the server that owns the home, if there is one, and otherwise opens a server in this
// process. If another command is using the home, this one stores nothing but what it spends, and says so.
func openTaskRunner(ctx context.Context, e *commandEnv) (taskRunner, error) {
	h, running, err := findServer(e)
	if err != nil {
		return nil, err
	}
	if running != nil {
		return remoteRunner{running, e}, nil
	}
	opts := server.Options{
		Getenv: e.Getenv, Logger: e.newLogger("warn", logText), Version: version,
		AbortContext: e.AbortContext, ShopAddr: server.DefaultShopAddr,
	}
	switch err := h.Claim(); {
	case errors.Is(err, server.ErrHomeClaimed):
		opts.Ephemeral = true
		fmt.Fprintf(e.Stderr, "another clank is at work with %s; this one uses a browser without its logins, and keeps "+
			"nothing but what it spends\n", h.Dir)
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

// localRunner runs tasks in this process.
type localRunner struct {
	server *server.Server
	env    *commandEnv
}

// Run implements [taskRunner].
func (r localRunner) Run(ctx context.Context, t sessions.Task,
	watch func(sessions.Event),
) (sessions.TaskRecord, error) {
	// Here an interrupt means that the person stops the task, rather than that a server ends.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(&cancel.Cause{Reason: cancel.Stopped}) })()
	defer r.startQuestions(work)()
	rec, err := r.server.Sessions.Run(work, t, watch)
	if discarding := r.server.Inbox.Discard(t.Files...); discarding != nil {
		fmt.Fprintln(r.env.Stderr, "clank: files that were sent are not removed:", discarding)
	}
	rec.Closed = rec.Closed || r.server.Ephemeral
	return rec, err
}

// startQuestions asks the questions of a task in the terminal, if there is one, until end is called.
func (r localRunner) startQuestions(ctx context.Context) (end func()) {
	p := startPrompt(ctx, r.env, func(_ context.Context, id string, a approval.Answer) error {
		return r.server.Approver.Approvals.Answer(id, a)
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

// SendFile implements [taskRunner].
func (r localRunner) SendFile(ctx context.Context, name string, from io.Reader) (sessions.File, error) {
	return r.server.Inbox.Receive(ctx, name, from)
}

// Download implements [taskRunner].
func (r localRunner) Download(_ context.Context, _ string, f sessions.File) (io.ReadCloser, error) {
	return os.Open(f.Path)
}

// Close implements [taskRunner].
func (r localRunner) Close(hurry context.Context) error {
	defer r.server.Home.Release()
	return r.server.Close(hurry)
}

// remoteRunner runs tasks in a running server. It asks their questions in the terminal of env.
type remoteRunner struct {
	client *api.Client
	env    *commandEnv
}

// remoteStopTimeout bounds stopping a task in the server and waiting for its result.
const remoteStopTimeout = 5 * time.Second

// Run implements [taskRunner].
func (r remoteRunner) Run(ctx context.Context, t sessions.Task,
	watch func(sessions.Event),
) (sessions.TaskRecord, error) {
	following := *r.client // concurrent tasks need separate clients, because each sets OnQuestion
	r.client = &following
	p := startPrompt(ctx, r.env, answerServer(r.client))
	if p != nil {
		r.client.OnQuestion = p.HandleEvent
		defer endPrompt(r.env, p)
	}
	var files []string
	for _, f := range t.Files {
		files = append(files, f.ID)
	}
	started, err := r.client.Start(ctx, api.TaskRequest{
		Prompt: t.Prompt, SessionID: t.SessionID, Runtime: t.Runtime, Profile: t.Profile, Model: t.Model,
		MaxSteps: t.MaxSteps, Headed: t.Headed,
		Origin: sessions.FromTerminal, Typed: t.Typed, Allow: t.Allow, Files: files, Asks: p != nil,
	})
	if err != nil {
		return sessions.TaskRecord{}, err
	}
	rec, err := r.client.Follow(ctx, started.TaskID, watch)
	if ctx.Err() == nil {
		return rec, err
	}
	// The person interrupts: stop the task and report how it ended.
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

// SendFile implements [taskRunner].
func (r remoteRunner) SendFile(ctx context.Context, name string, from io.Reader) (sessions.File, error) {
	return r.client.SendFile(ctx, name, from)
}

// Download implements [taskRunner].
func (r remoteRunner) Download(ctx context.Context, taskID string, f sessions.File) (io.ReadCloser, error) {
	return r.client.Download(ctx, taskID, f.ID)
}

// Close implements [taskRunner]; the server keeps running.
func (r remoteRunner) Close(context.Context) error { return nil }

// answerServer returns a function that sends answers to a server.
func answerServer(c *api.Client) answerFunc {
	return func(ctx context.Context, id string, a approval.Answer) error {
		return c.Answer(ctx, id, api.AnswerRequest{
			Allow: a.Allowed, ForSession: a.ForSession, Text: a.Text,
			Reason: a.Reason,
		})
	}
}

// startPrompt starts asking the user of the MCP client in ctx or, without one, in the terminal; it returns nil if
// nobody can be asked.
func startPrompt(ctx context.Context, e *commandEnv, answer answerFunc) questioner {
	if person := clientPersonOf(ctx); person != nil {
		if !person.CanAnswer() {
			return nil
		}
		return newClientQuestions(ctx, person, answer)
	}
	if e.TTY == nil {
		return nil
	}
	in, err := e.TTY()
	if err != nil {
		return nil
	}
	return startApprovalPrompter(ctx, in, e.Stderr, answer)
}

// endPrompt closes a prompt of [startPrompt].
func endPrompt(e *commandEnv, p questioner) {
	if err := p.Close(); err != nil {
		fmt.Fprintf(e.Stderr, "close the terminal: %v\n", err)
	}
}

// findServer returns the home, and a client of the server that owns it; the client is nil if none is running.
func findServer(e *commandEnv) (*server.Home, *api.Client, error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return nil, nil, err
	}
	a, found, err := h.RunningServer()
	if err != nil || !found {
		return h, nil, err
	}
	return h, &api.Client{Base: a.URL, Token: a.Secret}, nil
}

// withServerOrDatabase calls remote with a client of the server that owns the home, or local with the database if
// none is running. It closes the database afterwards.
func withServerOrDatabase(ctx context.Context, e *commandEnv, remote func(*api.Client) error,
	local func(*sqlite.DB) error,
) (err error) {
	h, running, err := findServer(e)
	if err != nil {
		return err
	}
	if running != nil {
		return remote(running)
	}
	db, err := h.OpenDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return local(db)
}

// requireServer returns a client of the "clank serve" that owns the home. If none is running, the error says why it
// is needed.
func requireServer(e *commandEnv, why string) (*api.Client, error) {
	h, running, err := findServer(e)
	if err == nil && running == nil {
		err = errors.New("no \"clank serve\" runs with " + h.Dir + "; start it first: " + why)
	}
	return running, err
}

// newRunScriptCommand returns the command that runs a script with the plain model, here or in the server that owns
// the home.
func newRunScriptCommand(e *commandEnv) *cobra.Command {
	var f browseFlags
	c := newCommand("run <name> [values]", "run one with other values, as clank browse --script does", "",
		func(ctx context.Context, args []string) error {
			f.script = args[0]
			task, err := f.buildTask(e, strings.Join(args[1:], ""))
			if err != nil {
				return err
			}
			return f.runTask(ctx, e, task)
		})
	f.add(c)
	c.ValidArgsFunction = completeScripts(e)
	return c
}

// completeScripts completes the name of a script.
func completeScripts(e *commandEnv) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		if len(args) == 0 { // without a home there are no scripts
			_ = withScripts(e, func(store recording.ScriptStore) (err error) { names, err = store.Names(); return err })
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// buildScriptTask returns the task that runs a script. Its steps come from a recorded run, where a model may have
// chosen them, so it does not count as typed.
func buildScriptTask(e *commandEnv, name, values string) (sessions.Task, error) {
	t := sessions.Task{Model: plain.ModelName, Origin: server.TerminalOrigin()}
	err := withScripts(e, func(store recording.ScriptStore) (err error) {
		t.Prompt, err = store.Steps(name, values)
		return err
	})
	if err == nil {
		t.MaxSteps, err = recording.StepLimit(t.Prompt, server.MaxTaskSteps)
	}
	return t, err
}
