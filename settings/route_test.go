package settings_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"clank/settings"
	"github.com/google/go-cmp/cmp"
)

const (
	keyPreset   = "agentStack.preset"
	keyOverride = "agentStack.overrides.browserRuntime"
	keyBrain    = "interaction.brain.model"
)

// presetRuntimes are the presets and the runtimes they are there for.
var presetRuntimes = map[string]string{
	"":                       "local_browser_agent",
	"claude_oauth":           "local_browser_agent",
	"claude_api":             "local_browser_agent",
	"openai_native_realtime": "openai_computer_use",
	"openai_api":             "local_browser_agent",
	"openai_oauth":           "openai_computer_use",
	"grok_native_agent":      "local_browser_agent",
}

var runtimes = []string{"local_browser_agent", "openai_computer_use", "anthropic_computer_use", "gemini_computer_use"}

// ready says that models of these providers can be asked, and what they can do.
func ready(providers ...string) func(string, string) settings.Ability {
	return func(_, model string) settings.Ability {
		provider, _, _ := strings.Cut(model, ":")
		a := settings.Ability{Known: true, Tools: true, Computer: provider != "plain", Literal: provider == "plain"}
		if !slices.Contains(providers, provider) {
			a.Missing = "set the key of " + provider + " and start again"
		}
		return a
	}
}

func TestTheRouteIsWhatIsAskedForElseTheOverrideElseThePreset(t *testing.T) {
	availability := map[string]func(string, string) settings.Ability{
		"all":       ready("plain", "openai", "anthropic", "gemini", "compatible"),
		"openai":    ready("openai"),
		"anthropic": ready("anthropic"),
		"none":      ready(),
	}
	has := map[string]string{"all": "plain openai anthropic gemini compatible", "openai": "openai", "anthropic": "anthropic"}
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
		}
		return "plain:steps"
	}
	for preset, presetRuntime := range presetRuntimes {
		for _, override := range append([]string{""}, runtimes...) {
			for _, asked := range append([]string{""}, runtimes...) {
				s := settings.Base(preset)
				s.Runtime = override
				want := presetRuntime
				if override != "" {
					want = override
				}
				if asked != "" {
					want = asked
				}
				for name, able := range availability {
					way, err := settings.Route(s, settings.Wish{Runtime: asked}, able)
					wantModel := model(want, preset)
					provider, _, _ := strings.Cut(wantModel, ":")
					if !strings.Contains(has[name], provider) {
						if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "set the key of "+provider) {
							t.Errorf("preset %q, override %q, asked %q, ready %s: got %+v, %v; want the reason", preset, override, asked, name, way, err)
						}
						continue
					}
					if err != nil || way.Runtime != want || way.Model != wantModel || way.Why == "" {
						t.Errorf("preset %q, override %q, asked %q, ready %s: got %+v, %v; want %s with %s", preset, override, asked, name, way, err, want, wantModel)
					}
				}
			}
		}
	}
}

func TestAWayThatCannotBeGoneIsSaidWithItsReason(t *testing.T) {
	all := ready("plain", "openai", "anthropic", "gemini", "compatible")
	unable := func(string, string) settings.Ability { return settings.Ability{Known: true} }
	for name, tc := range map[string]struct {
		change func(*settings.Settings)
		wish   settings.Wish
		able   func(string, string) settings.Ability
		want   string
	}{
		"no such runtime": {nil, settings.Wish{Runtime: "magic"}, all, `there is no runtime "magic"; there are: local_browser_agent, openai_computer_use`},
		"the override names none": {
			func(s *settings.Settings) { s.Runtime = "typo" },
			settings.Wish{},
			all,
			`the setting agentStack.overrides.browserRuntime says so, but there is no runtime "typo"`,
		},
		"no model":      {func(s *settings.Settings) { s.GeminiComputer.Model = "" }, settings.Wish{Runtime: "gemini_computer_use"}, all, "gemini_computer_use has no model; set one"},
		"no brain":      {func(s *settings.Settings) { s.AgentMode = settings.ModeInherit }, settings.Wish{}, all, "local_browser_agent has no model; set one (interaction.brain.model)"},
		"switched off":  {func(s *settings.Settings) { s.AgentMode = settings.ModeDisabled }, settings.Wish{}, all, "is switched off"},
		"another house": {nil, settings.Wish{Runtime: "anthropic_computer_use", Model: "openai:gpt-5.6"}, all, "anthropic_computer_use works with models of anthropic, not with openai:gpt-5.6"},
		"the client": {
			func(s *settings.Settings) { s.OpenAIComputer.Client = "compatible" },
			settings.Wish{Runtime: "openai_computer_use"},
			all,
			"works with models of compatible, not with openai:gpt-5.6",
		},
		"no tools":  {nil, settings.Wish{Model: "compatible:llava"}, unable, "the model compatible:llava cannot use tools"},
		"no screen": {nil, settings.Wish{Runtime: "gemini_computer_use"}, unable, "cannot work a screen"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings.Defaults()
			if tc.change != nil {
				tc.change(&s)
			}
			if way, err := settings.Route(s, tc.wish, tc.able); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v; want %q", way, err, tc.want)
			}
		})
	}
}

