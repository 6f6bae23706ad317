package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RouteRequest is what a task asks for; an empty field leaves the choice open.
type RouteRequest struct {
	Runtime string
	Model   string
}

// Route names the runtime and the model of a task.
type Route struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model"`
	Why     string `json:"why"` // why this runtime was chosen: "the task asks for it"
}

// ModelAbility is what a model can currently do with a runtime.
type ModelAbility struct {
	Missing  string // what is missing to use it, and the fix: "set OPENAI_API_KEY and start again"; "" means nothing
	Known    bool   // the model's abilities are known
	Tools    bool
	Computer bool // it supports the vendor's computer-use tools
	Literal  bool // it follows instructions literally
}

// ChooseRoute selects the runtime and model of a task: what the task asks for, else the override, else the preset,
// else the local browser agent with its model. able returns the abilities of models. If the choice cannot be used,
// the error says why and what to do; there is no fallback.
func ChooseRoute(s Settings, w RouteRequest, able func(runtime, model string) ModelAbility) (Route, error) {
	way := runtimeFor(s, w)
	if !slices.Contains(Runtimes(), way.Runtime) {
		return Route{}, fmt.Errorf("%s, but there is no runtime %q; there are: %s", way.Why, way.Runtime,
			strings.Join(Runtimes(), ", "))
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

// withServerModel applies the model that is set for a Discord server if the task names none. If the runtime is a
// computer-use runtime that cannot use this model, the task runs with the local agent, unless it names a runtime.
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

// modelFor returns the model for a runtime; wish is the requested one.
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

// modelChoice is the model that is set for a runtime, the key of that setting, and the providers that the runtime
// supports; nil means any.
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
		return modelChoice{}, fmt.Errorf("%s is switched off (setting %s); switch it on, or choose another runtime", runtime,
			agentModeKey)
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

// check returns an error if the route cannot be used. Unknown models pass: their vendor decides.
func (w Route) check(a ModelAbility) error {
	switch {
	case a.Missing != "":
		return fmt.Errorf("%s with the model %s is not ready: %s", w.Runtime, w.Model, a.Missing)
	case !a.Known:
		return nil
	case w.Runtime == RuntimeLocal && !a.Tools:
		return fmt.Errorf("the model %s cannot use tools, which %s needs; choose another model", w.Model, w.Runtime)
	case w.Runtime != RuntimeLocal && !a.Computer:
		return fmt.Errorf("the model %s cannot work a screen, which %s needs; choose another model, or the runtime %s",
			w.Model, w.Runtime, RuntimeLocal)
	}
	return nil
}

// HandOverRoute returns the route by which runtime to continues a task of runtime from, or an error. A model that
// follows instructions literally cannot continue another's task.
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
		return Route{}, fmt.Errorf("%s would go on with %s, which only does what is written word for word", way.Runtime,
			way.Model)
	}
	return way, nil
}

// HandOverRuntimes returns the runtimes to which from may hand over a task.
func HandOverRuntimes(s Settings, from string, able func(runtime, model string) ModelAbility) []string {
	return slices.DeleteFunc(Runtimes(), func(to string) bool {
		_, err := HandOverRoute(s, from, to, able)
		return err != nil
	})
}

// RuntimeBinding is the effective configuration of one runtime.
type RuntimeBinding struct {
	Runtime string `json:"runtime"`
	Model   string `json:"model,omitempty"`
	Chosen  bool   `json:"chosen,omitempty"`  // used for tasks that do not choose one
	Why     string `json:"why,omitempty"`     // for the chosen one
	Problem string `json:"problem,omitempty"` // why it cannot be used, and the fix
}

// RuntimeBindings returns, for each runtime, whether it is ready and with which model.
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
