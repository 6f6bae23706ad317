// Package settingscli is the command "clank config": it shows and changes the settings, those of a server that runs or else those
// in the database. What a setting may be is decided elsewhere.
package settingscli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/terminal"
	"clank/settings"
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

// Rules are what is checked of settings beside their own ranges.
type Rules struct {
	Providers []string // names that a model may begin with
	Check     func(settings.Settings) []settings.FieldError
}

// Run carries out args, which follow the words "clank config".
func Run(ctx context.Context, e *command.Env, rules Rules, args []string) error {
	fs := cmdline.New("config", configIntro)
	all := fs.Bool("all", false, "every setting")
	asJSON := fs.Bool("json", false, "print them as JSON")
	if err := e.Parse(fs, args, 3); err != nil {
		return err
	}
	verb, rest := "list", fs.Rest
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	takes, known := map[string]int{"list": 0, "get": 1, "set": 2, "unset": 1}[verb]
	if !known || len(rest) != takes {
		return cmdline.Usagef("write list, get <key>, set <key> <value> or unset <key>")
	}
	var field settings.Field
	if takes > 0 {
		var err error
		if field, err = fieldCalled(rest[0]); err != nil {
			return err
		}
	}
	return With(ctx, e, rules, func(v View) error {
		switch verb {
		case "list":
			return listConfig(e, v.Live.State(), *all, *asJSON)
		case "get":
			return printSetting(e, v.Live.Now(), field, *asJSON)
		}
		value := json.RawMessage("null")
		if verb == "set" {
			value = field.FromText(rest[1])
		}
		if _, _, err := v.Live.Update(ctx, map[string]json.RawMessage{field.Key: value}, v.Live.State().Version); err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "saved: %s is %s\n", field.Key, untrusted.Line(cmp.Or(written(field, v.Live.Now()), "empty"), 200))
		for _, b := range v.Bindings() {
			if b.Chosen && b.Problem != "" {
				fmt.Fprintln(e.Stderr, "not ready yet:", untrusted.Line(b.Problem, 500))
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
		return f, cmdline.Usagef("%s is a key: it comes from the environment, or from the file that %s_FILE names", key, key)
	}
	var keys []string
	for _, f := range settings.Fields() {
		keys = append(keys, f.Key)
	}
	way := cmp.Or(cmdline.Meant(key, keys), `; "clank config --all" lists them`)
	return f, cmdline.Usagef("there is no setting %q%s", key, way)
}

// configLine is a setting as --json prints it.
type configLine struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	ByHand bool            `json:"by_hand"`
	Effect string          `json:"effect"`
	Limits string          `json:"limits,omitempty"`
}

func listConfig(e *command.Env, st settings.State, all, asJSON bool) error {
	list := []configLine{}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
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
		fmt.Fprintf(e.Stderr, "not used: %v\n", p)
	}
	if asJSON {
		return command.PrintJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, `nothing is set by hand; "clank config --all" lists every setting`)
	}
	return w.Flush()
}

// printSetting prints a value so that it can be given to set again.
func printSetting(e *command.Env, s settings.Settings, f settings.Field, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(e.Stdout, f.JSON(s))
	}
	_, err := fmt.Fprintln(e.Stdout, written(f, s))
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
