package server

import (
	"context"
	"fmt"

	"clank/browseagent"
	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/computeruse/gemini"
	"clank/computeruse/openai"
	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/approval"
)

// backends returns the browser backends by runtime name, each limited by the budget and with its run recorded.
func (a *Server) backends() map[string]sessions.Backend {
	w := a.WindowBrowser(a.Ephemeral)
	agent := &browseagent.Agent{
		Browser: a.recorder.Browser(w), Model: a.agentModel, Settings: a.agentSettings, Places: a.NamedPages(),
		Approver: a.downloads, TakeOver: a.askToTakeOver, AskWords: a.askPerson,
		Steps: a.Browsers.BeginStep, Logger: a.logger,
	}
	if a.Vault != nil {
		agent.Logins = VaultLogins{Vault: a.Vault, Filler: &a.LoginFiller, Windows: a.Browsers}
	}
	all := map[string]sessions.Backend{browseagent.Runtime: agent}
	for runtime, find := range map[string]func(name string) (computeruse.Model, error){
		computeruse.RuntimeOpenAI:    a.openaiComputerModel,
		computeruse.RuntimeAnthropic: a.anthropicComputerModel,
		computeruse.RuntimeGemini:    a.geminiComputerModel,
	} {
		all[runtime] = &computeruse.Agent{
			Browser: w,
			Model: func(_ context.Context, name string) (computeruse.Model, error) {
				m, err := find(name)
				if err != nil {
					return nil, err
				}
				return a.recorder.ComputerUseModel(a.budget.ComputerUseModel(m)), nil
			},
			Settings: func() computeruse.Settings { return a.computerUseSettings(runtime) },
			Places:   a.NamedPages(), Approver: a.downloads, TakeOver: a.askToTakeOver, AskWords: a.askPerson,
			Steps: a.Browsers.BeginStep, Logger: a.logger,
		}
	}
	for runtime, b := range all {
		all[runtime] = a.telemetry.Backend(runtime, a.recorder.Backend(runtime, a.budget.Backend(b)))
	}
	return all
}

func (a *Server) openaiComputerModel(name string) (computeruse.Model, error) {
	o, err := a.models.OpenAIOptions(name)
	if err != nil {
		return nil, err
	}
	s := a.Settings.Current().OpenAIComputer
	dialect := openai.DialectComputer
	if s.Preview {
		dialect = openai.DialectPreview
	}
	return openai.New(openai.Options{Client: o, Dialect: dialect, Stateless: !s.Stateful})
}

func (a *Server) anthropicComputerModel(name string) (computeruse.Model, error) {
	model, err := a.models.Claude(name)
	if err != nil {
		return nil, err
	}
	tools := anthropic.ToolsAuto
	if a.Settings.Current().AnthropicComputer.Toolset == settings.ToolsetBrowser {
		tools = anthropic.ToolsBrowser
	}
	return anthropic.New(model, tools)
}

func (a *Server) geminiComputerModel(name string) (computeruse.Model, error) {
	model, err := a.models.Gemini(name)
	if err != nil {
		return nil, err
	}
	return gemini.New(model)
}

func (a *Server) computerUseSettings(runtime string) computeruse.Settings {
	s := a.Settings.Current()
	return computeruse.Settings{
		StepTimeout: s.StepTimeout, MaxSteps: s.MaxSteps, HandOver: settings.HandOverRuntimes(s, runtime, a.models.Ability),
	}
}

// Route selects the runtime and model of a task.
func (a *Server) Route(t sessions.Task) (runtime, model string, err error) {
	s := a.Settings.For(t.Origin.Guild)
	if err := checkOperatorOptions(s, t); err != nil {
		return "", "", err
	}
	way, err := settings.ChooseRoute(s, settings.RouteRequest{Runtime: t.Runtime, Model: t.Model}, a.models.Ability)
	return way.Runtime, way.Model, err
}

// AllowHandOver decides whether the rest of a task may continue with another runtime, and returns its model.
func (a *Server) AllowHandOver(ctx context.Context, s sessions.Session, t sessions.Task,
	to sessions.HandOverError,
) (string, error) {
	now := a.Settings.For(t.Origin.Guild)
	way, err := settings.HandOverRoute(now, t.Runtime, to.Runtime, a.models.Ability)
	if err == nil && now.HandOver == settings.HandOverAsk {
		_, err = a.downloads.Ask(ctx, s, t, sessions.Question{
			Classes: []string{string(approval.ClassHandOver)}, Text: fmt.Sprintf("Go on with %s (%s)", way.Model, way.Runtime),
			Detail: to.Summary,
		})
	}
	return way.Model, err
}