func TestOfAModelThatNobodyKnowsItsVendorHasTheWord(t *testing.T) {
	unknown := func(string, string) settings.Ability { return settings.Ability{} }
	way, err := settings.Route(settings.Defaults(), settings.Wish{Runtime: "openai_computer_use", Model: "compatible:new"}, unknown)
	if err != nil || way.Model != "compatible:new" {
		t.Errorf("got %+v, %v", way, err)
	}
}

func TestTheBrainDrivesTheBrowserWhereItsModelIsInherited(t *testing.T) {
	s := settings.Defaults()
	s.AgentMode, s.BrainModel = settings.ModeInherit, "openai:gpt-5.6"
	way, err := settings.Route(s, settings.Wish{}, ready("openai"))
	if err != nil || way.Model != "openai:gpt-5.6" {
		t.Errorf("got %+v, %v", way, err)
	}
}

func TestATaskIsLeftOnlyToWhoIsReady(t *testing.T) {
	s := settings.Defaults()
	names := func(from string, able func(string, string) settings.Ability) []string {
		return settings.Successors(s, from, able)
	}
	all := ready("plain", "openai", "anthropic", "gemini")
	if got := names("local_browser_agent", all); len(got) != 0 {
		t.Errorf("where it is never done: %v", got)
	}
	s.HandOver = settings.HandOverAsk
	if diff := cmp.Diff([]string{"openai_computer_use", "gemini_computer_use"}, names("anthropic_computer_use", all)); diff != "" {
		t.Errorf("the local one, with a model that takes every word as it is, is no successor (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"openai_computer_use"}, names("local_browser_agent", ready("plain", "openai"))); diff != "" {
		t.Errorf("with one key (-want +got):\n%s", diff)
	}
}

func TestWhyATaskIsNotHandedOverIsSaid(t *testing.T) {
	s := settings.Defaults()
	for _, tc := range []struct{ rule, to, want string }{
		{"never", "openai_computer_use", "the setting agentStack.runtimeConfig.browser.handOff does not allow it"},
		{"allow", "anthropic_computer_use", "it is the one that works at it already"},
		{"ask", "gemini_computer_use", "set the key of gemini and start again"},
		{"ask", "local_browser_agent", "word for word"},
		{"allow", "magic", `there is no runtime "magic"`},
	} {
		s.HandOver = tc.rule
		if way, err := settings.HandOver(s, "anthropic_computer_use", tc.to, ready("plain", "openai")); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, to %s: %+v, %v; want %q", tc.rule, tc.to, way, err, tc.want)
		}
	}
	if way, err := settings.HandOver(s, "anthropic_computer_use", "openai_computer_use", ready("openai")); err != nil || way.Model != "openai:gpt-5.6" {
		t.Errorf("to one that is ready: %+v, %v", way, err)
	}
}

func TestBindingsSayWhatIsReady(t *testing.T) {
	s := settings.Base("openai_oauth")
	got := map[string]settings.Binding{}
	for _, b := range settings.Bindings(s, ready("openai")) {
		got[b.Runtime] = b
	}
	if b := got["openai_computer_use"]; !b.Chosen || b.Problem != "" || b.Model != "openai:gpt-5.6" || b.Why != "the preset openai_oauth says so" {
		t.Errorf("the chosen one: %+v", b)
	}
	if b := got["gemini_computer_use"]; b.Chosen || !strings.Contains(b.Problem, "set the key of gemini") || b.Model != "gemini:gemini-3.5-flash" {
		t.Errorf("one that is not ready: %+v", b)
	}
}

// set changes one setting, which must be accepted.
func set(t *testing.T, l *settings.Live, key, raw string) {
	t.Helper()
	if _, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(raw)}, l.State().Version); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsSetByHandGoesBeforeThePreset(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	set(t, l, keyPreset, `"openai_api"`)
	if got := l.Now(); got.AgentModel != "openai:gpt-5.6" || got.BrainModel != "openai:gpt-5.6" || got.MaxSteps != 10 {
		t.Errorf("the preset alone: %+v", got)
	}
	set(t, l, keyBrain, `""`) // the default, but not what the preset says
	set(t, l, keyModel, `"openai:gpt-5.6"`)
	if got := l.Now(); got.BrainModel != "" {
		t.Errorf("brain = %q, want none, as set by hand", got.BrainModel)
	}
	if _, kept := l.State().Stored[keyModel]; kept {
		t.Error("what the preset says anyway is stored")
	}
	set(t, l, keyPreset, `"claude_api"`)
	if got := l.Now(); got.AgentModel != "anthropic:claude-opus-5-5" || got.BrainModel != "" {
		t.Errorf("after another preset: %q and %q", got.AgentModel, got.BrainModel)
	}
	if diff := cmp.Diff([]string{keyBrain}, settings.ByHand(l.State())); diff != "" {
		t.Errorf("by hand (-want +got):\n%s", diff)
	}
	if got := open(t, store).Now(); got != l.Now() {
		t.Errorf("read again, it is %+v", got)
	}
	set(t, l, keyPreset, "null")
	if got := l.Now(); got.AgentModel != "plain:steps" || got.Preset != "" {
		t.Errorf("without a preset: %+v", got)
	}
}

