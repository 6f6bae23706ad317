package budget

import (
	"fmt"
	"time"

	"clank/llm"
)

// The settings that people change to spend more.
const (
	LimitKey  = "agentStack.runtimeConfig.budget." // and the level
	PricesKey = "agentStack.runtimeConfig.models.prices"
)

// spentError says which budget is spent, who can raise it, and when it begins
// anew. want is what was asked for.
func spentError(model string, s Sum, u dimension, allowed, want int64, zone *time.Location) *llm.Error {
	spent := u.of(s.Amount)
	hint := fmt.Sprintf("whoever runs clank can allow more: setting %s%s", LimitKey, s.Key.Level)
	if u.estimated && spent < allowed {
		hint = fmt.Sprintf("one more call could take %s %s; ", u.format(want), u.name) + hint
	}
	switch s.Key.Level {
	case LevelUser, LevelGuild, LevelDay:
		where := "of the machine it runs on"
		if zone != nil && zone != time.Local {
			where = "in " + zone.String()
		}
		hint += "; it begins anew at midnight " + where
	case LevelTask:
		hint += "; a new task has a budget of its own"
	case LevelSession:
		hint += "; a new session has a budget of its own"
	}
	return &llm.Error{
		Kind: llm.ErrBudgetSpent, Model: model, Hint: hint,
		Message: fmt.Sprintf("budget spent: %s of %s %s %s", u.format(spent), u.format(allowed), u.name, levelWords[s.Key.Level]),
	}
}
