package agent

import (
	"cmp"
	"errors"
	"strings"

	"clank/llm"
)

// Outcome is what a task ends with.
type Outcome struct {
	Text   string // "" if the model said nothing
	Limit  string // the limit that cut it off, if one did
	Failed bool   // the model declined, or could not do it
}

// NewOutcome returns what an answer without calls says to the person.
func NewOutcome(text string, stop llm.StopReason) Outcome {
	text = strings.TrimSpace(text)
	switch stop {
	case llm.StopLength:
		return Outcome{Text: text, Limit: "length limit of one answer"}
	case llm.StopRefused:
		return Outcome{Text: cmp.Or(text, "The model declined to go on."), Failed: true}
	case llm.StopFilter:
		return Outcome{Text: cmp.Or(text, "The provider of the model withheld the answer."), Failed: true}
	default:
		return Outcome{Text: text}
	}
}

// BudgetSpent reports whether err says that the budget allows no further call of a model, and in which words.
func BudgetSpent(err error) (limit string, spent bool) {
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrBudgetSpent {
		return "", false
	}
	return strings.TrimSuffix(told.Message+"; "+told.Hint, "; "), true
}

// PartialAnswer returns what can be told without asking the model again: what it said last, where the page is,
// and what was last read there. Unknown values are "".
func PartialAnswer(said, url, title, read string) string {
	parts := []string{cmp.Or(strings.TrimSpace(said), "The work ended before there was an answer.")}
	if url != "" {
		where := url
		if title != "" && title != url {
			where = title + ", " + url
		}
		parts = append(parts, "The page it is on: "+where)
	}
	if read != "" {
		parts = append(parts, "What it has read last:\n"+read)
	}
	return strings.Join(parts, "\n\n")
}