func TestAPresetIsShownBeforeItIsChosen(t *testing.T) {
	l := open(t, &memory{})
	set(t, l, keyBrain, `"openai:gpt-6-luna"`)
	set(t, l, keySteps, "20")
	got := map[string]settings.PresetEffect{}
	for _, e := range settings.Preview(l.State(), "claude_api") {
		got[e.Key] = e
	}
	if e := got[keyModel]; string(e.Now) != `"plain:steps"` || string(e.Then) != `"anthropic:claude-opus-5-5"` || e.Kept {
		t.Errorf("what changes: %+v", e)
	}
	if e := got[keyBrain]; !e.Kept || string(e.Now) != `"openai:gpt-6-luna"` {
		t.Errorf("what stays: %+v", e)
	}
	if _, ok := got[keySteps]; ok || len(got) != 2 {
		t.Errorf("what has nothing to do with it is listed: %+v", got)
	}
	if l.Now().Preset != "" {
		t.Error("looking chose it")
	}
}

func TestEveryPresetIsMadeOfValidValues(t *testing.T) {
	for name := range presetRuntimes {
		p, ok := settings.PresetOf(name)
		if !ok && name != "" {
			t.Errorf("there is no preset %s", name)
		}
		for key, v := range p.Values {
			f, _ := settings.FieldOf(key)
			raw, _ := json.Marshal(v)
			l := open(t, &memory{})
			set(t, l, key, string(raw))
			if got := f.Get(l.Now()); got != v {
				t.Errorf("%s: %s = %v, want %v", name, key, got, v)
			}
		}
	}
}

func TestAnUnlistedRuntimeIsRefusedAndNeverMeansTheLocalOne(t *testing.T) {
	l := open(t, &memory{})
	_, _, err := l.Update(t.Context(), map[string]json.RawMessage{keyOverride: json.RawMessage(`"hosted"`)}, "")
	if err == nil || !strings.Contains(err.Error(), "must be one of") {
		t.Errorf("setting it: %v", err)
	}
	l = open(t, &memory{values: map[string]json.RawMessage{keyOverride: json.RawMessage(`"hosted"`)}})
	if way, err := settings.Route(l.Now(), settings.Wish{}, ready("plain")); err == nil || !strings.Contains(err.Error(), `no runtime "hosted"`) {
		t.Errorf("stored by something else: %+v, %v", way, err)
	}
	set(t, l, keyOverride, "null")
	if _, err := settings.Route(l.Now(), settings.Wish{}, ready("plain")); err != nil {
		t.Errorf("after it was reset: %v", err)
	}
}

func TestAnIntentReplacesAllThatWasSet(t *testing.T) {
	l := open(t, &memory{})
	set(t, l, keySteps, "20")
	set(t, l, keyBase, `"http://127.0.0.1:1/v1"`)
	intent := map[string]json.RawMessage{keySteps: json.RawMessage("15"), keyPreset: json.RawMessage(`"openai_api"`)}
	s, version, err := l.Replace(t.Context(), intent, l.State().Version)
	if err != nil || s.MaxSteps != 15 || s.CompatibleURL != "" || s.AgentModel != "openai:gpt-5.6" {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, _, err := l.Replace(t.Context(), nil, "0"); !errors.Is(err, settings.ErrConflict) {
		t.Errorf("a stale one: %v", err)
	}
	if s, _, err := l.Replace(t.Context(), nil, version); err != nil || s != settings.Defaults() {
		t.Errorf("an empty one: %+v, %v", s, err)
	}
}

func TestSavedAndAppliedAreTwoThings(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	l.Apply = func(context.Context, settings.Settings) error { return errors.New("the browser does not restart") }
	_, _, err := l.Update(t.Context(), map[string]json.RawMessage{keySteps: json.RawMessage("20")}, "")
	if _, ok := errors.AsType[*settings.ApplyError](err); !ok || !strings.Contains(err.Error(), "does not restart") {
		t.Errorf("err = %v, want that it was not applied", err)
	}
	if l.Now().MaxSteps != 20 || string(store.values[keySteps]) != "20" {
		t.Error("it was not saved")
	}
}
