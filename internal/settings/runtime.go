package settings

import (
	"errors"
	"strings"
)

// OpenAIComputer configures the runtime openai_computer_use.
type OpenAIComputer struct {
	Client   string // see the Client constants
	Model    string // "provider:model"
	Stateful bool   // the vendor stores the conversation instead of receiving it again with each request
	Preview  bool   // name the tool computer_use_preview, as some gateways require
}

// AnthropicComputer configures the runtime anthropic_computer_use.
type AnthropicComputer struct {
	Model   string
	Toolset string // see the Toolset constants
}

// GeminiComputer configures the runtime gemini_computer_use.
type GeminiComputer struct {
	Model string
}

// Values of [Settings.Runtime].
const (
	RuntimeAuto      = "" // the preset's, otherwise the local browser agent
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
	ClientAuto       = "auto"       // chosen by the prefix of the model's name
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

// runtimeFields are the settings that select what drives the browser.
var runtimeFields = inGroup(groupRuntime,
	choice(presetKey, "Preset", "Sets runtime and models together. Values set by hand stay.", PresetNone, &at.Preset,
		presetOptions()...).alsoKnownAs(renamedPresets),
	choice(overrideKey, "Runtime", "The runtime for tasks that name none. It overrides the preset.", RuntimeAuto,
		&at.Runtime, Option{RuntimeAuto, "From the preset"}, Option{RuntimeLocal, "Local browser agent"},
		Option{RuntimeOpenAI, "OpenAI computer use"}, Option{RuntimeAnthropic, "Anthropic computer use"},
		Option{RuntimeGemini, "Gemini computer use"}),
	choice(runtimeKeys+"handOff", "Hand-over between runtimes", "Let a model pass the rest of a task to another "+
		"runtime, such as a canvas to one that sees the screen.", HandOverNever, &at.HandOver,
		Option{HandOverNever, "Never"}, Option{HandOverAsk, "Ask first"}, Option{HandOverAllow, "Allow"}),
	model(openaiKeys+"model", "OpenAI computer use: model", "The model of the runtime openai_computer_use, as "+
		"openai:model, or compatible:model for a gateway.", "openai:gpt-5.6",
		&at.OpenAIComputer.Model).checked(checkProvider("openai", "compatible")),
	choice(openaiKeys+"client", "OpenAI computer use: provider", "Which server must provide this model.", ClientAuto,
		&at.OpenAIComputer.Client, Option{ClientAuto, "From the model's name"}, Option{ClientOpenAI, "OpenAI itself"},
		Option{ClientCompatible, "The OpenAI-compatible server"}),
	toggle(openaiKeys+"stateful", "OpenAI computer use: stored conversation", "OpenAI stores the conversation, "+
		"screenshots included, so that less is sent. When off, everything is sent each time and nothing is stored.",
		false, &at.OpenAIComputer.Stateful),
	toggle(openaiKeys+"previewTool", "OpenAI computer use: preview tool", "Use the tool computer_use_preview, for "+
		"gateways that support no other.", false, &at.OpenAIComputer.Preview),
	model(anthropicKeys+"model", "Anthropic computer use: model", "The model of the runtime anthropic_computer_use, "+
		"as anthropic:model.", "anthropic:claude-opus-5-5",
		&at.AnthropicComputer.Model).checked(checkProvider("anthropic")),
	choice(anthropicKeys+"toolset", "Anthropic computer use: tools", "Give the model tools for a screen, or for a "+
		"browser with tabs and elements.", ToolsetComputer, &at.AnthropicComputer.Toolset,
		Option{ToolsetComputer, "For a screen"}, Option{ToolsetBrowser, "For a browser"}),
	model(geminiKeys+"model", "Gemini computer use: model", "The model of the runtime gemini_computer_use, as "+
		"gemini:model.", "gemini:gemini-3.5-flash", &at.GeminiComputer.Model).checked(checkProvider("gemini")),
)

// checkProvider returns a check that a model belongs to one of the providers.
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
