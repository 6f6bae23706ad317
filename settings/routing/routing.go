// Package routing says by which runtime and with which model a task is done, as the settings have it: what the task asks for, else the
// override, else the preset. Where that way cannot be gone it says why and what to do, and takes no other.
//
// It asks no model and starts nothing: what there is, it is told.
package routing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/settings"
)

// The keys of settings that are named to people.
const (
	runtimeKeys   = "agentStack.runtimeConfig.browser."
	overrideKey   = "agentStack.overrides.browserRuntime"
	agentModelKey = runtimeKeys + "localBrowserAgent.execution.model"
	agentModeKey  = runtimeKeys + "localBrowserAgent.execution.mode"
	brainModelKey = "interaction.brain.model"
	handOverKey   = runtimeKeys + "handOff"
)

// Wish is what a task asks for; empty = it does not say.
type Wish struct {
	Runtime string
	Model   string
}

// Way is how a task is done.
type Way struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model"`
	Why     string `json:"why"` // why this runtime: "the task asks for it"
}

// Ability is what there is to know of a model with a runtime, here and now.
type Ability struct {
	Missing  string // what is missing for it to be asked, and the way out: "set OPENAI_API_KEY and start again"; "" = nothing
	Known    bool   // it is known what the model can do
	Tools    bool
	Computer bool // it works a screen by tools of its vendor
	Literal  bool // it does what is written, word for word
}

// Choose says by which runtime and model a task is done: what the task asks for,
// else the override, else the preset, else the local browser agent with its
// model. able tells what there is. Where the way cannot be gone the error says
// why and what to do; no other way is taken instead.
func Choose(s settings.Settings, w Wish, able func(runtime, model string) Ability) (Way, error) {
	way := runtimeOf(s, w)
	if !slices.Contains(settings.Runtimes(), way.Runtime) {
		return Way{}, fmt.Errorf("%s, but there is no runtime %q; there are: %s", way.Why, way.Runtime, strings.Join(settings.Runtimes(), ", "))
	}
	var err error
	if way.Model, err = modelFor(s, way.Runtime, w.Model); err != nil {
		return Way{}, err
	}
	if err := way.check(able(way.Runtime, way.Model)); err != nil {
		return Way{}, err
	}
	return way, nil
}

func runtimeOf(s settings.Settings, w Wish) Way {
	p, _ := settings.PresetOf(s.Preset)
	switch {
	case w.Runtime != "":
		return Way{Runtime: w.Runtime, Why: "the task asks for it"}
	case s.Runtime != settings.RuntimeAuto:
		return Way{Runtime: s.Runtime, Why: "the setting " + overrideKey + " says so"}
	case p.Runtime != "":
		return Way{Runtime: p.Runtime, Why: "the preset " + p.Name + " says so"}
	}
	return Way{Runtime: settings.RuntimeLocal, Why: "nothing else is set"}
}

// modelFor returns the model that works with a runtime; wish is the one asked
// for.
func modelFor(s settings.Settings, runtime, wish string) (string, error) {
	set, err := modelSet(s, runtime)
	if err != nil {
		return "", err
	}
	model := cmp.Or(wish, set.model)
	if model == "" {
		return "", fmt.Errorf("%s has no model; set one (%s)", runtime, set.key)
	}
	provider, _, _ := strings.Cut(model, ":")
	if set.providers != nil && !slices.Contains(set.providers, provider) {
		return "", fmt.Errorf("%s works with models of %s, not with %s; name one of those (%s), or choose another runtime",
			runtime, strings.Join(set.providers, " or "), model, set.key)
	}
	return model, nil
}

// choice is the model that is set for a runtime, under which key, and of which
// providers it must be; nil = of any.
type choice struct {
	model, key string
	providers  []string
}

