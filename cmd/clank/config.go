package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"clank/internal/settings"
	"clank/internal/untrusted"

	"github.com/spf13/cobra"
)

const configHelp = `Shows or changes settings, those of the page. Without a command it lists what was
set by hand, with --all every setting. A change applies at once.

  clank config set agentStack.preset claude_api
  clank config set agentStack.runtimeConfig.budget.task '1 USD, 50 calls'`

func newConfigCommand(e *commandEnv) *cobra.Command {
	newList := func(use, long string) *cobra.Command {
		var all, asJSON *bool
		c := newCommand(use, "list the settings, as config alone does", long, func(ctx context.Context, _ []string) error {
			return withSettings(ctx, e, func(v settingsView) error { return listConfig(e, v.Live.State(), *all, *asJSON) })
		})
		all = c.Flags().Bool("all", false, "every setting")
		asJSON = c.Flags().Bool("json", false, "print them as JSON")
		return c
	}
	c, list := newList("config", configHelp), newList("list", "")
	var asJSON *bool
	get := newCommand("get <key>", "print a setting so that it can be given to set", "", func(ctx context.Context, args []string) error {
		field, err := findField(args[0])
		if err != nil {
			return err
		}
		return withSettings(ctx, e, func(v settingsView) error { return printSetting(e, v.Live.Current(), field, *asJSON) })
	})
	asJSON = get.Flags().Bool("json", false, "print it as JSON")
	set := newCommand("set <key> <value>", "change a setting", "", func(ctx context.Context, args []string) error {
		return changeSetting(ctx, e, args[0], func(f settings.Field) json.RawMessage { return f.ParseText(args[1]) })
	})
	unset := newCommand("unset <key>", "make a setting what it is by default", "", func(ctx context.Context, args []string) error {
		return changeSetting(ctx, e, args[0], func(settings.Field) json.RawMessage { return json.RawMessage("null") })
	})
	for _, below := range []*cobra.Command{get, set, unset} {
		below.ValidArgsFunction = completeKeys
	}
	c.AddCommand(list, get, set, unset)
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

// changeSetting gives a setting the value that value makes for it, and says what it is then.
func changeSetting(ctx context.Context, e *commandEnv, key string, value func(settings.Field) json.RawMessage) error {
	field, err := findField(key)
	if err != nil {
		return err
	}
	return withSettings(ctx, e, func(v settingsView) error {
		if _, _, err := v.Live.Update(ctx, map[string]json.RawMessage{field.Key: value(field)}, v.Live.State().Version); err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "saved: %s is %s\n", field.Key, untrusted.CleanLine(cmp.Or(formatValue(field, v.Live.Current()), "empty"), 200))
		for _, b := range v.Bindings() {
			if b.Chosen && b.Problem != "" {
				fmt.Fprintln(e.Stderr, "not ready yet:", untrusted.CleanLine(b.Problem, 500))
			}
		}
		return nil
	})
}

// findField returns the setting with that key.
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

// printSetting prints a value so that it can be given to set again.
func printSetting(e *commandEnv, s settings.Settings, f settings.Field, asJSON bool) error {
	return e.printResult(asJSON, f.JSON(s), func(w io.Writer) { fmt.Fprintln(w, formatValue(f, s)) })
}

// formatValue returns a value as set takes it.
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
