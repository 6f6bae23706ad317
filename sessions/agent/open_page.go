package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/llm"
	"clank/sessions"
)

var errOpenedLate = errors.New("the browser did not open in time")

// OpenPage opens the page that is wanted, or, if that cannot be opened any
// more, an empty one; lost says why not. It takes at most limit.
func OpenPage(
	ctx context.Context, limit time.Duration, b sessions.Browser, want sessions.PageRequest,
) (p sessions.Page, restored bool, lost, err error) {
	if ctx.Err() != nil {
		return nil, false, nil, context.Cause(ctx)
	}
	opening, cancel := context.WithTimeoutCause(ctx, limit, errOpenedLate)
	defer cancel()
	p, restored, err = b.Open(opening, want)
	if err != nil && want.URL != "" && opening.Err() == nil {
		lost = err
		want.URL = ""
		p, restored, err = b.Open(opening, want)
	}
	if err != nil {
		return nil, false, nil, ContextError(ctx, fmt.Errorf("open the browser: %w", ContextError(opening, err)))
	}
	return p, restored || lost != nil, lost, nil
}

// ReopenedNotice returns the notice about a page that had been closed; lost is the reason if it could not be
// reopened at that address.
func ReopenedNotice(at string, lost error) string {
	if lost != nil {
		return fmt.Sprintf("the page had been closed and could not be opened again at %s (%v); the browser starts empty", at, lost)
	}
	return fmt.Sprintf("the page had been closed and was opened again at %s; what was entered on it may be lost", at)
}

// Outcome ends a task.
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

// finishedMark is what a model says whose work a limit ended when there was nothing left to do.
const finishedMark = "[finished]"

// LimitText returns what a model is told whose work has come to a limit, which is its last question.
func LimitText(limit string) string {
	return "You have reached the " + limit + ". Answer the person now, without using tools: what you have found so far, and what is left to do. " +
		"If all that they asked for is done, write " + finishedMark + " as the last line."
}

// WithLimit returns the outcome of an answer to [LimitText]: of work that the limit ended, unless it was finished then. A
// model that does what is written says with its reason to stop whether it was.
func (o Outcome) WithLimit(limit string, stop llm.StopReason, literal bool) Outcome {
	text, finished := strings.CutSuffix(o.Text, finishedMark)
	o.Text, o.Limit = strings.TrimSpace(text), limit
	if finished || literal && stop == llm.StopEnd {
		o.Limit = ""
	}
	return o
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
