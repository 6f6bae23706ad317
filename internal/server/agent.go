package server

import (
	"context"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"
)

// WindowBrowser lets backends use the browser manager.
type WindowBrowser struct {
	Manager   *browsermgr.Manager
	Settings  SettingsSource
	Approvals *approval.Queue // forgets the approvals of a closed window
	Ephemeral bool            // isolate cookies and storage, and discard them
}

// WindowBrowser returns a [WindowBrowser] with the browsers of the server.
func (a *Server) WindowBrowser(ephemeral bool) WindowBrowser {
	return WindowBrowser{Manager: a.Browsers, Settings: a.Settings, Approvals: a.Approver.Approvals, Ephemeral: ephemeral}
}

// Open implements [sessions.Browser].
func (w WindowBrowser) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	return w.Manager.Window(ctx, browsermgr.WindowOptions{
		Key: o.Key, URL: o.URL, Profile: o.Profile, Headed: o.Headed || w.Settings.Current().Headed, Ephemeral: w.Ephemeral ||
			o.Profile == "",
	})
}

// Rest implements [sessions.Browser].
func (w WindowBrowser) Rest(key string) {
	if win, ok := w.Manager.Lookup(key); ok {
		win.Rest()
	}
}

// Close implements [sessions.Browser].
func (w WindowBrowser) Close(ctx context.Context, key string) error {
	w.Approvals.ForgetSession(key)
	return w.Manager.CloseWindow(ctx, key)
}

// Park implements [sessions.Browser].
func (w WindowBrowser) Park(ctx context.Context, key string, must bool) (bool, error) {
	win, ok := w.Manager.Lookup(key)
	if !ok {
		return true, nil
	}
	parked, err := win.Park(ctx, must)
	if parked {
		w.Approvals.ForgetSession(key)
	}
	return parked, err
}

// agentModel returns the model that drives the browser. The Manager has routed the task, so its model is named.
func (a *Server) agentModel(ctx context.Context, name string) (llm.Model, error) {
	model, err := a.models.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.recorder.Model(model), nil
}

// assistantModel returns the model of the assistant, or nil if none is set.
func (a *Server) assistantModel(ctx context.Context) (llm.Model, error) {
	name := a.Settings.Current().AssistantModel
	if name == "" {
		return nil, nil //nolint:nilnil // having no assistant is a choice, not an error
	}
	return a.models.Find(ctx, name)
}

func (a *Server) agentSettings() browseagent.Settings {
	s := a.Settings.Current()
	return browseagent.Settings{
		StepTimeout: s.StepTimeout, MaxSteps: s.MaxSteps, HandOver: settings.HandOverRuntimes(s, browseagent.Runtime,
			a.models.Ability),
	}
}

// Limits without a setting.
const (
	maxQueued         = 100
	maxQueuedPerGuild = 50
	maxQueuedPerUser  = 10
	maxKeptViews      = 40
	maxKeptTasks      = 5000
	MaxTaskSteps      = 200 // maximum that a task may request
)

func (a *Server) sessionLimits() sessions.Limits {
	s := a.Settings.Current()
	perHour := func(n int) int {
		if n == 0 {
			return -1 // no limit
		}
		return n
	}
	return sessions.Limits{
		Disabled:        !s.BrowserEnabled,
		PerHourUser:     perHour(s.BrowsesPerHour.User),
		PerHourGuild:    perHour(s.BrowsesPerHour.Guild),
		Running:         s.MaxTasks,
		RunningPerGuild: s.TaskLimits.Guild,
		RunningPerUser:  s.TaskLimits.User,
		Queued:          maxQueued,
		QueuedPerGuild:  maxQueuedPerGuild,
		QueuedPerUser:   maxQueuedPerUser,
		Sessions:        s.MaxSessions,
		SessionIdle:     min(s.SessionTimeout, s.TabTimeout),
		MaxSteps:        s.MaxSteps,
		StepCeiling:     MaxTaskSteps,
		TaskTimeout:     s.TaskTimeout,
		Views:           maxKeptViews,
		KeepTasks:       maxKeptTasks,
		KeepFor:         time.Duration(s.RetentionInDays) * 24 * time.Hour,
	}
}
