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

// Action is a page action that may need approval.
type Action struct {
	Page         sessions.Page
	Kind         string
	Args         map[string]any // not modified
	Timeout      time.Duration  // for each assessment and each attempt
	Ask          func(context.Context, sessions.Question) (decision string, err error)
	ApprovedMark string // mark of an earlier approval that may cover this action, too
}

// ActionResult is the outcome of an [Action].
type ActionResult struct {
	Notes    []string
	Decision string // what people decided; "" if nobody had to be asked
	Mark     string // of the latest assessment; "" if there was none
	Err      error  // from the page, or [ErrPageChanged]
	Refused  error  // why the action was refused and not done
}

// ErrPageChanged says that an action was not done because the page kept changing its meaning.
var ErrPageChanged = errors.New("the page changed what this does while it was being looked at: look again")

// maxJudgements limits how often an action is assessed: a page that keeps changing its meaning does so on purpose.
const maxJudgements = 2

// Perform performs a, asking people first if necessary. It does only what they approved: if the action has come to
// mean something else by then, they are asked again. The time they take does not count towards the timeout.
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
	if try("") { // most actions need no approval: one attempt assesses and performs them
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

// Approve assesses a and asks people if necessary, but does not perform it. That is enough for actions whose meaning
// no page can change, such as going to a URL.
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

// AskApproval asks people a question about a task. The decision is a sentence, "" if nobody had to be asked; the
// error says who or what refused.
func AskApproval(
	ctx context.Context, people sessions.Approver, log *slog.Logger, s sessions.Session, t sessions.Task,
	q sessions.Question,
) (decision string, err error) {
	began := time.Now()
	decision, err = people.Ask(ctx, s, t, q)
	log.Debug("consent", "classes", strings.Join(q.Classes, " "), "took", time.Since(began), "err", err)
	if err != nil {
		return "", ContextError(ctx, err)
	}
	return Sentence(decision), nil
}

// RefusalText tells the model that people did not approve.
func RefusalText(why error) string {
	return Sentence(why.Error()) + refusalAdvice
}

const refusalAdvice = " Do not try it in another way; tell the person if they need to know."

// ForPeople returns a tool result for display: without the advice that [RefusalText] adds for the model.
func ForPeople(result string) string { return strings.TrimSuffix(result, refusalAdvice) }
