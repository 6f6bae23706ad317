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

// slowOpening is how long a page may take to open before the person is told.
const slowOpening = 15 * time.Second

// OpenPage opens the requested page within limit, or an empty one if that page cannot be opened: it is lost then.
// reopened says what happened to a page that was not open any more. If opening takes long, notice tells the person.
func OpenPage(
	ctx context.Context, limit time.Duration, b sessions.Browser, want sessions.PageRequest,
	notice func(ctx context.Context, text string) error,
) (p sessions.Page, reopened string, lost bool, err error) {
	if ctx.Err() != nil {
		return nil, "", false, context.Cause(ctx)
	}
	bounded, done := context.WithTimeoutCause(ctx, limit, errOpenedLate)
	defer done()
	opening, cancel := context.WithCancelCause(bounded)
	defer cancel(nil)
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		p, reopened, err = b.Open(opening, want)
	}()
	select {
	case <-opened:
	case <-time.After(slowOpening):
		noticeErr := notice(ctx, "the browser opens slowly, as on a busy machine or over a slow line; still waiting for it")
		if noticeErr != nil {
			cancel(noticeErr)
		}
		<-opened
	}
	if err != nil && want.URL != "" && opening.Err() == nil {
		lost = true
		reopened = fmt.Sprintf("the page had been closed and could not be opened again at %s (%v); the browser starts empty",
			want.URL, err)
		want.URL = ""
		p, _, err = b.Open(opening, want)
	}
	if err != nil {
		return nil, "", false, ContextError(ctx, fmt.Errorf("open the browser: %w", ContextError(opening, err)))
	}
	return p, reopened, lost, nil
}

// Outcome is the end of a task.
type Outcome struct {
	Text   string // "" if the model said nothing
	Limit  string // the limit that ended it, if any
	Failed bool   // the model declined or could not do it
}

// NewOutcome converts a model's answer without tool calls to the outcome of a task.
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

// finishedMark is what a model writes if its task was finished when it reached a limit.
const finishedMark = "[finished]"

// LimitText tells a model that it has reached a limit and must answer now.
func LimitText(limit string) string {
	return "You have reached the " + limit + ". Answer the person now, without using tools: what you have found so far, " +
		"and what is left to do. If all that they asked for is done, write " + finishedMark + " as the last line."
}

// WithLimit returns the outcome of an answer to [LimitText]: limited, unless the task was finished by then. A literal
// model, which follows its instructions word for word, says so by its stop reason.
func (o Outcome) WithLimit(limit string, stop llm.StopReason, literal bool) Outcome {
	text, finished := strings.CutSuffix(o.Text, finishedMark)
	o.Text, o.Limit = strings.TrimSpace(text), limit
	if finished || literal && stop == llm.StopEnd {
		o.Limit = ""
	}
	return o
}

// BudgetSpent reports whether err says that the budget allows no further model call; limit says which limit was
// reached.
func BudgetSpent(err error) (limit string, spent bool) {
	var failed *llm.Error
	if !errors.As(err, &failed) || failed.Kind != llm.ErrBudgetSpent {
		return "", false
	}
	return strings.TrimSuffix(failed.Message+"; "+failed.Hint, "; "), true
}

// PartialAnswer returns an answer that needs no further model call: what the model said last, where the page is, and
// what was last read there. Unknown values are "".
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
