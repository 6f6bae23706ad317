//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/sqlite"
	"clank/internal/untrusted"

	"github.com/spf13/cobra"
)

const configHelp = `Shows or changes settings, the same as on the dashboard. Without a command it lists what was
changed, with --all every setting. A change applies at once.

  clank config set agentStack.preset claude_api
  clank config set agentStack.runtimeConfig.budget.task '1 USD, 50 calls'`

func newConfigCommand(e *commandEnv) *cobra.Command {
	newList := func(use, long string) *cobra.Command {
		var all *bool
		c := newJSONCommand(use, "list the settings; the same as config without a command", long,
			func(ctx context.Context, asJSON bool, _ []string) error {
				return withSettings(ctx, e, func(v settingsView) error { return listConfig(e, v.Live.State(), *all, asJSON) })
			})
		all = c.Flags().Bool("all", false, "every setting")
		return c
	}
	c, list := newList("config", configHelp), newList("list", "")
	get := newJSONCommand("get <key>", "print a setting, in the form that set takes", "",
		func(ctx context.Context, asJSON bool, args []string) error {
			field, err := findField(args[0])
			if err != nil {
				return err
			}
			return withSettings(ctx, e, func(v settingsView) error { return printSetting(e, v.Live.Current(), field, asJSON) })
		})
	set := newCommand("set <key> <value>", "change a setting",
		"  clank config set agentStack.preset claude_api", func(ctx context.Context, args []string) error {
			return changeSetting(ctx, e, args[0], func(f settings.Field) json.RawMessage { return f.ParseText(args[1]) })
		})
	unset := newCommand("unset <key>", "reset a setting to its default", "",
		func(ctx context.Context, args []string) error {
			return changeSetting(ctx, e, args[0], func(settings.Field) json.RawMessage { return json.RawMessage("null") })
		})
	export := newCommand("export", "print what was changed, as JSON with comments", "",
		func(ctx context.Context, _ []string) error {
			return withSettings(ctx, e, func(v settingsView) error {
				_, err := e.Stdout.Write(settings.WriteJSONC(v.Live.State()))
				return err
			})
		})
	importing := newCommand("import <file>", "apply a file of config export, and reset all other settings",
		"  clank config export > settings.jsonc\n  clank config import settings.jsonc",
		func(ctx context.Context, args []string) error { return importSettings(ctx, e, args[0]) })
	for _, below := range []*cobra.Command{get, set, unset} {
		below.ValidArgsFunction = completeKeys
	}
	c.AddCommand(list, get, set, unset, export, importing)
	return c
}

// completeKeys completes the key of a setting.
func completeKeys(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var keys []cobra.Completion
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindSecret && len(args) == 0 {
			keys = append(keys, cobra.CompletionWithDesc(f.Key, f.Label))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// changeSetting sets a setting to the result of value, and prints the new value.
func changeSetting(ctx context.Context, e *commandEnv, key string, value func(settings.Field) json.RawMessage) error {
	field, err := findField(key)
	if err != nil {
		return err
	}
	return withSettings(ctx, e, func(v settingsView) error {
		if _, _, err := v.Live.Update(ctx, map[string]json.RawMessage{field.Key: value(field)},
			v.Live.State().Version); err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "saved: %s is %s\n", field.Key,
			untrusted.CleanLine(cmp.Or(formatValue(field, v.Live.Current()), "empty"), 200))
		for _, b := range v.Bindings() {
			if b.Chosen && b.Problem != "" {
				fmt.Fprintln(e.Stderr, "not ready yet:", untrusted.CleanLine(b.Problem, 500))
			}
		}
		return nil
	})
}

// importSettings replaces all settings set by hand with those of a file.
func importSettings(ctx context.Context, e *commandEnv, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	values, err := settings.ParseJSONC(text)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", file, err)
	}
	return withSettings(ctx, e, func(v settingsView) error {
		if _, _, err := v.Live.Replace(ctx, values, v.Live.State().Version); err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "saved: %s changed from the default\n", countNoun(len(v.Live.State().Stored), "setting"))
		return nil
	})
}

// findField returns the setting with the given key.
func findField(key string) (settings.Field, error) {
	f, ok := settings.FindField(key)
	if ok && f.Kind != settings.KindSecret {
		return f, nil
	}
	if ok {
		return f, usagef("%s is a key: it comes from the environment, or from the file that %s_FILE names", key, key)
	}
	var keys []string
	for _, f := range settings.Fields() {
		keys = append(keys, f.Key)
	}
	way := cmp.Or(didYouMean(key, keys), `; "clank config --all" lists them`)
	return f, usagef("there is no setting %q%s", key, way)
}

// configEntry is a setting as --json prints it.
type configEntry struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	ByHand bool            `json:"by_hand"`
	Effect string          `json:"effect"`
	Limits string          `json:"limits,omitempty"`
}

func listConfig(e *commandEnv, st settings.State, all, asJSON bool) error {
	list := []configEntry{}
	var shown []settings.Field
	for _, f := range settings.Fields() {
		_, byHand := st.Stored[f.Key]
		if f.Kind != settings.KindSecret && (all || byHand) {
			list = append(list, configEntry{f.Key, f.JSON(st.Settings), byHand, f.Effect, f.Limits()})
			shown = append(shown, f)
		}
	}
	for _, p := range st.Problems {
		fmt.Fprintf(e.Stderr, "not used: %v\n", p)
	}
	if len(list) == 0 && !asJSON {
		fmt.Fprintln(e.Stderr, `nothing is set by hand; "clank config --all" lists every setting`)
	}
	return e.printResult(asJSON, list, func(w io.Writer) {
		for _, f := range shown {
			fmt.Fprintf(w, "%s\t%s\n", f.Key, clipLine(untrusted.CleanLine(formatValue(f, st.Settings), 200), 100))
		}
	})
}

// printSetting prints a value in a form that "set" accepts.
func printSetting(e *commandEnv, s settings.Settings, f settings.Field, asJSON bool) error {
	return e.printResult(asJSON, f.JSON(s), func(w io.Writer) { fmt.Fprintln(w, formatValue(f, s)) })
}

// formatValue returns a value in a form that "set" accepts.
func formatValue(f settings.Field, s settings.Settings) string {
	value := f.JSON(s)
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case f.Kind == settings.KindDuration:
		return f.Get(s).(time.Duration).String()
	}
	return string(value)
}

// settingsView is the settings and what follows from them.
type settingsView struct {
	Live     *settings.Manager
	Remote   bool                             // they belong to a running server
	Bindings func() []settings.RuntimeBinding // of the runtimes
	Present  func(key string) bool            // reports whether a secret is set
}

// withSettings calls do with the settings of the server that owns the home, or with those in the database if none is
// running.
func withSettings(ctx context.Context, e *commandEnv, do func(settingsView) error) error {
	live := &settings.Manager{
		Log: slog.New(slog.DiscardHandler), Providers: server.ModelProviders(),
		Check: server.CheckReach,
	}
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
		getenv := e.getenvWithKeys(ctx)
		here := &server.ModelFinder{Settings: live, Getenv: getenv}
		return do(settingsView{
			live, false, func() []settings.RuntimeBinding { return settings.RuntimeBindings(live.Current(), here.Ability) },
			func(key string) bool { return server.SecretPresent(getenv, key) },
		})
	})
}

// remoteSettings is a store with the settings of a running server.
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
func (s *remoteSettings) SaveSettings(ctx context.Context, values map[string]json.RawMessage,
	expectVersion string,
) (string, error) {
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
