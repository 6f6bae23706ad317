package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"clank/bot"
	"clank/brain"
	"clank/budget"
	"clank/llm"
	"clank/sessions"
	"clank/settings"
	"clank/sqlite"
)

const budgetIntro = `clank budget [flags]

Shows what was spent today, of what may be, by whom and on which days. The limits
are settings: agentStack.runtimeConfig.budget.task, .session, .user, .guild and .day.`

func showBudget(ctx context.Context, e *env, args []string) error {
	fs := newFlags("budget", budgetIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := parse(e, fs, args, 0); err != nil {
		return err
	}
	o, err := readBudget(ctx, e)
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(o)
	}
	return printBudget(e.stdout, o)
}

// readBudget asks the server that owns the home, or else reads the database.
func readBudget(ctx context.Context, e *env) (budget.Overview, error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return budget.Overview{}, err
	}
	if a, found, err := h.server(); err != nil {
		return budget.Overview{}, err
	} else if found {
		return newRemoteRunner(e, a).client.Budget(ctx)
	}
	db, err := sqlite.Open(ctx, filepath.Join(h.dir, "clank.db"))
	if err != nil {
		return budget.Overview{}, err
	}
	defer db.Close()
	logger := slog.New(slog.DiscardHandler)
	live := &settings.Live{Store: db, Log: logger}
	if err := live.Open(ctx); err != nil {
		return budget.Overview{}, err
	}
	return newKeeper(db, live.Now, logger).Overview(ctx)
}

func printBudget(to io.Writer, o budget.Overview) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "TODAY\t%s\t%s\n", o.Day, o.Today)
	for _, list := range []struct {
		title string
		lines []budget.Line
	}{{"SERVER", o.Guilds}, {"PERSON", o.Users}} {
		for _, l := range list.lines {
			if l.Key.ID != "" {
				fmt.Fprintf(w, "%s\t%s\t%s\n", list.title, l.Key.ID, l)
			}
		}
	}
	for _, l := range o.Days {
		fmt.Fprintf(w, "DAY\t%s\t%s\n", l.Key.Day, l.Spent)
	}
	return w.Flush()
}

// newKeeper returns what keeps spending within the settings.
func newKeeper(ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) *budget.Keeper {
	return &budget.Keeper{
		Ledger: ledger, Rules: func() budget.Rules { return budgetRules(now()) },
		Free: func(model string) bool { return strings.HasPrefix(model, "plain:") }, Logger: logger,
	}
}

// openBudget returns what keeps spending within the settings. What a run before
// this one left open counts as it was estimated.
func openBudget(ctx context.Context, ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) (*budget.Keeper, error) {
	n, err := ledger.Abandon(ctx)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		logger.Warn("something was under way when clank ended; it counts as estimated", "entries", n)
	}
	return newKeeper(ledger, now, logger), nil
}

// budgetRules are the settings in the terms of package budget. A limit that
// cannot be read was refused when it was set.
func budgetRules(all settings.Settings) budget.Rules {
	s := all.Budget
	rules := budget.Rules{Zone: s.Location(), Keep: all.RetentionInDays, Limits: make(budget.Limits), Prices: make(map[string]llm.Price)}
	for level, text := range map[budget.Level]string{
		budget.Task: s.Task, budget.Session: s.Session, budget.User: s.User, budget.Guild: s.Guild, budget.Day: s.Day,
	} {
		if l, err := settings.ParseLimit(text); err == nil {
			rules.Limits[level] = budget.Amount{Calls: l.Calls, Steps: l.Steps, Tokens: l.Tokens, Money: budget.Dollars(l.USD), Time: l.Time}
		}
	}
	for model, p := range s.PriceList() {
		rules.Prices[model] = llm.Price(p)
	}
	return rules
}

// accounted is a brain whose calls of models belong to the person it answers.
type accounted struct{ bot.Replier }

// Reply implements [bot.Replier].
func (b accounted) Reply(ctx context.Context, t brain.Turn, watch func(brain.Progress)) (brain.Answer, error) {
	account := llm.Account{Guild: t.Origin.Guild, Channel: t.Origin.Channel, User: budget.PersonOf(t.Origin), Purpose: "talk"}
	return b.Replier.Reply(llm.WithAccount(ctx, account), t, watch)
}

// discordBudgets is what /clank budget tells.
func discordBudgets(k *budget.Keeper) func(context.Context, sessions.Origin, bool) (bot.Budgets, error) {
	return func(ctx context.Context, o sessions.Origin, people bool) (v bot.Budgets, err error) {
		lines, err := k.Left(ctx, llm.Account{Guild: o.Guild, User: budget.PersonOf(o)})
		if err != nil {
			return v, err
		}
		for _, l := range lines {
			switch l.Key.Level {
			case budget.User:
				v.Mine = l.String()
			case budget.Guild:
				v.Server = l.String()
			case budget.Day:
				v.Today = l.String()
			case budget.Task, budget.Session:
			}
		}
		if !people {
			return v, nil
		}
		users, err := k.Users(ctx, o.Guild)
		for _, l := range users {
			id, _ := strings.CutPrefix(l.Key.ID, string(sessions.FromDiscord)+":")
			v.People = append(v.People, bot.PersonBudget{User: id, Spent: l.Spent.String()})
		}
		return v, err
	}
}
