//go:build !browseronly

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/i18n"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/sqlite"

	"github.com/spf13/cobra"
)

func newBudgetCommand(e *commandEnv) *cobra.Command {
	return newJSONCommand("budget", "",
		`Shows what was spent, today and on earlier days, by whom, and the limits. The limits
are settings: agentStack.runtimeConfig.budget.task, .session, .user, .guild and .day.`, func(ctx context.Context, asJSON bool, _ []string) error {
			o, err := readBudget(ctx, e)
			if err != nil {
				return err
			}
			return e.printResult(asJSON, o, func(w io.Writer) { writeBudget(w, o) })
		})
}

func writeBudget(w io.Writer, o budget.Overview) {
	fmt.Fprintf(w, "TODAY\t%s\t%s%s\n", o.Day, english(o.Today), unpricedNote(o.Today))
	for _, list := range []struct {
		title string
		lines []budget.LevelStatus
	}{{"SERVER", o.Guilds}, {"PERSON", o.Users}} {
		for _, l := range list.lines {
			if l.Key.ID != "" {
				fmt.Fprintf(w, "%s\t%s\t%s%s\n", list.title, l.Key.ID, english(l), unpricedNote(l))
			}
		}
	}
	for _, l := range o.Days {
		fmt.Fprintf(w, "DAY\t%s\t%s%s\n", l.Key.Day, english(l.Spent), unpricedNote(l))
	}
}

// english returns a sum with its plurals in English: "1 call".
func english(sum fmt.Stringer) string { return i18n.Locale("en").Text(sum.String()) }

// unpricedNote returns what is not included in the money of l; "" if everything is.
func unpricedNote(l budget.LevelStatus) string {
	if l.Unpriced == 0 {
		return ""
	}
	return fmt.Sprintf(" (calls without a known price: %d)", l.Unpriced)
}

// readBudget returns the spending from the running server, or else from the database.
func readBudget(ctx context.Context, e *commandEnv) (o budget.Overview, err error) {
	err = withServerOrDatabase(ctx, e, func(c *api.Client) error {
		o, err = c.Budget(ctx)
		return err
	}, func(db *sqlite.DB) error {
		logger := slog.New(slog.DiscardHandler)
		live := &settings.Manager{Store: db, Log: logger}
		if err := live.Open(ctx); err != nil {
			return err
		}
		o, err = server.NewBudgetEnforcer(db, live.Current, logger).Overview(ctx)
		return err
	})
	return o, err
}
