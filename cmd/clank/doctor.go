package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"clank/budget"
	"clank/settings"
	"clank/untrusted"
	"clank/websearch"
)

const doctorIntro = `clank doctor [flags]

Says how things stand: which keys are there, which runtimes can be used with them,
how the web is searched, what of calls and shares works, what the budget of today has
left. It asks no vendor and costs nothing. "clank browser doctor" examines the browser.

Exit codes: 0 tasks can be done, 1 the runtime that is chosen for them cannot be used.`

// standing is how one thing stands.
type standing struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Says  string `json:"says"`
}

func examine(ctx context.Context, e *env, args []string) error {
	fs := newFlags("doctor", doctorIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := parse(e, fs, args, 0); err != nil {
		return err
	}
	var list []standing
	chosen, task := true, ""
	err := withSettings(ctx, e, func(v configView) error {
		list = append(list, keysStand(v)...)
		for _, b := range v.bindings() {
			s := standing{Name: b.Runtime, Ready: b.Problem == "", Says: b.Model}
			if !s.Ready {
				s.Says = b.Problem
			}
			if b.Chosen {
				s.Says += " (chosen)"
				chosen = s.Ready
			}
			list = append(list, s)
		}
		list = append(append(list, searchStands(v)), callsStand(ctx, v)...)
		task = v.live.Now().Budget.Task
		return nil
	})
	if err != nil {
		return err
	}
	o, err := readBudget(ctx, e)
	if err != nil {
		return err
	}
	list = append(list, budgetStands(o, task))
	if *asJSON {
		err = printJSON(e.stdout, list)
	} else {
		err = printStandings(e.stdout, list)
	}
	if err == nil && !chosen {
		return &exitError{code: exitFailed}
	}
	return err
}

// keysStand says of each key whether it is there.
func keysStand(v configView) []standing {
	missing := "is not set. "
	if v.far {
		missing = `is not set for "clank serve". `
	}
	var list []standing
	for _, f := range settings.Fields() {
		if f.Kind != settings.Secret {
			continue
		}
		s := standing{Name: f.Key, Ready: v.present(f.Key), Says: "is there"}
		if !s.Ready {
			s.Says = missing + f.Effect
		}
		list = append(list, s)
	}
	return list
}

func searchStands(v configView) standing {
	known := func(name string) string {
		if v.present(name) {
			return "present"
		}
		return ""
	}
	if engine := searchEngine(v.live.Now().Web, known); engine != nil {
		return standing{"search", true, engine.Name()}
	}
	return standing{"search", false, "with the browser; for a search engine, " + websearch.HowTo}
}

func budgetStands(o budget.Overview, task string) standing {
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
		fmt.Fprintf(w, "%s\t%s\t%s\n", sign, s.Name, untrusted.Line(strings.TrimSpace(s.Says), 500))
	}
	return w.Flush()
}
