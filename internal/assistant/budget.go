package assistant

import (
	"errors"
	"strings"

	"clank/llm"
)

// budgetSpentText is what people are told where err says that the budget allows no further
// call of a model: what is spent, when it begins anew, and who can allow more.
func budgetSpentText(err error) (text string, ok bool) {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrBudgetSpent {
		return "", false
	}
	text = "I may not go on: the budget is spent, " + strings.TrimPrefix(e.Message, "budget spent: ")
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text + ".", true
}
