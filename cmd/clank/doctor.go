package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"clank/internal/budget"
	"clank/internal/settings"
	"clank/internal/untrusted"
	"clank/internal/web"
	"clank/llm"
)

const doctorIntro = `clank doctor [flags]

Says how things stand: which keys are there, which runtimes can be used with them,
how the web is searched, what of calls and shares works, what the budget of today has
left. It asks no vendor and costs nothing. "clank browser doctor" examines the browser.

Exit codes: 0 tasks can be done, 1 the runtime that is chosen for them cannot be used.`

// standing is how one thing stands.
type standing struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"says"`
}

// doctorCommand is "clank doctor". All fields but Further are needed.
type doctorCommand struct {
	Env   *commandEnv
	Rules settingsRules
	// SearchEngine is the search engine that settings choose, with the keys that key knows; nil if there is none.
	SearchEngine func(s settings.Web, key func(name string) string) web.SearchEngine
	// MoreStandings says how things stand besides; nil says nothing more.
	MoreStandings func(ctx context.Context, v settingsView) []standing
}

// runArgs carries out args, which follow the words "clank doctor".
func (c doctorCommand) runArgs(ctx context.Context, args []string) error {
	e := c.Env
	fs := newFlags("doctor", doctorIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.parseFlags(fs, args, 0); err != nil {
		return err
	}
	var list []standing
	chosen, task := true, ""
	err := withSettings(ctx, e, c.Rules, func(v settingsView) error {
		list = append(list, keyStandings(v)...)
		for _, b := range v.Bindings() {
			s := standing{Name: b.Runtime, Ready: b.Problem == "", Detail: b.Model + modelDeprecation(b.Model)}
			if !s.Ready {
				s.Detail = strings.TrimPrefix(b.Problem, b.Runtime+" with the model "+b.Model+" is not ready: ") // the name stands before it
			}
			if b.Chosen {
				s.Detail += " (chosen)"
				chosen = s.Ready
			}
			list = append(list, s)
		}
		list = append(list, assistantStanding(v)...)
		list, task = append(list, c.searchStanding(v)), v.Live.Current().Budget.Task
		if c.MoreStandings != nil {
			list = append(list, c.MoreStandings(ctx, v)...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	o, err := readBudget(ctx, e)
	if err != nil {
		return err
	}
	list = append(list, budgetStanding(o, task))
	if *asJSON {
		err = printIndentedJSON(e.Stdout, list)
	} else {
		err = printStandings(e.Stdout, list)
	}
	if err == nil && !chosen {
		return &exitError{Code: exitFailed}
	}
	return err
}

// keyStandings says of each key whether it is there.
func keyStandings(v settingsView) []standing {
	missing := "is not set. "
	if v.Remote {
		missing = `is not set for "clank serve". `
	}
	var list []standing
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindSecret {
			continue
		}
		s := standing{Name: f.Key, Ready: v.Present(f.Key), Detail: "is there"}
		if !s.Ready {
			s.Detail = missing + f.Effect
		}
		list = append(list, s)
	}
	return list
}

// modelDeprecation says when OpenAI takes a model back, if it does: "openai:gpt-4.1".
func modelDeprecation(model string) string {
	name, ok := strings.CutPrefix(model, "openai:")
	if !ok {
		return ""
	}
	if r, ok := llm.DeprecationOf(name); ok {
		return " (" + r.String() + ")"
	}
	return ""
}

// assistantStanding names the model that talks where it will be gone; else it says nothing.
func assistantStanding(v settingsView) []standing {
	model := v.Live.Current().AssistantModel
	if model == "" || modelDeprecation(model) == "" {
		return nil
	}
	return []standing{{"brain", true, model + modelDeprecation(model)}}
}

func (c doctorCommand) searchStanding(v settingsView) standing {
	known := func(name string) string {
		if v.Present(name) {
			return "present"
		}
		return ""
	}
	if engine := c.SearchEngine(v.Live.Current().Web, known); engine != nil {
		return standing{"search", true, engine.Name()}
	}
	return standing{"search", false, "with the browser; for a search engine, " + web.SearchSetupHint}
}

func budgetStanding(o budget.Overview, task string) standing {
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
	return standing{"budget", left, "today " + l.String() + "; a task may take " + cmp.Or(task, "what is left")}
}

func printStandings(to io.Writer, list []standing) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, s := range list {
		sign := "-"
		if s.Ready {
			sign = "✓"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", sign, s.Name, untrusted.CleanLine(strings.TrimSpace(s.Detail), 500))
	}
	return w.Flush()
}
