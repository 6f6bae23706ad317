package server

import (
	"context"
	"os"

	"clank/browsermgr/chrome"
	"clank/cancel"
	"clank/internal/settings"
	"clank/llm/plain"
)

// DefaultShopAddr is the listen address of the demo shop, fixed so that its pages keep their URLs.
const DefaultShopAddr = "127.0.0.1:8788"

// unfinishedFile is where the dashboard saves the tasks to continue at the next start.
const unfinishedFile = "unfinished-tasks.json"

// ServeOptions are the listen addresses of a server. NodeAddr may be empty; its TLS certificate and key are files.
type ServeOptions struct {
	DashboardAddr, ControlAddr, ViewerAddr string
	NodeAddr, NodeCertFile, NodeKeyFile    string
}

// Reporter shows the operator the state of a server.
type Reporter interface {
	Ready(e Endpoints)            // everything listens
	DiscordChanged(status string) // the connection to Discord changed
	Ending()                      // it takes nothing new
	Draining(running int)         // it waits for running tasks
}

// Endpoints are the addresses of a server, and the state of its browser, model, Discord connection and calls.
type Endpoints struct{ DashboardURL, BrowserStatus, ModelStatus, ControlURL, NodeURL, DiscordStatus, CallStatus string }

// Serve opens all listeners and waits until ctx ends.
func (a *Server) Serve(ctx context.Context, opts ServeOptions, out Reporter) error {
	if err := a.OpenCalls(ctx, opts.ViewerAddr); err != nil {
		return err
	}
	board, err := a.OpenDashboard(ctx, opts.DashboardAddr)
	if err != nil {
		return err
	}
	api, err := a.OpenControl(ctx, opts.ControlAddr)
	if err != nil {
		return err
	}
	lent, err := a.openNode(ctx, opts, a.Tools.ControlAPI)
	if err != nil {
		return err
	}
	discord, err := a.openDiscord(ctx)
	if err != nil {
		return err
	}
	a.RunWatches(ctx, a.Web)
	out.Ready(Endpoints{
		DashboardURL: board.LoginURL(), BrowserStatus: a.browserStatus(ctx), ModelStatus: a.modelStatus(),
		ControlURL: api.URL(), NodeURL: lent,
		DiscordStatus: discord.firstState(ctx), CallStatus: a.callStatus(ctx),
	})
	a.inBackground(ctx, a.checkDatabase)
	discord.reportStates(ctx, out.DiscordChanged)
	out.Ending()
	a.drain(out.Draining)
	a.scopes.StopAll(&cancel.Cause{Reason: cancel.ShuttingDown})
	return nil
}

// checkDatabase looks for damage that opening the database does not notice. It reads the whole file.
func (a *Server) checkDatabase(ctx context.Context) {
	if err := a.Db.QuickCheck(ctx); err != nil && ctx.Err() == nil {
		a.damage.Store(&err)
		a.logger.Error("database is damaged", "error", err)
	}
}

// drain lets running tasks continue for the configured time, unless the user forces an immediate exit.
func (a *Server) drain(waiting func(running int)) {
	ctx, end := context.WithTimeout(a.abort, a.Settings.Current().DrainTimeout)
	defer end()
	a.Sessions.Drain(ctx, waiting)
}

func (a *Server) browserStatus(ctx context.Context) string {
	found, err := chrome.Find(ctx, a.Settings.Current().BrowserPath)
	if err != nil {
		return "none: " + err.Error()
	}
	switch {
	case a.noSandbox():
		return found.Path + ", WITHOUT ITS SANDBOX, starts with the first task"
	case os.Geteuid() == 0:
		return "does not start: " + chrome.ErrNoSandbox.Error()
	}
	return found.Path + ", starts with the first task"
}

// modelStatus describes the default task model and what it lacks.
func (a *Server) modelStatus() string {
	for _, b := range settings.RuntimeBindings(a.Settings.Current(), a.models.Ability) {
		switch {
		case !b.Chosen:
		case b.Problem != "":
			return "none: " + b.Problem
		case b.Model != plain.ModelName:
			return b.Model + " (" + b.Runtime + ")"
		}
	}
	for _, key := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"} {
		if SecretPresent(a.getenv, key) {
			return plain.ModelName + ", written steps (choose another in the settings)"
		}
	}
	return plain.ModelName + ", written steps (set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name a " +
		"server of your own in the settings, for a model that thinks)"
}

// callStatus summarizes in one line what works in calls, and what is missing.
func (a *Server) callStatus(ctx context.Context) string {
	return CapabilitySummary(CallCapabilities(ctx, a.Settings.Current(), func(name string) bool {
		return SecretPresent(a.getenv, name)
	}, false))
}

// SecretPresent reports whether the environment has the named secret.
func SecretPresent(getenv func(string) string, name string) bool {
	v, err := settings.ReadSecret(name, getenv)
	return err == nil && v.IsSet()
}
