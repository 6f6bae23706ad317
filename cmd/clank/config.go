package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"clank/dashboard"
	"clank/internal/cmdline"
	"clank/internal/terminal"
	"clank/settings"
	"clank/sqlite"
	"clank/untrusted"
)

const configIntro = `clank config [flags]
clank config get <key>
clank config set <key> <value>
clank config unset <key>

Shows or changes settings, those of the page. Without a command it lists what was
set by hand, with --all every setting. A change applies at once.

  clank config set agentStack.preset claude_api
  clank config set agentStack.runtimeConfig.budget.task '1 USD, 50 calls'`

func workConfig(ctx context.Context, e *env, args []string) error {
	fs := newFlags("config", configIntro)
	all := fs.Bool("all", false, "every setting")
	asJSON := fs.Bool("json", false, "print them as JSON")
	if err := parse(e, fs, args, 3); err != nil {
		return err
	}
	verb, rest := "list", fs.Rest
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	takes, known := map[string]int{"list": 0, "get": 1, "set": 2, "unset": 1}[verb]
	if !known || len(rest) != takes {
		return usageErrorf("write list, get <key>, set <key> <value> or unset <key>")
	}
	var field settings.Field
	if takes > 0 {
		var err error
		if field, err = fieldCalled(rest[0]); err != nil {
			return err
		}
	}
	return withSettings(ctx, e, func(v configView) error {
		switch verb {
		case "list":
			return listConfig(e, v.live.State(), *all, *asJSON)
		case "get":
			return printSetting(e, v.live.Now(), field, *asJSON)
		}
		value := json.RawMessage("null")
		if verb == "set" {
			value = field.FromText(rest[1])
		}
		if _, _, err := v.live.Update(ctx, map[string]json.RawMessage{field.Key: value}, v.live.State().Version); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "saved: %s is %s\n", field.Key, untrusted.Line(cmp.Or(written(field, v.live.Now()), "empty"), 200))
		for _, b := range v.bindings() {
			if b.Chosen && b.Problem != "" {
				fmt.Fprintln(e.stderr, "not ready yet:", untrusted.Line(b.Problem, 500))
			}
		}
		return nil
	})
}

// fieldCalled is the setting with that key.
func fieldCalled(key string) (settings.Field, error) {
	f, ok := settings.FieldOf(key)
	if ok && f.Kind != settings.Secret {
		return f, nil
	}
	if ok {
		return f, usageErrorf("%s is a key: it comes from the environment, or from the file that %s_FILE names", key, key)
	}
	var keys []string
	for _, f := range settings.Fields() {
		keys = append(keys, f.Key)
	}
	way := cmp.Or(cmdline.Meant(key, keys), `; "clank config --all" lists them`)
	return f, usageErrorf("there is no setting %q%s", key, way)
}

// configView is the settings, and what they come to.
type configView struct {
	live     *settings.Live
	far      bool                      // they are a server's
	bindings func() []settings.Binding // the runtimes
	present  func(key string) bool     // which secrets are there
}

// withSettings has do read and change the settings of the server that owns the
// home, or those in the database if there is none.
func withSettings(ctx context.Context, e *env, do func(configView) error) (err error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	a, found, err := h.server()
	if err != nil {
		return err
	}
	live := &settings.Live{Log: slog.New(slog.DiscardHandler), Providers: providers, Check: reachFaults}
	if found {
		far := &serverSettings{client: newRemoteRunner(e, a).client}
		live.Store = far
		if err := live.Open(ctx); err != nil {
			return err
		}
		return do(configView{live, true, func() []settings.Binding { return far.last.Bindings }, far.present})
	}
	db, err := sqlite.Open(ctx, h.path("clank.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	live.Store = db
	if err := live.Open(ctx); err != nil {
		return err
	}
	here := &models{
		compatible: func() string { return live.Now().CompatibleURL },
		secret:     func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, e.getenv) },
		baseURL:    e.getenv,
	}
	return do(configView{
		live, false, func() []settings.Binding { return settings.Bindings(live.Now(), here.able) },
		func(key string) bool { return present(e, key) },
	})
}

// serverSettings are the settings of a running server, as a store.
type serverSettings struct {
	client *dashboard.Client
	last   dashboard.SettingsView
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
	view, err := s.client.ChangeSettings(ctx, dashboard.SettingsChange{Changes: changes, Version: &expectVersion})
	if err == nil {
		s.last = view
	}
	return view.Version, err
}

// present reports whether the server has a secret.
func (s *serverSettings) present(key string) bool {
	return slices.ContainsFunc(s.last.Settings, func(v dashboard.SettingView) bool { return v.Key == key && v.Present })
}

// configLine is a setting as --json prints it.
type configLine struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	ByHand bool            `json:"by_hand"`
	Effect string          `json:"effect"`
	Limits string          `json:"limits,omitempty"`
}

func listConfig(e *env, st settings.State, all, asJSON bool) error {
	list := []configLine{}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, f := range settings.Fields() {
		_, byHand := st.Stored[f.Key]
		if f.Kind == settings.Secret || !all && !byHand {
			continue
		}
		list = append(list, configLine{f.Key, f.JSON(st.Settings), byHand, f.Effect, f.Limits()})
		if !asJSON {
			fmt.Fprintf(w, "%s\t%s\n", f.Key, terminal.Clip(untrusted.Line(written(f, st.Settings), 200), 100))
		}
	}
	for _, p := range st.Problems {
		fmt.Fprintf(e.stderr, "not used: %v\n", p)
	}
	if asJSON {
		return printJSON(e.stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.stderr, `nothing is set by hand; "clank config --all" lists every setting`)
	}
	return w.Flush()
}

// printSetting prints a value so that it can be given to set again.
func printSetting(e *env, s settings.Settings, f settings.Field, asJSON bool) error {
	if asJSON {
		return printJSON(e.stdout, f.JSON(s))
	}
	_, err := fmt.Fprintln(e.stdout, written(f, s))
	return err
}

// written is a value as set takes it.
func written(f settings.Field, s settings.Settings) string {
	value := f.JSON(s)
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil:
		return text
	case f.Kind == settings.Duration:
		return f.Get(s).(time.Duration).String()
	}
	return string(value)
}
