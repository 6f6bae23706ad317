package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/sqlite"
)

// settingsView is the settings, and what they come to.
type settingsView struct {
	Live     *settings.Manager
	Remote   bool                             // they are a server's
	Bindings func() []settings.RuntimeBinding // the runtimes
	Present  func(key string) bool            // which secrets are there
}

// withSettings has do read and change the settings of the server that owns the home, or
// those in the database if there is none.
func withSettings(ctx context.Context, e *commandEnv, do func(settingsView) error) error {
	live := &settings.Manager{Log: slog.New(slog.DiscardHandler), Providers: server.ModelProviders(), Check: server.CheckReach}
	return withServerOrDatabase(ctx, e, func(c *api.Client) error {
		far := &remoteSettings{client: c}
		live.Store = far
		if err := live.Open(ctx); err != nil {
			return err
		}
		return do(settingsView{live, true, func() []settings.RuntimeBinding { return far.lastView.Bindings }, far.hasSecret})
	}, func(db *sqlite.DB) error {
		live.Store = db
		if err := live.Open(ctx); err != nil {
			return err
		}
		here := &server.ModelFinder{
			CompatibleURL: func() string { return live.Current().CompatibleURL },
			Secret:        func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, e.Getenv) },
			VendorURL:     e.Getenv,
		}
		return do(settingsView{
			live, false, func() []settings.RuntimeBinding { return settings.RuntimeBindings(live.Current(), here.Ability) },
			func(key string) bool { return server.SecretPresent(e.Getenv, key) },
		})
	})
}

// remoteSettings are the settings of a running server, as a store.
type remoteSettings struct {
	client   *api.Client
	lastView api.SettingsView
}

// LoadSettings implements [settings.Store].
func (s *remoteSettings) LoadSettings(ctx context.Context) (map[string]json.RawMessage, string, error) {
	var err error
	s.lastView, err = s.client.Settings(ctx)
	return s.lastView.Intent, s.lastView.Version, err
}

// SaveSettings implements [settings.Store].
func (s *remoteSettings) SaveSettings(ctx context.Context, values map[string]json.RawMessage, expectVersion string) (string, error) {
	changes := maps.Clone(values)
	for key := range s.lastView.Intent {
		if _, stays := values[key]; !stays {
			changes[key] = json.RawMessage("null")
		}
	}
	view, err := s.client.ChangeSettings(ctx, api.SettingsChange{Changes: changes, Version: &expectVersion})
	if err == nil {
		s.lastView = view
	}
	return view.Version, err
}

// hasSecret reports whether the server has a secret.
func (s *remoteSettings) hasSecret(key string) bool {
	return slices.ContainsFunc(s.lastView.Settings, func(v api.SettingView) bool { return v.Key == key && v.Present })
}
