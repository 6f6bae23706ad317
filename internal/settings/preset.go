package settings

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// PresetNone is the value of [Settings.Preset] without a preset.
const PresetNone = ""

// Preset is a named set of values. Values set by hand override it.
type Preset struct {
	Name    string         `json:"name"`
	Label   string         `json:"label"`
	Runtime string         `json:"runtime"`
	Values  map[string]any `json:"values"` // by key, with the type of the field
}

const (
	openaiChat        = "openai:gpt-5.6"
	anthropicChat     = "anthropic:claude-opus-5-5"
	grokChat          = "compatible:grok-4.3"
	agentModeKey      = agentKeys + "execution.mode"
	agentModelKey     = agentKeys + "execution.model"
	assistantModelKey = assistantKeys + "model"
	compatibleURLKey  = "agentStack.runtimeConfig.models.compatibleBaseUrl"
)

// presets are all presets, each named after what it selects. Credentials are not part of them.
var presets = []Preset{
	{Name: "claude_api", Label: "Claude", Runtime: RuntimeLocal, Values: sameModel(anthropicChat)},
	{Name: "openai_api", Label: "OpenAI", Runtime: RuntimeLocal, Values: sameModel(openaiChat)},
	{Name: "openai_computer_use", Label: "OpenAI, computer use", Runtime: RuntimeOpenAI, Values: sameModel(openaiChat)},
	{
		Name: "openai_native_realtime", Label: "OpenAI, computer use, and a realtime model in calls", Runtime: RuntimeOpenAI,
		Values: realtimeVoice(openaiChat),
	},
	{
		Name: "grok_native_agent", Label: "Grok, with its key in COMPATIBLE_API_KEY", Runtime: RuntimeLocal,
		Values: compatibleModel("https://api.x.ai/v1", grokChat),
	},
}

// renamedPresets maps former names of presets to their current names.
var renamedPresets = map[string]string{"claude_oauth": "claude_api", "openai_oauth": "openai_computer_use"}

// sameModel returns values that use one model for the assistant and the browser.
func sameModel(model string) map[string]any {
	return map[string]any{agentModelKey: model, assistantModelKey: model}
}

// compatibleModel returns values that use one model of a compatible server for the assistant and the browser.
func compatibleModel(server, model string) map[string]any {
	values := sameModel(model)
	values[compatibleURLKey] = server
	return values
}

// realtimeVoice returns values that use one model for writing and the browser, and the realtime model for calls.
func realtimeVoice(model string) map[string]any {
	values := sameModel(model)
	values[voiceEngineKey] = VoiceEngineRealtime
	return values
}

func presetOptions() []Option {
	options := []Option{{PresetNone, "None: chosen one by one"}}
	for _, p := range presets {
		options = append(options, Option{p.Name, p.Label})
	}
	return options
}

// FindPreset returns the named preset, or an empty one and false.
func FindPreset(name string) (Preset, bool) {
	name = cmp.Or(renamedPresets[name], name)
	for _, p := range presets {
		if p.Name == name {
			p.Values = maps.Clone(p.Values)
			return p, true
		}
	}
	return Preset{}, false
}

// PresetDefaults returns the defaults with the values of a preset.
func PresetDefaults(preset string) Settings {
	s := Defaults()
	p, ok := FindPreset(preset)
	if !ok {
		return s
	}
	s.Preset = p.Name
	for key, v := range p.Values {
		f, _ := FindField(key)
		f.assign(&s, v)
	}
	return s
}

// PresetEffect is the effect of choosing a preset on one setting.
type PresetEffect struct {
	Key        string          `json:"key"`
	Label      string          `json:"label"`
	Now        json.RawMessage `json:"now"`
	Then       json.RawMessage `json:"then"`
	Overridden bool            `json:"kept,omitempty"` // it was set by hand, so the preset's value does not apply
}

// PreviewPreset returns the effects of choosing the named preset on st without applying it: the settings that would
// change, and those that stay because they were set by hand to something else.
func PreviewPreset(st State, name string) []PresetEffect {
	base := PresetDefaults(name)
	effects := []PresetEffect{}
	for _, f := range settingsTable {
		if f.path == nil || f.Key == presetKey {
			continue
		}
		now, then := f.JSON(st.Settings), f.JSON(base)
		if string(now) == string(then) {
			continue
		}
		_, kept := st.Stored[f.Key]
		if kept && !presetSets(name, f.Key) {
			continue // no effect
		}
		effects = append(effects, PresetEffect{Key: f.Key, Label: f.Label, Now: now, Then: then, Overridden: kept})
	}
	return effects
}

// presetSets reports whether a preset contains a setting.
func presetSets(preset, key string) bool {
	p, _ := FindPreset(preset)
	_, ok := p.Values[key]
	return ok
}

// OverriddenKeys returns the keys of settings that were set by hand although the preset of st contains them, sorted.
// Setting them to null restores the preset's values.
func OverriddenKeys(st State) []string {
	var keys []string
	for key := range st.Stored {
		if presetSets(st.Settings.Preset, key) || key == overrideKey && st.Settings.Preset != PresetNone {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
