package settings_test

import (
	"slices"
	"strings"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
)

// presetRuntimes are the presets and the runtimes they are there for.
var presetRuntimes = map[string]string{
	"":                       "local_browser_agent",
	"claude_api":             "local_browser_agent",
	"openai_native_realtime": "openai_computer_use",
	"openai_api":             "local_browser_agent",
	"openai_computer_use":    "openai_computer_use",
	"grok_native_agent":      "local_browser_agent",
}

var runtimes = []string{"local_browser_agent", "openai_computer_use", "anthropic_computer_use", "gemini_computer_use"}

// ready says that models of these providers can be asked, and what they can do.
func ready(providers ...string) func(string, string) settings.ModelAbility {
	return func(_, model string) settings.ModelAbility {
		provider, _, _ := strings.Cut(model, ":")
		a := settings.ModelAbility{Known: true, Tools: true, Computer: provider != "plain", Literal: provider == "plain"}
		if !slices.Contains(providers, provider) {
			a.Missing = "set the key of " + provider + " and start again"
		}
		return a
	}
}

func TestTheRouteComesFromTheTaskTheOverrideOrThePreset(t *testing.T) {
	availability := map[string]func(string, string) settings.ModelAbility{
		"all":       ready("plain", "openai", "anthropic", "gemini", "compatible"),
		"openai":    ready("openai"),
		"anthropic": ready("anthropic"),
		"none":      ready(),
	}
	has := map[string]string{
		"all": "plain openai anthropic gemini compatible", "openai": "openai",
		"anthropic": "anthropic",
	}
	model := func(runtime, preset string) string {
		switch {
		case runtime == "openai_computer_use":
			return "openai:gpt-5.6"
		case runtime == "anthropic_computer_use":
			return "anthropic:claude-opus-5-5"
		case runtime == "gemini_computer_use":
			return "gemini:gemini-3.5-flash"
		case strings.HasPrefix(preset, "claude"):
			return "anthropic:claude-opus-5-5"
		case strings.HasPrefix(preset, "openai"):
			return "openai:gpt-5.6"
		case strings.HasPrefix(preset, "grok"):
			return "compatible:grok-4.3"
		}
		return "plain:steps"
	}
	for preset, presetRuntime := range presetRuntimes {
		for _, override := range append([]string{""}, runtimes...) {
			for _, asked := range append([]string{""}, runtimes...) {
				s := settings.PresetDefaults(preset)
				s.Runtime = override
				want := presetRuntime
				if override != "" {
					want = override
				}
				if asked != "" {
					want = asked
				}
				for name, able := range availability {
					way, err := settings.ChooseRoute(s, settings.RouteRequest{Runtime: asked}, able)
					wantModel := model(want, preset)
					provider, _, _ := strings.Cut(wantModel, ":")
					if !strings.Contains(has[name], provider) {
						if err == nil || !strings.Contains(err.Error(), want) ||
							!strings.Contains(err.Error(), "set the key of "+provider) {
							t.Errorf("preset %q, override %q, asked %q, ready %s: got %+v, %v; want the reason", preset, override, asked,
								name, way, err)
						}
						continue
					}
					if err != nil || way.Runtime != want || way.Model != wantModel || way.Why == "" {
						t.Errorf("preset %q, override %q, asked %q, ready %s: got %+v, %v; want %s with %s", preset, override, asked,
							name, way, err, want, wantModel)
					}
				}
			}
		}
	}
}