func modelSet(s settings.Settings, runtime string) (choice, error) {
	switch runtime {
	case settings.RuntimeOpenAI:
		return choice{s.OpenAIComputer.Model, runtimeKeys + "openaiComputerUse.model", openaiProviders(s.OpenAIComputer.Client)}, nil
	case settings.RuntimeAnthropic:
		return choice{s.AnthropicComputer.Model, runtimeKeys + "anthropicComputerUse.model", []string{"anthropic"}}, nil
	case settings.RuntimeGemini:
		return choice{s.GeminiComputer.Model, runtimeKeys + "geminiComputerUse.model", []string{"gemini"}}, nil
	}
	switch s.AgentMode {
	case settings.ModeDisabled:
		return choice{}, fmt.Errorf("%s is switched off (setting %s); switch it on, or choose another runtime", runtime, agentModeKey)
	case settings.ModeInherit:
		return choice{model: s.BrainModel, key: brainModelKey}, nil
	default:
		return choice{model: s.AgentModel, key: agentModelKey}, nil
	}
}

func openaiProviders(client string) []string {
	switch client {
	case settings.ClientOpenAI:
		return []string{"openai"}
	case settings.ClientCompatible:
		return []string{"compatible"}
	default:
		return []string{"openai", "compatible"}
	}
}

// check says why the way cannot be gone. Of a model that nobody knows nothing is
// said: its vendor will.
func (w Way) check(a Ability) error {
	switch {
	case a.Missing != "":
		return fmt.Errorf("%s with the model %s is not ready: %s", w.Runtime, w.Model, a.Missing)
	case !a.Known:
		return nil
	case w.Runtime == settings.RuntimeLocal && !a.Tools:
		return fmt.Errorf("the model %s cannot use tools, which %s needs; choose another model", w.Model, w.Runtime)
	case w.Runtime != settings.RuntimeLocal && !a.Computer:
		return fmt.Errorf("the model %s cannot work a screen, which %s needs; choose another model, or the runtime %s", w.Model, w.Runtime, settings.RuntimeLocal)
	}
	return nil
}

// HandOver says how a task of the runtime from is gone on with by the runtime
// to, or why it is not. A model that does what is written word for word goes on
// with nothing.
func HandOver(s settings.Settings, from, to string, able func(runtime, model string) Ability) (Way, error) {
	if s.HandOver != settings.HandOverAsk && s.HandOver != settings.HandOverAllow {
		return Way{}, errors.New("the setting " + runtimeKeys + "handOff does not allow it")
	}
	if to == from {
		return Way{}, errors.New("it is the one that works at it already")
	}
	way, err := Choose(s, Wish{Runtime: to}, able)
	if err != nil {
		return Way{}, err
	}
	if able(way.Runtime, way.Model).Literal {
		return Way{}, fmt.Errorf("%s would go on with %s, which only does what is written word for word", way.Runtime, way.Model)
	}
	return way, nil
}

// Successors are the runtimes that a task may be left to by the runtime from.
func Successors(s settings.Settings, from string, able func(runtime, model string) Ability) []string {
	return slices.DeleteFunc(settings.Runtimes(), func(to string) bool {
		_, err := HandOver(s, from, to, able)
		return err != nil
	})
}

// Binding is what the settings come to for one runtime.
type Binding struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model,omitempty"`
	Chosen  bool   `json:"chosen,omitempty"`  // for tasks that do not say
	Why     string `json:"why,omitempty"`     // of the chosen one
	Problem string `json:"problem,omitempty"` // why it cannot be used, and the way out
}

// Bindings says for each runtime whether it is ready and with which model.
func Bindings(s settings.Settings, able func(runtime, model string) Ability) []Binding {
	chosen := runtimeOf(s, Wish{})
	names := settings.Runtimes()
	if !slices.Contains(names, chosen.Runtime) {
		names = append(names, chosen.Runtime)
	}
	bindings := make([]Binding, len(names))
	for i, runtime := range names {
		b := &bindings[i]
		b.Runtime = runtime
		if b.Chosen = runtime == chosen.Runtime; b.Chosen {
			b.Why = chosen.Why
		}
		way, err := Choose(s, Wish{Runtime: runtime}, able)
		if err != nil {
			b.Model, _ = modelFor(s, runtime, "")
			b.Problem = err.Error()
			continue
		}
		b.Model = way.Model
	}
	return bindings
}
