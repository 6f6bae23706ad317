package server

import (
	"context"
	"log/slog"
	"strings"

	"clank/internal/budget"
	"clank/internal/settings"
	"clank/llm"
)

// NewBudgetEnforcer returns what keeps spending within the settings.
func NewBudgetEnforcer(ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) *budget.Enforcer {
	return &budget.Enforcer{
		Ledger: ledger, Rules: func() budget.Rules { return BudgetRules(now()) },
		IsFree: func(model string) bool { return strings.HasPrefix(model, "plain:") }, Logger: logger,
	}
}

// OpenBudget returns what keeps spending within the settings. What a run before
// this one left open counts as it was estimated.
func OpenBudget(ctx context.Context, ledger budget.Ledger, now func() settings.Settings, logger *slog.Logger) (*budget.Enforcer, error) {
	n, err := ledger.Abandon(ctx)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		logger.Warn("something was under way when clank ended; it counts as estimated", "entries", n)
	}
	return NewBudgetEnforcer(ledger, now, logger), nil
}

// BudgetRules returns the settings in the terms of package budget. A limit that
// cannot be read was refused when it was set.
func BudgetRules(all settings.Settings) budget.Rules {
	s := all.Budget
	rules := budget.Rules{Zone: s.Location(), KeepDays: all.RetentionInDays, Limits: make(budget.Limits), Prices: make(map[string]llm.Price)}
	for level, text := range map[budget.Level]string{
		budget.LevelTask: s.Task, budget.LevelSession: s.Session, budget.LevelUser: s.User, budget.LevelGuild: s.Guild, budget.LevelDay: s.Day,
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
