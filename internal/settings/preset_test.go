package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
)

const (
	keyPreset   = "agentStack.preset"
	keyOverride = "agentStack.overrides.browserRuntime"
	keyBrain    = "interaction.brain.model"
)

// anything returns the ability of a runtime of which nothing is known.
func anything(string, string) settings.ModelAbility { return settings.ModelAbility{} }

func set(t *testing.T, l *settings.Manager, key, raw string) {
	t.Helper()
	if _, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(raw)},
		l.State().Version); err != nil {
		t.Fatal(err)
	}
}

func TestValuesSetByHandOverrideThePreset(t *testing.T) {
	store := &memory{}
	l := open(t, store)
	set(t, l, keyPreset, `"openai_api"`)
	if got := l.Current(); got.AgentModel != "openai:gpt-5.6" || got.AssistantModel != "openai:gpt-5.6" ||
		got.MaxSteps != 30 {
		t.Errorf("the preset alone: %+v", got)
	}
	set(t, l, keyBrain, `""`) // the default, but not what the preset says
	set(t, l, keyModel, `"openai:gpt-5.6"`)
	if got := l.Current(); got.AssistantModel != "" {
		t.Errorf("brain = %q, want none, as set by hand", got.AssistantModel)
	}
	if _, kept := l.State().Stored[keyModel]; kept {
		t.Error("what the preset says anyway is stored")
	}
	set(t, l, keyPreset, `"claude_api"`)
	if got := l.Current(); got.AgentModel != "anthropic:claude-opus-5-5" || got.AssistantModel != "" {
		t.Errorf("after another preset: %q and %q", got.AgentModel, got.AssistantModel)
	}
	check.Diff(t, "by hand", settings.OverriddenKeys(l.State()), []string{keyBrain})
	check.Equal(t, "read again, it", open(t, store).Current(), l.Current())
	set(t, l, keyPreset, "null")
	if got := l.Current(); got.AgentModel != "plain:steps" || got.Preset != "" {
		t.Errorf("without a preset: %+v", got)
	}
}

func TestARenamedPresetOfAnEarlierVersionIsUnderstood(t *testing.T) {
	for was, is := range map[string]string{"claude_oauth": "claude_api", "openai_oauth": "openai_computer_use"} {
		want := settings.PresetDefaults(is)
		if want.Preset != is {
			t.Fatalf("there is no preset %s", is)
		}
		stored := open(t, &memory{values: map[string]json.RawMessage{keyPreset: json.RawMessage(`"` + was + `"`)}})
		if got := stored.Current(); got != want || len(stored.State().Problems) > 0 {
			t.Errorf("%s, stored: preset %q, model %q, %v", was, got.Preset, got.AgentModel, stored.State().Problems)
		}
		now := open(t, &memory{})
		set(t, now, keyPreset, `"`+was+`"`)
		if got := now.Current(); got != want || string(now.State().Stored[keyPreset]) != `"`+is+`"` {
			t.Errorf("%s, set now: stored as %s", was, now.State().Stored[keyPreset])
		}
		if len(settings.PreviewPreset(open(t, &memory{}).State(), was)) == 0 {
			t.Errorf("%s: the preview shows nothing", was)
		}
	}
}

func TestTheRealtimePresetHasARealtimeModelHoldCalls(t *testing.T) {
	s := settings.PresetDefaults("openai_native_realtime")
	if s.Voice.Engine != settings.VoiceEngineRealtime || s.Voice.Realtime.Model == "" {
		t.Errorf("calls are held by %q with %+v", s.Voice.Engine, s.Voice.Realtime)
	}
	for _, other := range []string{"", "claude_api", "openai_api", "openai_computer_use", "grok_native_agent"} {
		check.Equal(t, other+" changes calls", settings.PresetDefaults(other).Voice, settings.Defaults().Voice)
	}
}

func TestAPresetIsShownBeforeItIsChosen(t *testing.T) {
	l := open(t, &memory{})
	set(t, l, keyBrain, `"openai:gpt-6-luna"`)
	set(t, l, keySteps, "20")
	got := map[string]settings.PresetEffect{}
	for _, e := range settings.PreviewPreset(l.State(), "claude_api") {
		got[e.Key] = e
	}
	if e := got[keyModel]; string(e.Now) != `"plain:steps"` || string(e.Then) != `"anthropic:claude-opus-5-5"` ||
		e.Overridden {
		t.Errorf("what changes: %+v", e)
	}
	if e := got[keyBrain]; !e.Overridden || string(e.Now) != `"openai:gpt-6-luna"` {
		t.Errorf("what stays: %+v", e)
	}
	if _, ok := got[keySteps]; ok || len(got) != 2 {
		t.Errorf("what has nothing to do with it is listed: %+v", got)
	}
	if l.Current().Preset != "" {
		t.Error("looking chose it")
	}
}

