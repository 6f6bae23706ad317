package api

import (
	"encoding/json"

	"clank/internal/settings"
)

// SettingView is a setting as the page shows it. Value and Default have the
// form they are stored in; both are absent for a secret.
type SettingView struct {
	Key         string          `json:"key"`
	Group       string          `json:"group"`
	Label       string          `json:"label"`
	Effect      string          `json:"effect"`
	Kind        string          `json:"kind"`
	Value       json.RawMessage `json:"value,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	DefaultText string          `json:"default_text,omitempty"` // as people read it
	Limits      string          `json:"limits,omitempty"`       // as people read them
	Changed     bool            `json:"changed,omitempty"`      // it differs from the default
	Problem     string          `json:"problem,omitempty"`      // why the stored value is not used
	Present     bool            `json:"present,omitempty"`      // of a secret: it is there
}

// SettingsView is all settings, and the version a change must be based on.
type SettingsView struct {
	Settings  []SettingView              `json:"settings"`
	Version   string                     `json:"version"`
	Intent    map[string]json.RawMessage `json:"intent"`    // what was set by hand, by key
	Effective map[string]json.RawMessage `json:"effective"` // what is in force: intent over preset over defaults
	Bindings  []settings.RuntimeBinding  `json:"bindings"`  // what that comes to for each runtime
	Meta      SettingsMeta               `json:"_meta"`

	// After a change: it is saved and in force.
	Applied *bool `json:"saveAppliedToRuntime,omitempty"`
}

// SettingsMeta is about versions. UpdatedAt is the same as [SettingsView.Version];
// whoever sends settings says with ExpectedUpdatedAt which ones they have seen.
type SettingsMeta struct {
	UpdatedAt         string   `json:"updatedAt"`
	ExpectedUpdatedAt *string  `json:"expectedUpdatedAt,omitempty"`
	PresetByHand      []string `json:"presetByHand,omitempty"` // what was set by hand although the preset says something about it
}

// SettingsChange changes settings: by key the new value in its stored form, or
// null for the default; or else Intent is everything that is to be set by hand.
// Version is that of the [SettingsView] it is based on; it may stand in Meta too.
type SettingsChange struct {
	Changes map[string]json.RawMessage `json:"changes,omitempty"`
	Intent  map[string]json.RawMessage `json:"intent,omitempty"`
	Version *string                    `json:"version,omitempty"`
	Meta    *SettingsMeta              `json:"_meta,omitempty"`
	// Check refuses what is possible but will not work as things are, with the code settings_doubtful.
	Check bool `json:"check,omitempty"`
}

// SettingsReset sets settings back to what the preset says, or to their defaults: those in Keys, or, without any,
// those that the preset says something about.
type SettingsReset struct {
	Keys []string      `json:"keys,omitempty"`
	Meta *SettingsMeta `json:"_meta"`
}

// SettingsImport makes the JSON with comments in Text all that is set by hand.
type SettingsImport struct {
	Text    string  `json:"text"`
	Version *string `json:"version"`
}

// PresetPreview is what choosing a preset would do.
type PresetPreview struct {
	Preset  settings.Preset         `json:"preset"`
	Effects []settings.PresetEffect `json:"effects"`
	Meta    SettingsMeta            `json:"_meta"`
}
