package api

import (
	"encoding/json"

	"clank/internal/settings"
)

// SettingView is a setting as the page shows it. Value and Default are in stored form; both are absent for a secret.
type SettingView struct {
	Key         string          `json:"key"`
	Group       string          `json:"group"`
	Label       string          `json:"label"`
	Effect      string          `json:"effect"`
	Kind        string          `json:"kind"`
	Value       json.RawMessage `json:"value,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	DefaultText string          `json:"default_text,omitempty"` // for people
	Limits      string          `json:"limits,omitempty"`       // for people
	Changed     bool            `json:"changed,omitempty"`      // it differs from the default
	Problem     string          `json:"problem,omitempty"`      // why the stored value is not used
	Present     bool            `json:"present,omitempty"`      // for a secret: it is set
}

// SettingsView is all settings, and the version that a change must be based on.
type SettingsView struct {
	Settings  []SettingView              `json:"settings"`
	Version   string                     `json:"version"`
	Intent    map[string]json.RawMessage `json:"intent"`    // set by hand, by key
	Effective map[string]json.RawMessage `json:"effective"` // what is in force: intent over preset over defaults
	Bindings  []settings.RuntimeBinding  `json:"bindings"`  // the resulting binding of each runtime
	Meta      SettingsMeta               `json:"_meta"`

	// After a change: it is saved and in force.
	Applied *bool `json:"saveAppliedToRuntime,omitempty"`
}

// SettingsMeta is about versions. UpdatedAt equals [SettingsView.Version]; a client that sends settings sets
// ExpectedUpdatedAt to the version it has read.
type SettingsMeta struct {
	UpdatedAt         string   `json:"updatedAt"`
	ExpectedUpdatedAt *string  `json:"expectedUpdatedAt,omitempty"`
	PresetByHand      []string `json:"presetByHand,omitempty"` // set by hand, overriding the preset
}

// SettingsChange changes settings: Changes maps keys to the new value in stored form, or null for the default;
// alternatively, Intent replaces everything that is set by hand. Version is that of the [SettingsView] it is based
// on; it may be given in Meta instead.
type SettingsChange struct {
	Changes map[string]json.RawMessage `json:"changes,omitempty"`
	Intent  map[string]json.RawMessage `json:"intent,omitempty"`
	Version *string                    `json:"version,omitempty"`
	Meta    *SettingsMeta              `json:"_meta,omitempty"`
	// Check refuses values that are valid but will not work in the current environment, with the code
	// settings_doubtful.
	Check bool `json:"check,omitempty"`
}

// SettingsReset resets settings to the preset's values or the defaults: those in Keys or, without any, those that the
// preset defines.
type SettingsReset struct {
	Keys []string      `json:"keys,omitempty"`
	Meta *SettingsMeta `json:"_meta"`
}

// SettingsImport replaces everything that is set by hand with the JSON with comments in Text.
type SettingsImport struct {
	Text    string  `json:"text"`
	Version *string `json:"version"`
}

// PresetPreview is the effect of choosing a preset.
type PresetPreview struct {
	Preset  settings.Preset         `json:"preset"`
	Effects []settings.PresetEffect `json:"effects"`
	Meta    SettingsMeta            `json:"_meta"`
}
