package settingscli

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"

	"clank/dashboard/client"
	"clank/dashboard/wire"
	"clank/internal/command"
	"clank/internal/models"
	"clank/internal/owner"
	"clank/settings"
	"clank/settings/routing"
	"clank/sqlite"
)

// View is the settings, and what they come to.
type View struct {
	Live     *settings.Live
	Far      bool                     // they are a server's
	Bindings func() []routing.Binding // the runtimes
	Present  func(key string) bool    // which secrets are there
}

// With has do read and change the settings of the server that owns the home, or
// those in the database if there is none.
func With(ctx context.Context, e *command.Env, rules Rules, do func(View) error) error {
	live := &settings.Live{Log: slog.New(slog.DiscardHandler), Providers: rules.Providers, Check: rules.Check}
	return owner.Ask(ctx, e, func(c *client.Client) error {
		far := &serverSettings{client: c}
		live.Store = far
		if err := live.Open(ctx); err != nil {
			return err
		}
		return do(View{live, true, func() []routing.Binding { return far.last.Bindings }, far.present})
	}, func(db *sqlite.DB) error {
		live.Store = db
		if err := live.Open(ctx); err != nil {
			return err
		}
		here := &models.Finder{
			Compatible: func() string { return live.Now().CompatibleURL },
			Secret:     func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, e.Getenv) },
			BaseURL:    e.Getenv,
		}
		return do(View{
			live, false, func() []routing.Binding { return routing.Bindings(live.Now(), here.Able) },
			func(key string) bool { return Present(e, key) },
		})
	})
}

// Present reports whether the secret called name is there to be used.
func Present(e *command.Env, name string) bool {
	v, err := settings.ReadSecret(name, e.Getenv)
	return err == nil && v.Present()
}

// serverSettings are the settings of a running server, as a store.
type serverSettings struct {
	client *client.Client
	last   wire.SettingsView
}

// LoadSettings implements [settings.Store].
func (s *serverSettings) LoadSettings(ctx context.Context) (map[string]json.RawMessage, string, error) {
	var err error
	s.last, err = s.client.Settings(ctx)
	return s.last.Intent, s.last.Version, err
}

// SaveSettings implements [settings.Store].
func (s *serverSettings) SaveSettings(ctx context.Context, values map[string]json.RawMessage, expectVersion string) (string, error) {
	changes := maps.Clone(values)
	for key := range s.last.Intent {
		if _, stays := values[key]; !stays {
			changes[key] = json.RawMessage("null")
		}
	}
	view, err := s.client.ChangeSettings(ctx, wire.SettingsChange{Changes: changes, Version: &expectVersion})
	if err == nil {
		s.last = view
	}
	return view.Version, err
}

// present reports whether the server has a secret.
func (s *serverSettings) present(key string) bool {
	return slices.ContainsFunc(s.last.Settings, func(v wire.SettingView) bool { return v.Key == key && v.Present })
}
