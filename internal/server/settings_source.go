package server

import "clank/internal/settings"

// SettingsSource provides the settings that are in force now. A *settings.Manager implements it.
type SettingsSource interface {
	Current() settings.Settings
	For(guild string) settings.Settings // of a Discord server
}

// fixedSettings are the same settings everywhere.
type fixedSettings struct{ *settings.Settings }

// Current implements [SettingsSource].
func (s fixedSettings) Current() settings.Settings { return *s.Settings }

// For implements [SettingsSource].
func (s fixedSettings) For(string) settings.Settings { return *s.Settings }
