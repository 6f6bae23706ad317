package settings

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// PresetNone is the value of [Settings.Preset] where everything is chosen one by one.
const PresetNone = ""

// Preset is a set of values that is chosen by one name. What somebody set by hand goes before it.
type Preset struct {
	Name    string         `json:"name"`
	Label   string         `json:"label"`
	Runtime string         `json:"runtime"`
	Values  map[string]any `json:"values"` // by key; of the type of the field
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

// presets are all there are. Each is named after what it chooses; how to sign in is no part of it, as keys are what
// clank uses.
var presets = []Preset{
	{Name: "claude_api", Label: "Claude", Runtime: RuntimeLocal, Values: sameModel(anthropicChat)},
	{Name: "openai_api", Label: "OpenAI", Runtime: RuntimeLocal, Values: sameModel(openaiChat)},
	{Name: "openai_computer_use", Label: "OpenAI, computer use", Runtime: RuntimeOpenAI, Values: sameModel(openaiChat)},
	{Name: "openai_native_realtime", Label: "OpenAI, computer use, and a realtime model in calls", Runtime: RuntimeOpenAI, Values: realtimeVoice(openaiChat)},
	{
		Name: "grok_native_agent", Label: "Grok, with its key in COMPATIBLE_API_KEY", Runtime: RuntimeLocal,
		Values: compatibleModel("https://api.x.ai/v1", grokChat),
	},
}

// renamedPresets are names that presets had, and what they are called now.
var renamedPresets = map[string]string{"claude_oauth": "claude_api", "openai_oauth": "openai_computer_use"}

// sameModel returns values in which one model talks and drives the browser.
func sameModel(model string) map[string]any {
	return map[string]any{agentModelKey: model, assistantModelKey: model}
}

// compatibleModel returns values in which one model of a compatible server talks and drives the browser.
func compatibleModel(server, model string) map[string]any {
	values := sameModel(model)
	values[compatibleURLKey] = server
	return values
}

// realtimeVoice returns values in which one model writes and drives the browser, and calls are held by the realtime
// model.
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

// FindPreset returns the preset of that name; the empty one for a name there is not.
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

// PresetDefaults returns the settings of somebody who chose that preset and nothing else.
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

// PresetEffect says what choosing a preset does to one setting.
type PresetEffect struct {
	Key        string          `json:"key"`
	Label      string          `json:"label"`
	Now        json.RawMessage `json:"now"`
	Then       json.RawMessage `json:"then"`
	Overridden bool            `json:"kept,omitempty"` // it was set by hand, so the preset's value would not count
}

// PreviewPreset says what choosing the preset of that name would do to st, without doing it: which settings would
// change, and which stay because they were set by hand although the preset says otherwise.
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
			continue // neither changes nor stands in the way
		}
		effects = append(effects, PresetEffect{Key: f.Key, Label: f.Label, Now: now, Then: then, Overridden: kept})
	}
	return effects
}

// presetSets reports whether a preset says something about a setting.
func presetSets(preset, key string) bool {
	p, _ := FindPreset(preset)
	_, ok := p.Values[key]
	return ok
}

// OverriddenKeys returns the keys of what was set by hand although the preset of st says
// something about it, sorted. Setting them to null brings the preset back.
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