func TestAnUnusableRouteIsExplained(t *testing.T) {
	all := ready("plain", "openai", "anthropic", "gemini", "compatible")
	unable := func(string, string) settings.ModelAbility { return settings.ModelAbility{Known: true} }
	for name, tc := range map[string]struct {
		change func(*settings.Settings)
		wish   settings.RouteRequest
		able   func(string, string) settings.ModelAbility
		want   string
	}{
		"no such runtime": {
			nil,
			settings.RouteRequest{Runtime: "magic"},
			all,
			`there is no runtime "magic"; there are: local_browser_agent, openai_computer_use`,
		},
		"the override names none": {
			func(s *settings.Settings) { s.Runtime = "typo" },
			settings.RouteRequest{},
			all,
			`the setting agentStack.overrides.browserRuntime says so, but there is no runtime "typo"`,
		},
		"no model": {
			func(s *settings.Settings) { s.GeminiComputer.Model = "" },
			settings.RouteRequest{Runtime: "gemini_computer_use"},
			all, "gemini_computer_use has no model; set one",
		},
		"no brain": {
			func(s *settings.Settings) { s.AgentMode = settings.ModeInherit },
			settings.RouteRequest{},
			all,
			"local_browser_agent has no model; set one (interaction.brain.model)",
		},
		"switched off": {
			func(s *settings.Settings) { s.AgentMode = settings.ModeDisabled },
			settings.RouteRequest{},
			all,
			"is switched off",
		},
		"another house": {
			nil,
			settings.RouteRequest{Runtime: "anthropic_computer_use", Model: "openai:gpt-5.6"},
			all,
			"anthropic_computer_use works with models of anthropic, not with openai:gpt-5.6",
		},
		"the client": {
			func(s *settings.Settings) { s.OpenAIComputer.Client = "compatible" },
			settings.RouteRequest{Runtime: "openai_computer_use"},
			all,
			"works with models of compatible, not with openai:gpt-5.6",
		},
		"no tools": {nil, settings.RouteRequest{Model: "compatible:llava"}, unable, "the model compatible:llava cannot " +
			"use tools"},
		"no screen": {nil, settings.RouteRequest{Runtime: "gemini_computer_use"}, unable, "cannot work a screen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings.Defaults()
			if tc.change != nil {
				tc.change(&s)
			}
			check.Fails(t, check.Err(settings.ChooseRoute(s, tc.wish, tc.able)), nil, tc.want)
		})
	}
}

func TestTheModelOfAServerReachesEveryRuntime(t *testing.T) {
	able := func(_, model string) settings.ModelAbility {
		return settings.ModelAbility{
			Known: true, Tools: true, Computer: strings.Contains(model, "-cu"),
			Literal: model == "plain:steps",
		}
	}
	for _, tt := range []struct {
		override, server string
		wish             settings.RouteRequest
		runtime, model   string
	}{
		{"", "openai:gpt-9-cu", settings.RouteRequest{}, "local_browser_agent", "openai:gpt-9-cu"},
		{"openai_computer_use", "openai:gpt-9-cu", settings.RouteRequest{}, "openai_computer_use", "openai:gpt-9-cu"},
		{"openai_computer_use", "openai:gpt-9", settings.RouteRequest{}, "local_browser_agent", "openai:gpt-9"},
		{"openai_computer_use", "plain:steps", settings.RouteRequest{}, "local_browser_agent", "plain:steps"},
		{"anthropic_computer_use", "openai:gpt-9-cu", settings.RouteRequest{}, "local_browser_agent", "openai:gpt-9-cu"},
		{
			"", "anthropic:c-cu",
			settings.RouteRequest{Runtime: "anthropic_computer_use"},
			"anthropic_computer_use",
			"anthropic:c-cu",
		},
		{"", "anthropic:c-cu", settings.RouteRequest{Runtime: "gemini_computer_use"}, "gemini_computer_use", "gemini:own-cu"},
		{
			"openai_computer_use", "plain:steps",
			settings.RouteRequest{Model: "openai:x-cu"},
			"openai_computer_use",
			"openai:x-cu",
		},
	} {
		s := settings.Defaults()
		s.Server.Model, s.GeminiComputer.Model = tt.server, "gemini:own-cu"
		if tt.override != "" {
			s.Runtime = tt.override
		}
		way, err := settings.ChooseRoute(s, tt.wish, able)
		if err != nil || way.Runtime != tt.runtime || way.Model != tt.model {
			t.Errorf("%+v: got %+v, %v", tt, way, err)
		}
	}
}

func TestAnUnknownModelIsLeftToItsVendor(t *testing.T) {
	unknown := func(string, string) settings.ModelAbility { return settings.ModelAbility{} }
	way, err := settings.ChooseRoute(settings.Defaults(),
		settings.RouteRequest{Runtime: "openai_computer_use", Model: "compatible:new"}, unknown)
	if err != nil || way.Model != "compatible:new" {
		t.Errorf("got %+v, %v", way, err)
	}
}

