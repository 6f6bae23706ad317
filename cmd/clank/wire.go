package main

import (
	"context"
	"errors"
	"time"

	"clank/browseagent"
	"clank/browsermgr"
	"clank/llm"
	"clank/sessions"
	"clank/settings"
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
	win, restored, err := w.manager.Window(ctx, browsermgr.WindowOptions{
		Key: o.Key, URL: o.URL, Profile: o.Profile, Headed: o.Headed || w.settings().Headed, Ephemeral: w.ephemeral || o.Profile == "",
	})
	if err != nil {
		return nil, false, err
	}
	return win, restored, nil
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

// agentModel is the model that drives the browser: the one asked for, or the
// one the settings say.
func (a *app) agentModel(ctx context.Context, name string) (llm.Model, error) {
	s := a.settings.Now()
	switch {
	case name != "":
	case s.AgentMode == settings.ModeInherit:
		if name = s.BrainModel; name == "" {
			return nil, errors.New(`the browser is driven by the brain's model, and no brain is set (settings, "Brain")`)
		}
	default:
		name = s.AgentModel
	}
	return a.models.find(ctx, name)
}

// brainModel is the model people talk to, or nil if none is set.
func (a *app) brainModel(ctx context.Context) (llm.Model, error) {
	name := a.settings.Now().BrainModel
	if name == "" {
		return nil, nil //nolint:nilnil // no brain is a choice, not an error
	}
	return a.models.find(ctx, name)
}

func (a *app) agentSettings() browseagent.Settings {
	s := a.settings.Now()
	return browseagent.Settings{StepTimeout: s.StepTimeout, MaxSteps: s.MaxSteps}
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
		Disabled:        !s.BrowserEnabled || s.AgentMode == settings.ModeDisabled,
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
