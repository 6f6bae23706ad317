package main

import (
	"context"

	"clank/browseagent"
	"clank/computeruse"
	claudehands "clank/computeruse/anthropic"
	geminihands "clank/computeruse/gemini"
	openaihands "clank/computeruse/openai"
	"clank/consent"
	"clank/internal/logins"
	"clank/sessions"
	"clank/settings"
	"clank/settings/routing"
)

// screens lets the loop of computer use work the same windows as the agent loop.
type screens struct{ windows }

// Open implements computeruse.Browser.
func (s screens) Open(ctx context.Context, o sessions.Opening) (computeruse.Screen, bool, error) {
	return s.window(ctx, o)
}

// backends are what drives a browser, by the name of the runtime: each within
// the budget, and recorded with what the budget says.
func (a *app) backends() map[string]sessions.Backend {
	w := windows{manager: a.browsers, settings: a.settings.Now, closed: a.asker.Desk.Forget, ephemeral: a.throwaway}
	agent := &browseagent.Agent{
		Browser: a.recorder.Browser(w), Model: a.agentModel, Settings: a.agentSettings, Places: a.places(), Consent: a.programs, Logger: a.logger,
	}
	if a.vault != nil {
		agent.Logins = logins.Kept{Vault: a.vault, Keeper: &a.logins, Windows: a.browsers}
	}
	all := map[string]sessions.Backend{browseagent.Runtime: agent}
	for runtime, mind := range map[string]func(context.Context, string) (computeruse.Mind, error){
		computeruse.RuntimeOpenAI:    a.openaiMind,
		computeruse.RuntimeAnthropic: a.claudeMind,
		computeruse.RuntimeGemini:    a.geminiMind,
	} {
		all[runtime] = &computeruse.Agent{
			Browser:  screens{w},
			Mind:     mind,
			Settings: func() computeruse.Settings { return a.screenSettings(runtime) },
			Places:   a.places(), Consent: a.programs, Logger: a.logger,
		}
	}
	for runtime, b := range all {
		all[runtime] = a.recorder.Backend(runtime, a.budget.Backend(b))
	}
	return all
}

func (a *app) openaiMind(_ context.Context, name string) (computeruse.Mind, error) {
	o, err := a.models.OpenAI(name)
	if err != nil {
		return nil, err
	}
	s := a.settings.Now().OpenAIComputer
	dialect := openaihands.DialectComputer
	if s.Preview {
		dialect = openaihands.DialectPreview
	}
	mind, err := openaihands.New(openaihands.Options{Client: o, Dialect: dialect, Stateless: !s.Stateful})
	if err != nil {
		return nil, err
	}
	return a.recorder.Mind(a.budget.Mind(mind)), nil
}

func (a *app) claudeMind(_ context.Context, name string) (computeruse.Mind, error) {
	model, err := a.models.Claude(name)
	if err != nil {
		return nil, err
	}
	tools := claudehands.ToolsAuto
	if a.settings.Now().AnthropicComputer.Toolset == settings.ToolsetBrowser {
		tools = claudehands.ToolsBrowser
	}
	mind, err := claudehands.New(model, tools)
	if err != nil {
		return nil, err
	}
	return a.recorder.Mind(a.budget.Mind(mind)), nil
}

func (a *app) geminiMind(_ context.Context, name string) (computeruse.Mind, error) {
	model, err := a.models.Gemini(name)
	if err != nil {
		return nil, err
	}
	mind, err := geminihands.New(model, geminihands.Options{})
	if err != nil {
		return nil, err
	}
	return a.recorder.Mind(a.budget.Mind(mind)), nil
}

func (a *app) screenSettings(runtime string) computeruse.Settings {
	s := a.settings.Now()
	return computeruse.Settings{
		StepTimeout: s.StepTimeout, MaxSteps: s.MaxSteps, HandOver: routing.Successors(s, runtime, a.models.Able),
	}
}

// route says by which runtime and model a task is done.
func (a *app) route(t sessions.Task) (runtime, model string, err error) {
	way, err := routing.Choose(a.settings.Now(), routing.Wish{Runtime: t.Runtime, Model: t.Model}, a.models.Able)
	return way.Runtime, way.Model, err
}

// handOver says whether the rest of a task may be left to another runtime, and
// which model it has.
func (a *app) handOver(ctx context.Context, s sessions.Session, t sessions.Task, to sessions.HandOverError) (string, error) {
	now := a.settings.Now()
	way, err := routing.HandOver(now, t.Runtime, to.Runtime, a.models.Able)
	if err == nil && now.HandOver == settings.HandOverAsk {
		_, err = a.programs.Ask(ctx, s, t, sessions.Question{
			Classes: []string{string(consent.HandOver)}, Text: "Go on with " + way.Model + " (" + way.Runtime + ")", Detail: to.Brief,
		})
	}
	return way.Model, err
}
