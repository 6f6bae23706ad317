package agent

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"clank/sessions"
)

// Action is an action that may set something off.
type Action struct {
	Page         sessions.Page
	Kind         string
	Args         map[string]any // not changed
	Timeout      time.Duration  // of each look and each try
	Ask          func(context.Context, sessions.Question) (decision string, err error)
	ApprovedMark string // the mark of a yes given before that may cover this act too
}

// ActionResult holds the outcome of an [Action].
type ActionResult struct {
	Notes    []string
	Decision string // what people decided; "" if nobody had to be asked
	Mark     string // what the newest judgement stands for; "" if there was none
	Err      error  // the page's, or [ErrPageChanged]
	Refused  error  // why it must not be done; the act was not done then
}

// ErrPageChanged is an act that was not done because the page changed its meaning again and again.
var ErrPageChanged = errors.New("the page changed what this does while it was being looked at: look again")

// maxJudgements is how often an action is judged: a page that changes its meaning again and again does so on purpose.
const maxJudgements = 2

// Perform does a, after people were asked where there is something to ask. What they agreed to is what is done: where
// the act means something else by then, they are asked again. The time they take does not count.
func Perform(ctx context.Context, a Action) (d ActionResult) {
	same := false
	try := func(mark string) bool {
		d.Err = RunWithin(ctx, a.Timeout, func(ctx context.Context) (err error) {
			d.Notes, same, err = a.Page.ActIfUnchanged(ctx, a.Kind, maps.Clone(a.Args), mark)
			return err
		})
		return same || d.Err != nil
	}
	if a.ApprovedMark != "" && try(a.ApprovedMark) {
		return d
	}
	if try("") { // most actions set nothing off: one look says so and holds them to it
		return d
	}
	for range maxJudgements {
		asked := Approve(ctx, a)
		if asked.Decision != "" {
			d.Decision = asked.Decision
		}
		d.Mark, d.Err, d.Refused = asked.Mark, asked.Err, asked.Refused
		if d.Err != nil || d.Refused != nil {
			return d
		}
		if try(d.Mark) {
			return d
		}
	}
	d.Err = ErrPageChanged
	return d
}

// Approve judges a and asks people where there is something to ask, and does nothing. It is enough for acts whose
// meaning no page can change, such as going to an address.
func Approve(ctx context.Context, a Action) (d ActionResult) {
	var found sessions.Assessment
	d.Err = RunWithin(ctx, a.Timeout, func(ctx context.Context) (err error) {
		found, err = a.Page.Assess(ctx, a.Kind, maps.Clone(a.Args))
		return err
	})
	d.Mark = found.Mark
	if d.Err == nil && len(found.Classes) > 0 {
		d.Decision, d.Refused = a.Ask(ctx, found.Question)
	}
	return d
}

// AskApproval asks people a question about a task. The decision is a sentence, "" if
// nobody had to be asked; the error says who or what said no.
func AskApproval(
	ctx context.Context, people sessions.Approver, log *slog.Logger, s sessions.Session, t sessions.Task, q sessions.Question,
) (decision string, err error) {
	began := time.Now()
	decision, err = people.Ask(ctx, s, t, q)
	log.Debug("consent", "classes", strings.Join(q.Classes, " "), "took", time.Since(began), "err", err)
	if err != nil {
		return "", ContextError(ctx, err)
	}
	return Sentence(decision), nil
}

// RefusalText returns what the model is told when people did not agree.
func RefusalText(why error) string {
	return Sentence(why.Error()) + refusalAdvice
}

const refusalAdvice = " Do not try it in another way; tell the person if they need to know."

// ForPeople returns a result of a tool as people read it: without what [RefusalText] tells the model alone.
func ForPeople(result string) string { return strings.TrimSuffix(result, refusalAdvice) }