func TestEveryPresetIsMadeOfValidValues(t *testing.T) {
	choice, _ := settings.FindField(keyPreset)
	for _, o := range choice.Options {
		name := o.Value
		p, ok := settings.FindPreset(name)
		if !ok && name != "" {
			t.Errorf("there is no preset %s", name)
		}
		for key, v := range p.Values {
			f, _ := settings.FindField(key)
			raw, _ := json.Marshal(v)
			l := open(t, &memory{})
			set(t, l, key, string(raw))
			check.Equal(t, fmt.Sprintf("%s: %s", name, key), f.Get(l.Current()), v)
		}
	}
}

func TestAnUnlistedRuntimeIsRefusedAndNeverMeansTheLocalOne(t *testing.T) {
	l := open(t, &memory{})
	_, _, err := l.Update(t.Context(), map[string]json.RawMessage{keyOverride: json.RawMessage(`"hosted"`)}, "")
	check.Fails(t, err, nil, "must be one of")
	l = open(t, &memory{values: map[string]json.RawMessage{keyOverride: json.RawMessage(`"hosted"`)}})
	check.Fails(t, check.Err(settings.ChooseRoute(l.Current(), settings.RouteRequest{}, anything)),
		nil, `no runtime "hosted"`)
	set(t, l, keyOverride, "null")
	check.Must(t, check.Err(settings.ChooseRoute(l.Current(), settings.RouteRequest{}, anything))) // after it was reset
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

func TestEveryPresetChoosesAModelThatThinks(t *testing.T) {
	presets, _ := settings.FindField(keyPreset)
	for _, o := range presets.Options {
		if o.Value == settings.PresetNone {
			continue
		}
		s := settings.PresetDefaults(o.Value)
		if s.AgentModel == settings.Defaults().AgentModel || s.AssistantModel != s.AgentModel {
			t.Errorf("preset %q: %q drives the browser and %q talks, want one model of the vendor", o.Value, s.AgentModel,
				s.AssistantModel)
		}
	}
}

func TestNoPresetChangesSafetySettings(t *testing.T) {
	f, ok := settings.FindField("agentStack.preset")
	if !ok || len(f.Options) < 6 {
		t.Fatalf("the setting of presets has %d options", len(f.Options))
	}
	for _, o := range f.Options {
		p, _ := settings.FindPreset(o.Value)
		for key := range p.Values {
			if !strings.Contains(key, ".model") && !strings.Contains(strings.ToLower(key), "runtime") &&
				key != "interaction.voice.brain" {
				t.Errorf("preset %s sets %s", o.Value, key)
			}
		}
		base, usual := settings.PresetDefaults(o.Value), settings.Defaults()
		if base.Approval != usual.Approval || base.Access != usual.Access || base.Budget != usual.Budget ||
			base.HandOver != usual.HandOver {
			t.Errorf("preset %s changes what is asked, who may come in, or what may be spent", o.Value)
		}
	}
}

func TestAnIntentWithSecretsOrUnknownKeysChangesNothing(t *testing.T) {
	l := open(t, &memory{})
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindSecret {
			continue
		}
		_, _, err := l.Replace(t.Context(), map[string]json.RawMessage{f.Key: json.RawMessage(`"sk-live-4711"`)},
			l.State().Version)
		if invalid := (*settings.InvalidError)(nil); !errors.As(err, &invalid) ||
			strings.Contains(err.Error(), "sk-live-4711") {
			t.Errorf("%s: got %v, want it refused without its value", f.Key, err)
		}
	}
	for _, key := range []string{
		"", "interaction.consent", "interaction.consent.everything", "__proto__",
		strings.Repeat("a", 1<<20),
	} {
		_, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"allow"`)}, l.State().Version)
		if invalid := (*settings.InvalidError)(nil); !errors.As(err, &invalid) {
			t.Errorf("%.40q: got %v, want it refused", key, err)
		}
	}
	if got := l.State().Stored; len(got) > 0 {
		t.Errorf("stored: %v", got)
	}
}
