package working

import (
	"cmp"
	"errors"
	"strings"

	"clank/llm"
)

// Ending is what a task ends with.
type Ending struct {
	Text   string // "" if the model said nothing
	Limit  string // the limit that cut it off, if one did
	Failed bool   // the model declined, or could not do it
}

// FinalText is what an answer without calls says to the person.
func FinalText(text string, stop llm.StopReason) Ending {
	text = strings.TrimSpace(text)
	switch stop {
	case llm.StopLength:
		return Ending{Text: text, Limit: "length limit of one answer"}
	case llm.StopRefused:
		return Ending{Text: cmp.Or(text, "The model declined to go on."), Failed: true}
	case llm.StopFilter:
		return Ending{Text: cmp.Or(text, "The provider of the model withheld the answer."), Failed: true}
	default:
		return Ending{Text: text}
	}
}

// Spent reports whether err says that the budget allows no further call of a
// model, and in which words.
func Spent(err error) (limit string, spent bool) {
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrSpent {
		return "", false
	}
	return strings.TrimSuffix(told.Message+"; "+told.Hint, "; "), true
}

// SoFar is what there is to tell without asking the model again: what it said last,
// where the page is, and what was read there last. What is not known is "".
func SoFar(said, url, title, read string) string {
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
