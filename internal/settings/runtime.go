package settings

import (
	"errors"
	"strings"
)

// OpenAIComputer is how the runtime openai_computer_use works.
type OpenAIComputer struct {
	Client   string // see the Client constants
	Model    string // "provider:model"
	Stateful bool   // the vendor keeps the conversation, instead of being sent it again each time
	Preview  bool   // the tool is called computer_use_preview, as some gateways want it
}

// AnthropicComputer is how the runtime anthropic_computer_use works.
type AnthropicComputer struct {
	Model   string
	Toolset string // see the Toolset constants
}

// GeminiComputer is how the runtime gemini_computer_use works.
type GeminiComputer struct {
	Model string
}

// Values of [Settings.Runtime].
const (
	RuntimeAuto      = "" // as the preset says, else the local browser agent
	RuntimeLocal     = "local_browser_agent"
	RuntimeOpenAI    = "openai_computer_use"
	RuntimeAnthropic = "anthropic_computer_use"
	RuntimeGemini    = "gemini_computer_use"
)

// Runtimes returns the names of all runtimes, the local one first.
func Runtimes() []string {
	return []string{RuntimeLocal, RuntimeOpenAI, RuntimeAnthropic, RuntimeGemini}
}

// Values of [OpenAIComputer.Client].
const (
	ClientAuto       = "auto"       // whatever the model's name begins with
	ClientOpenAI     = "openai"     // OpenAI itself
	ClientCompatible = "compatible" // the OpenAI-compatible server
)

// Values of [AnthropicComputer.Toolset].
const (
	ToolsetComputer = "computer"
	ToolsetBrowser  = "browser"
)

// Values of [Settings.HandOver].
const (
	HandOverNever = "never"
	HandOverAsk   = "ask"
	HandOverAllow = "allow"
)

const (
	groupRuntime  = "Runtime"
	presetKey     = "agentStack.preset"
	overrideKey   = "agentStack.overrides.browserRuntime"
	openaiKeys    = runtimeKeys + "openaiComputerUse."
	anthropicKeys = runtimeKeys + "anthropicComputerUse."
	geminiKeys    = runtimeKeys + "geminiComputerUse."
)

// runtimeFields are the part of the table that says what drives the browser.
var runtimeFields = []Field{
	{
		Key: presetKey, Group: groupRuntime, Label: "Preset",
		Effect: "Sets runtime and models together. Values set by hand stay.",
		Kind:   KindChoice, Default: PresetNone, Options: presetOptions(), target: func(s *Settings) any { return &s.Preset },
	},
	{
		Key: overrideKey, Group: groupRuntime, Label: "Runtime",
		Effect: "The runtime for tasks that name none. It overrides the preset.",
		Kind:   KindChoice, Default: RuntimeAuto, target: func(s *Settings) any { return &s.Runtime },
		Options: []Option{
			{RuntimeAuto, "From the preset"},
			{RuntimeLocal, "Local browser agent"},
			{RuntimeOpenAI, "OpenAI computer use"},
			{RuntimeAnthropic, "Anthropic computer use"},
			{RuntimeGemini, "Gemini computer use"},
		},
	},
	{
		Key: runtimeKeys + "handOff", Group: groupRuntime, Label: "Hand-over between runtimes",
		Effect: "Let a model pass the rest of a task to another runtime, such as a canvas to one that sees the screen.",
		Kind:   KindChoice, Default: HandOverNever, target: func(s *Settings) any { return &s.HandOver },
		Options: []Option{{HandOverNever, "Never"}, {HandOverAsk, "Ask first"}, {HandOverAllow, "Allow"}},
	},
	{
		Key: openaiKeys + "model", Group: groupRuntime, Label: "OpenAI computer use: model",
		Effect: "The model of the runtime openai_computer_use, as openai:model, or compatible:model for a gateway.",
		Kind:   KindModel, Default: "openai:gpt-5.6", Optional: true, MaxLen: modelMaxLen, check: checkProvider("openai", "compatible"), target: func(s *Settings) any { return &s.OpenAIComputer.Model },
	},
	{
		Key: openaiKeys + "client", Group: groupRuntime, Label: "OpenAI computer use: provider",
		Effect: "Which server must provide this model.",
		Kind:   KindChoice, Default: ClientAuto, target: func(s *Settings) any { return &s.OpenAIComputer.Client },
		Options: []Option{{ClientAuto, "From the model's name"}, {ClientOpenAI, "OpenAI itself"}, {ClientCompatible, "The OpenAI-compatible server"}},
	},
	{
		Key: openaiKeys + "stateful", Group: groupRuntime, Label: "OpenAI computer use: stored conversation",
		Effect: "OpenAI stores the conversation, screenshots included, so that less is sent. When off, everything is sent each time and nothing is stored.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.OpenAIComputer.Stateful },
	},
	{
		Key: openaiKeys + "previewTool", Group: groupRuntime, Label: "OpenAI computer use: preview tool",
		Effect: "Use the tool computer_use_preview, for gateways that support no other.",
		Kind:   KindToggle, Default: false, target: func(s *Settings) any { return &s.OpenAIComputer.Preview },
	},
	{
		Key: anthropicKeys + "model", Group: groupRuntime, Label: "Anthropic computer use: model",
		Effect: "The model of the runtime anthropic_computer_use, as anthropic:model.",
		Kind:   KindModel, Default: "anthropic:claude-opus-5-5", Optional: true, MaxLen: modelMaxLen, check: checkProvider("anthropic"), target: func(s *Settings) any { return &s.AnthropicComputer.Model },
	},
	{
		Key: anthropicKeys + "toolset", Group: groupRuntime, Label: "Anthropic computer use: tools",
		Effect: "Give the model tools for a screen, or for a browser with tabs and elements.",
		Kind:   KindChoice, Default: ToolsetComputer, target: func(s *Settings) any { return &s.AnthropicComputer.Toolset },
		Options: []Option{{ToolsetComputer, "For a screen"}, {ToolsetBrowser, "For a browser"}},
	},
	{
		Key: geminiKeys + "model", Group: groupRuntime, Label: "Gemini computer use: model",
		Effect: "The model of the runtime gemini_computer_use, as gemini:model.",
		Kind:   KindModel, Default: "gemini:gemini-3.5-flash", Optional: true, MaxLen: modelMaxLen, check: checkProvider("gemini"), target: func(s *Settings) any { return &s.GeminiComputer.Model },
	},
}

// checkProvider wants a model of one of these providers.
func checkProvider(names ...string) func(string) error {
	return func(v string) error {
		provider, _, _ := strings.Cut(v, ":")
		for _, n := range names {
			if v == "" || n == provider {
				return nil
			}
		}
		return errors.New("must be a model of " + strings.Join(names, " or ") + ", unlike " + v)
	}
}
