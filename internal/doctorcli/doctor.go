// Package doctorcli is the command "clank doctor": how keys, runtimes, search and budget stand. It asks no vendor, and repairs
// nothing.
package doctorcli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"clank/budget"
	"clank/internal/budgetcli"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/settingscli"
	"clank/llm"
	"clank/settings"
	"clank/untrusted"
	"clank/websearch"
)

const doctorIntro = `clank doctor [flags]

Says how things stand: which keys are there, which runtimes can be used with them,
how the web is searched, what of calls and shares works, what the budget of today has
left. It asks no vendor and costs nothing. "clank browser doctor" examines the browser.

Exit codes: 0 tasks can be done, 1 the runtime that is chosen for them cannot be used.`

// Standing is how one thing stands.
type Standing struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Says  string `json:"says"`
}

// Command is "clank doctor". All fields but Further are needed.
type Command struct {
	Env   *command.Env
	Rules settingscli.Rules
	// Engine is the search engine that settings choose, with the keys that key knows; nil if there is none.
	Engine func(s settings.Web, key func(name string) string) websearch.Engine
	// Further says how things stand besides; nil says nothing more.
	Further func(ctx context.Context, v settingscli.View) []Standing
}

// Run carries out args, which follow the words "clank doctor".
func (c Command) Run(ctx context.Context, args []string) error {
	e := c.Env
	fs := cmdline.New("doctor", doctorIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.Parse(fs, args, 0); err != nil {
		return err
	}
	var list []Standing
	chosen, task := true, ""
	err := settingscli.With(ctx, e, c.Rules, func(v settingscli.View) error {
		list = append(list, keysStand(v)...)
		for _, b := range v.Bindings() {
			s := Standing{Name: b.Runtime, Ready: b.Problem == "", Says: b.Model + retires(b.Model)}
			if !s.Ready {
				s.Says = strings.TrimPrefix(b.Problem, b.Runtime+" with the model "+b.Model+" is not ready: ") // the name stands before it
			}
			if b.Chosen {
				s.Says += " (chosen)"
				chosen = s.Ready
			}
			list = append(list, s)
		}
		list = append(list, brainStands(v)...)
		list, task = append(list, c.searchStands(v)), v.Live.Now().Budget.Task
		if c.Further != nil {
			list = append(list, c.Further(ctx, v)...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	o, err := budgetcli.Read(ctx, e)
	if err != nil {
		return err
	}
	list = append(list, budgetStands(o, task))
	if *asJSON {
		err = command.PrintJSON(e.Stdout, list)
	} else {
		err = printStandings(e.Stdout, list)
	}
	if err == nil && !chosen {
		return &command.ExitError{Code: command.ExitFailed}
	}
	return err
}

// keysStand says of each key whether it is there.
func keysStand(v settingscli.View) []Standing {
	missing := "is not set. "
	if v.Far {
		missing = `is not set for "clank serve". `
	}
	var list []Standing
	for _, f := range settings.Fields() {
		if f.Kind != settings.Secret {
			continue
		}
		s := Standing{Name: f.Key, Ready: v.Present(f.Key), Says: "is there"}
		if !s.Ready {
			s.Says = missing + f.Effect
		}
		list = append(list, s)
	}
	return list
}

// retires says when OpenAI takes a model back, if it does: "openai:gpt-4.1".
func retires(model string) string {
	name, ok := strings.CutPrefix(model, "openai:")
	if !ok {
		return ""
	}
	if r, ok := llm.Retires(name); ok {
		return " (" + r.String() + ")"
	}
	return ""
}

// brainStands names the model that talks where it will be gone; else it says nothing.
func brainStands(v settingscli.View) []Standing {
	model := v.Live.Now().BrainModel
	if model == "" || retires(model) == "" {
		return nil
	}
	return []Standing{{"brain", true, model + retires(model)}}
}

func (c Command) searchStands(v settingscli.View) Standing {
	known := func(name string) string {
		if v.Present(name) {
			return "present"
		}
		return ""
	}
	if engine := c.Engine(v.Live.Now().Web, known); engine != nil {
		return Standing{"search", true, engine.Name()}
	}
	return Standing{"search", false, "with the browser; for a search engine, " + websearch.HowTo}
}

func budgetStands(o budget.Overview, task string) Standing {
	l, left := o.Today, true
	for _, u := range [][2]int64{
		{l.Spent.Calls, l.Limit.Calls},
		{l.Spent.Steps, l.Limit.Steps},
		{l.Spent.Tokens, l.Limit.Tokens},
		{int64(l.Spent.Money), int64(l.Limit.Money)},
		{int64(l.Spent.Time), int64(l.Limit.Time)},
	} {
		left = left && (u[1] == 0 || u[0] < u[1])
	}
	return Standing{"budget", left, "today " + l.String() + "; a task may take " + cmp.Or(task, "what is left")}
}

func printStandings(to io.Writer, list []Standing) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, s := range list {
		sign := "-"
		if s.Ready {
			sign = "✓"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", sign, s.Name, untrusted.Line(strings.TrimSpace(s.Says), 500))
	}
	return w.Flush()
}
