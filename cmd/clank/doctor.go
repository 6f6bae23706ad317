//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"clank/browsermgr/chrome"
	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/untrusted"
	"clank/internal/web"

	"github.com/spf13/cobra"
)

const doctorHelp = `Shows which keys are set, which runtimes they allow, how the web is searched, which parts of
calls and sharing work, and what is left of today's budget. It asks no vendor and costs
nothing. While "clank serve" runs, it also tests the public address of shared pages and the
TURN servers. "clank browser doctor" checks the browser.

Lines that begin with ! or ✗ are security weaknesses, with their fix. Those with ✗ are
serious, and also shown on the dashboard's first page.

Exit codes: 0 tasks can run, 1 the chosen runtime cannot be used.`

// standing is the state of one component.
type standing struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Detail string `json:"says"`

	Weakness *api.Weakness `json:"weakness,omitempty"` // set if it is a weakness
}

func newDoctorCommand(e *commandEnv) *cobra.Command {
	return newJSONCommand("doctor", "", doctorHelp, func(ctx context.Context, asJSON bool, _ []string) error {
		list, ready, err := findStandings(ctx, e)
		if err != nil {
			return err
		}
		if err := e.printResult(asJSON, list, func(w io.Writer) { writeStandings(w, list) }); err != nil {
			return err
		}
		if !ready {
			return &exitError{Code: exitFailed}
		}
		return nil
	})
}

// findStandings returns the state of all components, and whether the runtime chosen for tasks is ready.
func findStandings(ctx context.Context, e *commandEnv) (list []standing, ready bool, err error) {
	ready = true
	task := ""
	var weaknesses []standing
	err = withSettings(ctx, e, func(v settingsView) error {
		list = append(list, keyStandings(v)...)
		for _, b := range v.Bindings() {
			s := standing{Name: b.Runtime, Ready: b.Problem == "", Detail: b.Model + modelDeprecation(b.Model)}
			if !s.Ready {
				// the name is printed before it
				s.Detail = strings.TrimPrefix(b.Problem, b.Runtime+" with the model "+b.Model+" is not ready: ")
			}
			if b.Chosen {
				s.Detail += " (chosen)"
				ready = s.Ready
			}
			list = append(list, s)
		}
		list = append(list, assistantStanding(v)...)
		list, task = append(list, searchStanding(v)), v.Live.Current().Budget.Task
		checks, err := sharingStandings(ctx, e)
		if err != nil {
			return err
		}
		for _, a := range server.CallCapabilities(ctx, v.Live.Current(), v.Present, !v.Remote) {
			s := standing{Name: a.Name, Ready: a.Ready, Detail: a.Detail}
			if tested, ok := checks[a.Name]; ok && a.Ready {
				s = tested
			}
			list = append(list, s)
		}
		connection, err := discordStandings(ctx, e)
		if err != nil {
			return err
		}
		list = append(list, connection...)
		found, err := findWeaknesses(ctx, e, v.Live.Current())
		weaknesses = found
		return err
	})
	if err != nil {
		return nil, false, err
	}
	o, err := readBudget(ctx, e)
	return append(append(list, budgetStanding(o, task)), weaknesses...), ready, err
}

// sharingStandings lets the running server test what links need, and returns the results by name; without a server
// nothing can be tested.
func sharingStandings(ctx context.Context, e *commandEnv) (map[string]standing, error) {
	_, running, err := findServer(e)
	if err != nil || running == nil {
		return nil, err
	}
	checks, err := running.CheckSharing(ctx)
	tested := map[string]standing{}
	for _, c := range checks {
		tested[c.Name] = standing{Name: c.Name, Ready: c.Ready, Detail: c.Detail}
	}
	return tested, err
}

// discordStandings returns the state of the running server's connection to Discord, and of each shard if there are
// several.
func discordStandings(ctx context.Context, e *commandEnv) (list []standing, err error) {
	_, running, err := findServer(e)
	if err != nil || running == nil {
		return nil, err
	}
	d, err := running.Discord(ctx)
	if err != nil || d.Status == "" {
		return nil, err
	}
	list = append(list, standing{Name: "discord", Ready: len(d.Shards) > 0 && !d.Limited, Detail: d.Status})
	for _, s := range d.Shards {
		one := standing{
			Name: fmt.Sprintf("discord: shard %d of %d", s.Number, len(d.Shards)), Ready: s.Connected,
			Detail: s.Problem,
		}
		if s.Connected {
			one.Detail = fmt.Sprintf("connected since %s, %s", s.Since.Format(time.DateTime),
				countNoun(s.Servers, "server"))
		}
		if len(d.Shards) > 1 || !s.Connected {
			list = append(list, one)
		}
	}
	return list, nil
}

// findWeaknesses returns the weaknesses of the installation, from the running server or else inspected here.
func findWeaknesses(ctx context.Context, e *commandEnv, s settings.Settings) (list []standing, err error) {
	h, running, err := findServer(e)
	if err != nil {
		return nil, err
	}
	var found []api.Weakness
	if running == nil {
		program, _ := chrome.Find(ctx, s.BrowserPath) // "clank browser doctor" reports a missing browser
		in := server.InspectInstallation(s, e.Getenv, h, program.Path)
		in.Damage = h.CheckDatabase(ctx)
		found = in.Weaknesses()
	} else if found, err = running.Weaknesses(ctx); err != nil {
		return nil, err
	}
	for _, k := range found {
		list = append(list, standing{Name: k.Name, Detail: k.What + ": " + k.Why + ". " + k.Fix, Weakness: &k})
	}
	return list, nil
}

// keyStandings returns for each key whether it is set.
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

// modelDeprecation is like [server.DeprecationNote] for a model such as "openai:gpt-4.1".
func modelDeprecation(model string) string {
	if name, ok := strings.CutPrefix(model, "openai:"); ok {
		return server.DeprecationNote(name)
	}
	return ""
}

// assistantStanding reports the assistant's model if it is deprecated; otherwise it returns nothing.
func assistantStanding(v settingsView) []standing {
	model := v.Live.Current().AssistantModel
	if model == "" || modelDeprecation(model) == "" {
		return nil
	}
	return []standing{{Name: "assistant", Ready: true, Detail: model + modelDeprecation(model)}}
}

func searchStanding(v settingsView) standing {
	known := func(name string) string {
		if v.Present(name) {
			return "present"
		}
		return ""
	}
	if engine := server.SearchEngine(v.Live.Current().Web, known); engine != nil {
		return standing{Name: "search", Ready: true, Detail: engine.Name()}
	}
	return standing{Name: "search", Detail: "with the browser; for a search engine, " + web.SearchSetupHint}
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
	detail := "today " + l.String() + "; a task may take " + cmp.Or(task, "what is left")
	return standing{Name: "budget", Ready: left, Detail: detail}
}

func writeStandings(w io.Writer, list []standing) {
	for _, s := range list {
		sign := "-"
		switch {
		case s.Ready:
			sign = "✓"
		case s.Weakness != nil && s.Weakness.Serious:
			sign = "✗"
		case s.Weakness != nil:
			sign = "!"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", sign, s.Name, untrusted.CleanLine(strings.TrimSpace(s.Detail), 500))
	}
}
