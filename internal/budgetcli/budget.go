// Package budgetcli is the command "clank budget": what was spent, of what may be. It spends and changes nothing.
package budgetcli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"clank/budget"
	"clank/dashboard/client"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/owner"
	"clank/internal/spending"
	"clank/settings"
	"clank/sqlite"
)

const budgetIntro = `clank budget [flags]

Shows what was spent today, of what may be, by whom and on which days. The limits
are settings: agentStack.runtimeConfig.budget.task, .session, .user, .guild and .day.`

// Run carries out args, which follow the words "clank budget".
func Run(ctx context.Context, e *command.Env, args []string) error {
	fs := cmdline.New("budget", budgetIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.Parse(fs, args, 0); err != nil {
		return err
	}
	o, err := Read(ctx, e)
	if err != nil {
		return err
	}
	if *asJSON {
		return command.PrintJSON(e.Stdout, o)
	}
	return printBudget(e.Stdout, o)
}

func printBudget(to io.Writer, o budget.Overview) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "TODAY\t%s\t%s%s\n", o.Day, o.Today, unpriced(o.Today))
	for _, list := range []struct {
		title string
		lines []budget.Line
	}{{"SERVER", o.Guilds}, {"PERSON", o.Users}} {
		for _, l := range list.lines {
			if l.Key.ID != "" {
				fmt.Fprintf(w, "%s\t%s\t%s%s\n", list.title, l.Key.ID, l, unpriced(l))
			}
		}
	}
	for _, l := range o.Days {
		fmt.Fprintf(w, "DAY\t%s\t%s%s\n", l.Key.Day, l.Spent, unpriced(l))
	}
	return w.Flush()
}

// unpriced says how much of a line is no part of its money; "" if nothing is.
func unpriced(l budget.Line) string {
	if l.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(" (calls without a known price: %d)", l.Unpriced)
}

// Read asks the server that owns the home, or else reads the database.
func Read(ctx context.Context, e *command.Env) (o budget.Overview, err error) {
	err = owner.Ask(ctx, e, func(c *client.Client) error {
		o, err = c.Budget(ctx)
		return err
	}, func(db *sqlite.DB) error {
		logger := slog.New(slog.DiscardHandler)
		live := &settings.Live{Store: db, Log: logger}
		if err := live.Open(ctx); err != nil {
			return err
		}
		o, err = spending.Keeper(db, live.Now, logger).Overview(ctx)
		return err
	})
	return o, err
}