func TestTheBrainDrivesTheBrowserWhereItsModelIsInherited(t *testing.T) {
	s := settings.Defaults()
	s.AgentMode, s.AssistantModel = settings.ModeInherit, "openai:gpt-5.6"
	way, err := settings.ChooseRoute(s, settings.RouteRequest{}, ready("openai"))
	if err != nil || way.Model != "openai:gpt-5.6" {
		t.Errorf("got %+v, %v", way, err)
	}
}

func TestATaskIsHandedOverOnlyToAReadyRuntime(t *testing.T) {
	s := settings.Defaults()
	names := func(from string, able func(string, string) settings.ModelAbility) []string {
		return settings.HandOverRuntimes(s, from, able)
	}
	all := ready("plain", "openai", "anthropic", "gemini")
	if got := names("local_browser_agent", all); len(got) != 0 {
		t.Errorf("where it is never done: %v", got)
	}
	s.HandOver = settings.HandOverAsk
	check.Diff(t, "the local one, with a model that takes every word as it is, is no successor",
		names("anthropic_computer_use", all), []string{"openai_computer_use", "gemini_computer_use"})
	check.Diff(t, "with one key", names("local_browser_agent", ready("plain", "openai")),
		[]string{"openai_computer_use"})
}

func TestARefusedHandOverIsExplained(t *testing.T) {
	s := settings.Defaults()
	for _, tc := range []struct{ rule, to, want string }{
		{"never", "openai_computer_use", "the setting agentStack.runtimeConfig.browser.handOff does not allow it"},
		{"allow", "anthropic_computer_use", "it is the one that works at it already"},
		{"ask", "gemini_computer_use", "set the key of gemini and start again"},
		{"ask", "local_browser_agent", "word for word"},
		{"allow", "magic", `there is no runtime "magic"`},
	} {
		s.HandOver = tc.rule
		check.Fails(t, check.Err(settings.HandOverRoute(s, "anthropic_computer_use", tc.to, ready("plain", "openai"))),
			nil, tc.want)
	}
	if way, err := settings.HandOverRoute(s, "anthropic_computer_use", "openai_computer_use",
		ready("openai")); err != nil || way.Model != "openai:gpt-5.6" {
		t.Errorf("to one that is ready: %+v, %v", way, err)
	}
}

func TestBindingsReportWhichRuntimesAreReady(t *testing.T) {
	s := settings.PresetDefaults("openai_computer_use")
	got := map[string]settings.RuntimeBinding{}
	for _, b := range settings.RuntimeBindings(s, ready("openai")) {
		got[b.Runtime] = b
	}
	if b := got["openai_computer_use"]; !b.Chosen || b.Problem != "" || b.Model != "openai:gpt-5.6" ||
		b.Why != "the preset openai_computer_use says so" {
		t.Errorf("the chosen one: %+v", b)
	}
	if b := got["gemini_computer_use"]; b.Chosen || !strings.Contains(b.Problem, "set the key of gemini") ||
		b.Model != "gemini:gemini-3.5-flash" {
		t.Errorf("one that is not ready: %+v", b)
	}
}

func TestSettingsNamedInMessagesExist(t *testing.T) {
	able := func(string, string) settings.ModelAbility {
		return settings.ModelAbility{Known: true, Tools: true, Computer: true}
	}
	for _, change := range []func(*settings.Settings){
		func(s *settings.Settings) { s.AgentModel = "" },
		func(s *settings.Settings) { s.AgentMode, s.AssistantModel = settings.ModeInherit, "" },
		func(s *settings.Settings) { s.AgentMode = settings.ModeDisabled },
		func(s *settings.Settings) { s.Runtime, s.OpenAIComputer.Model = settings.RuntimeOpenAI, "" },
		func(s *settings.Settings) { s.Runtime, s.AnthropicComputer.Model = settings.RuntimeAnthropic, "" },
		func(s *settings.Settings) { s.Runtime, s.GeminiComputer.Model = settings.RuntimeGemini, "" },
	} {
		s := settings.Defaults()
		change(&s)
		_, err := settings.ChooseRoute(s, settings.RouteRequest{}, able)
		if err == nil {
			t.Fatal("a way was found")
		}
		_, rest, _ := strings.Cut(err.Error(), "(")
		key, _, _ := strings.Cut(strings.TrimPrefix(rest, "setting "), ")")
		if _, ok := settings.FindField(key); !ok {
			t.Errorf("%v: there is no such setting", err)
		}
	}
}
