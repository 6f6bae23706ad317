// Package spending keeps the budgets that the settings have: it translates between the two, and counts nothing itself.
package spending

import (
	"context"
	"log/slog"
	"strings"

	"clank/budget"
	"clank/llm"
	"clank/settings"
	"clank/settings/amount"
)

// Keeper returns what keeps spending within the settings.
func Keeper(ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) *budget.Keeper {
	return &budget.Keeper{
		Ledger: ledger, Rules: func() budget.Rules { return Rules(now()) },
		Free: func(model string) bool { return strings.HasPrefix(model, "plain:") }, Logger: logger,
	}
}

// Open returns what keeps spending within the settings. What a run before
// this one left open counts as it was estimated.
func Open(ctx context.Context, ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) (*budget.Keeper, error) {
	n, err := ledger.Abandon(ctx)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		logger.Warn("something was under way when clank ended; it counts as estimated", "entries", n)
	}
	return Keeper(ledger, now, logger), nil
}

// Rules are the settings in the terms of package budget. A limit that
// cannot be read was refused when it was set.
func Rules(all settings.Settings) budget.Rules {
	s := all.Budget
	rules := budget.Rules{Zone: s.Location(), Keep: all.RetentionInDays, Limits: make(budget.Limits), Prices: make(map[string]llm.Price)}
	for level, text := range map[budget.Level]string{
		budget.Task: s.Task, budget.Session: s.Session, budget.User: s.User, budget.Guild: s.Guild, budget.Day: s.Day,
	} {
		if l, err := amount.ParseLimit(text); err == nil {
			rules.Limits[level] = budget.Amount{Calls: l.Calls, Steps: l.Steps, Tokens: l.Tokens, Money: budget.Dollars(l.USD), Time: l.Time}
		}
	}
	for model, p := range s.PriceList() {
		rules.Prices[model] = llm.Price(p)
	}
	return rules
}
