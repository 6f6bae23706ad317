package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RouteRequest holds what a task asks for; an empty field leaves it open.
type RouteRequest struct {
	Runtime string
	Model   string
}

// Route names the runtime and the model of a task.
type Route struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model"`
	Why     string `json:"why"` // why this runtime: "the task asks for it"
}

// ModelAbility tells what a model can do with a runtime, here and now.
type ModelAbility struct {
	Missing  string // what is missing for it to be asked, and the way out: "set OPENAI_API_KEY and start again"; "" = nothing
	Known    bool   // it is known what the model can do
	Tools    bool
	Computer bool // it works a screen by tools of its vendor
	Literal  bool // it does what is written, word for word
}

// ChooseRoute says by which runtime and model a task is done: what the task asks for, else the override, else the
// preset, else the local browser agent with its model. able tells what there is. Where the way cannot be gone the
// error says why and what to do; no other way is taken instead.
func ChooseRoute(s Settings, w RouteRequest, able func(runtime, model string) ModelAbility) (Route, error) {
	way := runtimeFor(s, w)
	if !slices.Contains(Runtimes(), way.Runtime) {
		return Route{}, fmt.Errorf("%s, but there is no runtime %q; there are: %s", way.Why, way.Runtime, strings.Join(Runtimes(), ", "))
	}
	way, w.Model = withServerModel(s, way, w, able)
	var err error
	if way.Model, err = modelFor(s, way.Runtime, w.Model); err != nil {
		return Route{}, err
	}
	if err := way.check(able(way.Runtime, way.Model)); err != nil {
		return Route{}, err
	}
	return way, nil
}

// withServerModel returns the way and the wish with the model that is set for a server, where the task names none: for
// a runtime that sees pictures if the model is one for it, else the task is done by the runtime that any model can be
// used with, unless the task names another.
func withServerModel(
	s Settings, way Route, w RouteRequest, able func(runtime, model string) ModelAbility,
) (r Route, wish string) {
	m := s.Server.Model
	if m == "" || w.Model != "" || way.Runtime == RuntimeLocal {
		return way, w.Model
	}
	if _, err := modelFor(s, way.Runtime, m); err == nil && able(way.Runtime, m).Computer {
		return way, m
	}
	if w.Runtime == "" {
		way = Route{Runtime: RuntimeLocal, Why: "the model that is set for the server asks for it"}
	}
	return way, ""
}

func runtimeFor(s Settings, w RouteRequest) Route {
	p, _ := FindPreset(s.Preset)
	switch {
	case w.Runtime != "":
		return Route{Runtime: w.Runtime, Why: "the task asks for it"}
	case s.Runtime != RuntimeAuto:
		return Route{Runtime: s.Runtime, Why: "the setting " + overrideKey + " says so"}
	case p.Runtime != "":
		return Route{Runtime: p.Runtime, Why: "the preset " + p.Name + " says so"}
	}
	return Route{Runtime: RuntimeLocal, Why: "nothing else is set"}
}

// modelFor returns the model that works with a runtime; wish is the one asked for.
func modelFor(s Settings, runtime, wish string) (string, error) {
	set, err := configuredModel(s, runtime)
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

// modelChoice is the model that is set for a runtime, under which key, and of which
// providers it must be; nil = of any.
type modelChoice struct {
	model, key string
	providers  []string
}

func configuredModel(s Settings, runtime string) (modelChoice, error) {
	switch runtime {
	case RuntimeOpenAI:
		return modelChoice{s.OpenAIComputer.Model, openaiKeys + "model", openaiProviders(s.OpenAIComputer.Client)}, nil
	case RuntimeAnthropic:
		return modelChoice{s.AnthropicComputer.Model, anthropicKeys + "model", []string{"anthropic"}}, nil
	case RuntimeGemini:
		return modelChoice{s.GeminiComputer.Model, geminiKeys + "model", []string{"gemini"}}, nil
	}
	switch s.AgentMode {
	case ModeDisabled:
		return modelChoice{}, fmt.Errorf("%s is switched off (setting %s); switch it on, or choose another runtime", runtime, agentModeKey)
	case ModeInherit:
		return modelChoice{model: cmp.Or(s.Server.Model, s.AssistantModel), key: assistantModelKey}, nil
	default:
		return modelChoice{model: cmp.Or(s.Server.Model, s.AgentModel), key: agentModelKey}, nil
	}
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

// check says why the way cannot be gone. Of a model that nobody knows nothing is said: its vendor will.
func (w Route) check(a ModelAbility) error {
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

// HandOverRoute says how a task of the runtime from is gone on with by the runtime to, or why it is not. A model that
// does what is written word for word goes on with nothing.
func HandOverRoute(s Settings, from, to string, able func(runtime, model string) ModelAbility) (Route, error) {
	if s.HandOver != HandOverAsk && s.HandOver != HandOverAllow {
		return Route{}, errors.New("the setting " + runtimeKeys + "handOff does not allow it")
	}
	if to == from {
		return Route{}, errors.New("it is the one that works at it already")
	}
	way, err := ChooseRoute(s, RouteRequest{Runtime: to}, able)
	if err != nil {
		return Route{}, err
	}
	if able(way.Runtime, way.Model).Literal {
		return Route{}, fmt.Errorf("%s would go on with %s, which only does what is written word for word", way.Runtime, way.Model)
	}
	return way, nil
}

// HandOverRuntimes returns the runtimes that a task may be left to by the runtime from.
func HandOverRuntimes(s Settings, from string, able func(runtime, model string) ModelAbility) []string {
	return slices.DeleteFunc(Runtimes(), func(to string) bool {
		_, err := HandOverRoute(s, from, to, able)
		return err != nil
	})
}

// RuntimeBinding is what the settings come to for one runtime.
type RuntimeBinding struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model,omitempty"`
	Chosen  bool   `json:"chosen,omitempty"`  // for tasks that do not say
	Why     string `json:"why,omitempty"`     // of the chosen one
	Problem string `json:"problem,omitempty"` // why it cannot be used, and the way out
}

// RuntimeBindings says for each runtime whether it is ready and with which model.
func RuntimeBindings(s Settings, able func(runtime, model string) ModelAbility) []RuntimeBinding {
	chosen := runtimeFor(s, RouteRequest{})
	names := Runtimes()
	if !slices.Contains(names, chosen.Runtime) {
		names = append(names, chosen.Runtime)
	}
	bindings := make([]RuntimeBinding, len(names))
	for i, runtime := range names {
		b := &bindings[i]
		b.Runtime = runtime
		if b.Chosen = runtime == chosen.Runtime; b.Chosen {
			b.Why = chosen.Why
		}
		way, err := ChooseRoute(s, RouteRequest{Runtime: runtime}, able)
		if err != nil {
			b.Model, _ = modelFor(s, runtime, "")
			b.Problem = err.Error()
			continue
		}
		b.Model = way.Model
	}
	return bindings
}
