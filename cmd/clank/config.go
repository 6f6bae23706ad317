package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"clank/internal/settings"
	"clank/internal/untrusted"
)

const configIntro = `clank config [flags]
clank config get <key>
clank config set <key> <value>
clank config unset <key>

Shows or changes settings, those of the page. Without a command it lists what was
set by hand, with --all every setting. A change applies at once.

  clank config set agentStack.preset claude_api
  clank config set agentStack.runtimeConfig.budget.task '1 USD, 50 calls'`

// settingsRules are what is checked of settings beside their own ranges.
type settingsRules struct {
	Providers []string // names that a model may begin with
	Check     func(settings.Settings) []settings.FieldError
}

// runConfig carries out args, which follow the words "clank config".
func runConfig(ctx context.Context, e *commandEnv, rules settingsRules, args []string) error {
	fs := newFlags("config", configIntro)
	all := fs.Bool("all", false, "every setting")
	asJSON := fs.Bool("json", false, "print them as JSON")
	if err := e.parseFlags(fs, args, 3); err != nil {
		return err
	}
	verb, rest := "list", fs.Rest
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	takes, known := map[string]int{"list": 0, "get": 1, "set": 2, "unset": 1}[verb]
	if !known || len(rest) != takes {
		return usagef("write list, get <key>, set <key> <value> or unset <key>")
	}
	var field settings.Field
	if takes > 0 {
		var err error
		if field, err = findField(rest[0]); err != nil {
			return err
		}
	}
	return withSettings(ctx, e, rules, func(v settingsView) error {
		switch verb {
		case "list":
			return listConfig(e, v.Live.State(), *all, *asJSON)
		case "get":
			return printSetting(e, v.Live.Current(), field, *asJSON)
		}
		value := json.RawMessage("null")
		if verb == "set" {
			value = field.ParseText(rest[1])
		}
		if _, _, err := v.Live.Update(ctx, map[string]json.RawMessage{field.Key: value}, v.Live.State().Version); err != nil {
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

// findField is the setting with that key.
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
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range settings.Fields() {
		_, byHand := st.Stored[f.Key]
		if f.Kind == settings.KindSecret || !all && !byHand {
			continue
		}
		list = append(list, configEntry{f.Key, f.JSON(st.Settings), byHand, f.Effect, f.Limits()})
		if !asJSON {
			fmt.Fprintf(w, "%s\t%s\n", f.Key, clipLine(untrusted.CleanLine(formatValue(f, st.Settings), 200), 100))
		}
	}
	for _, p := range st.Problems {
		fmt.Fprintf(e.Stderr, "not used: %v\n", p)
	}
	if asJSON {
		return printIndentedJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, `nothing is set by hand; "clank config --all" lists every setting`)
	}
	return w.Flush()
}

// printSetting prints a value so that it can be given to set again.
func printSetting(e *commandEnv, s settings.Settings, f settings.Field, asJSON bool) error {
	if asJSON {
		return printIndentedJSON(e.Stdout, f.JSON(s))
	}
	_, err := fmt.Fprintln(e.Stdout, formatValue(f, s))
	return err
}

// formatValue is a value as set takes it.
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
