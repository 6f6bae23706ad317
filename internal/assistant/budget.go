package assistant

import (
	"errors"
	"strings"

	"clank/llm"
)

// budgetSpentText returns what people are told if err says that the budget allows no further model call: what is
// spent, when the budget starts again, and who can allow more.
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
