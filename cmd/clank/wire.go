package main

import (
	"context"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/llm"
	"clank/sessions"
	"clank/settings"
	"clank/settings/routing"
)

// windows lets the agent loop use the browser manager: the two know only
// standard types of each other.
type windows struct {
	manager   *browsermgr.Manager
	settings  func() settings.Settings
	closed    func(key string)
	ephemeral bool // keep cookies and storage apart, and forget them
}

// Open implements browseagent.Browser.
func (w windows) Open(ctx context.Context, o sessions.Opening) (browseagent.Page, bool, error) {
	return w.window(ctx, o)
}

func (w windows) window(ctx context.Context, o sessions.Opening) (*browsermgr.Window, bool, error) {
	return w.manager.Window(ctx, browsermgr.WindowOptions{
		Key: o.Key, URL: o.URL, Profile: o.Profile, Headed: o.Headed || w.settings().Headed, Ephemeral: w.ephemeral || o.Profile == "",
	})
}

// Close implements browseagent.Browser.
func (w windows) Close(ctx context.Context, key string) error {
	w.closed(key)
	win, ok := w.manager.Lookup(key)
	if !ok {
		return nil
	}
	return win.Close(ctx)
}

// agentModel is the model that drives the browser. The Manager has routed the
// task, so it is named.
func (a *app) agentModel(ctx context.Context, name string) (llm.Model, error) {
	model, err := a.models.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	return a.recorder.Model(model), nil
}

// brainModel is the model people talk to, or nil if none is set.
func (a *app) brainModel(ctx context.Context) (llm.Model, error) {
	name := a.settings.Now().BrainModel
	if name == "" {
		return nil, nil //nolint:nilnil // no brain is a choice, not an error
	}
	return a.models.Find(ctx, name)
}

func (a *app) agentSettings() browseagent.Settings {
	s := a.settings.Now()
	return browseagent.Settings{
		StepTimeout: s.StepTimeout, MaxSteps: s.MaxSteps, HandOver: routing.Successors(s, browseagent.Runtime, a.models.Able),
	}
}

// Bounds that are not worth a setting yet.
const (
	maxQueued        = 100
	maxQueuedPerUser = 10
	keepViews        = 40
	keepTasks        = 5000
	maxSteps         = 30 // the most a task may ask for
)

func (a *app) limits() sessions.Limits {
	s := a.settings.Now()
	perHour := s.BrowsesPerHour
	if perHour == 0 {
		perHour = -1
	}
	return sessions.Limits{
		Disabled:        !s.BrowserEnabled,
		PerHour:         perHour,
		Running:         s.MaxTasks,
		RunningPerGuild: s.MaxTasksPer.Guild,
		RunningPerUser:  s.MaxTasksPer.User,
		Queued:          maxQueued,
		QueuedPerUser:   maxQueuedPerUser,
		Sessions:        s.MaxSessions,
		SessionIdle:     min(s.SessionTimeout, s.TabTimeout),
		MaxSteps:        s.MaxSteps,
		StepCeiling:     maxSteps,
		TaskTimeout:     s.TaskTimeout,
		Views:           keepViews,
		KeepTasks:       keepTasks,
		KeepFor:         time.Duration(s.RetentionInDays) * 24 * time.Hour,
	}
}

func (a *app) askingTime() time.Duration { return a.settings.Now().Asking.Wait }

func (a *app) anyoneMayStop() bool {
	return a.settings.Now().WhoMayStop == settings.StopAnyone
}
