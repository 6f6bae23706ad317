package settings

import (
	"fmt"
	"slices"
	"strings"
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

// Route says by which runtime and model a task is done: what the task asks for,
// else the override, else the preset, else the local browser agent with its
// model. able tells what there is. Where the way cannot be gone the error says
// why and what to do; no other way is taken instead.
func Route(s Settings, w Wish, able func(runtime, model string) Ability) (Way, error) {
	way := runtimeOf(s, w)
	if !slices.Contains(Runtimes(), way.Runtime) {
		return Way{}, fmt.Errorf("%s, but there is no runtime %q; there are: %s", way.Why, way.Runtime, strings.Join(Runtimes(), ", "))
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

func runtimeOf(s Settings, w Wish) Way {
	p, _ := PresetOf(s.Preset)
	switch {
	case w.Runtime != "":
		return Way{Runtime: w.Runtime, Why: "the task asks for it"}
	case s.Runtime != RuntimeAuto:
		return Way{Runtime: s.Runtime, Why: "the setting " + overrideKey + " says so"}
	case p.Runtime != "":
		return Way{Runtime: p.Runtime, Why: "the preset " + p.Name + " says so"}
	}
	return Way{Runtime: RuntimeLocal, Why: "nothing else is set"}
}

// modelFor returns the model that works with a runtime; wish is the one asked
// for.
func modelFor(s Settings, runtime, wish string) (string, error) {
	model, key, providers := "", "", []string(nil)
	switch runtime {
	case RuntimeOpenAI:
		model, key, providers = s.OpenAIComputer.Model, openaiKeys+"model", openaiProviders(s.OpenAIComputer.Client)
	case RuntimeAnthropic:
		model, key, providers = s.AnthropicComputer.Model, anthropicKeys+"model", []string{"anthropic"}
	case RuntimeGemini:
		model, key, providers = s.GeminiComputer.Model, geminiKeys+"model", []string{"gemini"}
	default:
		switch {
		case s.AgentMode == ModeDisabled:
			return "", fmt.Errorf("%s is switched off (setting %s); switch it on, or choose another runtime", runtime, agentKeys+"execution.mode")
		case s.AgentMode == ModeInherit:
			model, key = s.BrainModel, brainModelKey
		default:
			model, key = s.AgentModel, agentModelKey
		}
	}
	if wish != "" {
		model = wish
	}
	if model == "" {
		return "", fmt.Errorf("%s has no model; set one (%s)", runtime, key)
	}
	provider, _, _ := strings.Cut(model, ":")
	if providers != nil && !slices.Contains(providers, provider) {
		return "", fmt.Errorf("%s works with models of %s, not with %s; name one of those (%s), or choose another runtime",
			runtime, strings.Join(providers, " or "), model, key)
	}
	return model, nil
}

func openaiProviders(client string) []string {
	switch client {
	case ClientOpenAI:
		return []string{"openai"}
	case ClientCompatible:
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
	case w.Runtime == RuntimeLocal && !a.Tools:
		return fmt.Errorf("the model %s cannot use tools, which %s needs; choose another model", w.Model, w.Runtime)
	case w.Runtime != RuntimeLocal && !a.Computer:
		return fmt.Errorf("the model %s cannot work a screen, which %s needs; choose another model, or the runtime %s", w.Model, w.Runtime, RuntimeLocal)
	}
	return nil
}

// Successors are the ways in which a task may be left by the runtime from to
// another one: those that can be gone, if the settings allow it at all. A model
// that does what is written word for word is no successor.
func Successors(s Settings, from string, able func(runtime, model string) Ability) []Way {
	if s.HandOver != HandOverAsk && s.HandOver != HandOverAllow {
		return nil
	}
	var ways []Way
	for _, runtime := range Runtimes() {
		if runtime == from {
			continue
		}
		way, err := Route(s, Wish{Runtime: runtime}, able)
		if err == nil && !able(way.Runtime, way.Model).Literal {
			ways = append(ways, way)
		}
	}
	return ways
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
func Bindings(s Settings, able func(runtime, model string) Ability) []Binding {
	chosen := runtimeOf(s, Wish{})
	names := Runtimes()
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
		way, err := Route(s, Wish{Runtime: runtime}, able)
		if err != nil {
			b.Model, _ = modelFor(s, runtime, "")
			b.Problem = err.Error()
			continue
		}
		b.Model = way.Model
	}
	return bindings
}
