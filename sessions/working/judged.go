package working

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"clank/sessions"
)

// Judge is a page that can tell what an action would set off. Mark stands for all
// that was judged. ActIf does the action, unless it has come to mean something
// else than mark (or, with an empty one, means anything that people are asked
// about): then same is false, and nothing was done.
type Judge interface {
	Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error)
	ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
}

// Act is an action that may set something off.
type Act struct {
	Judge  Judge
	Kind   string
	Args   map[string]any // not changed
	Limit  time.Duration  // of each look and each try
	Ask    func(context.Context, sessions.Question) (decision string, err error)
	Agreed string // the mark of a yes given before that may cover this act too
}

// Done is what came of an [Act].
type Done struct {
	Notes   []string
	Consent string // what people decided; "" if nobody had to be asked
	Mark    string // what the newest judgement stands for; "" if there was none
	Err     error  // the page's, or [ErrChanged]
	Refused error  // why it must not be done; the act was not done then
}

// ErrChanged is an act that was not done because the page changed its meaning
// again and again.
var ErrChanged = errors.New("the page changed what this does while it was being looked at: look again")

// maxJudged is how often an action is judged: a page that changes its meaning again
// and again does so on purpose.
const maxJudged = 2

// Do does a, after people were asked where there is something to ask. What they
// agreed to is what is done: where the act means something else by then, they
// are asked again. The time they take does not count.
func Do(ctx context.Context, a Act) (d Done) {
	same := false
	try := func(mark string) bool {
		d.Err = Timed(ctx, a.Limit, func(ctx context.Context) (err error) {
			d.Notes, same, err = a.Judge.ActIf(ctx, a.Kind, maps.Clone(a.Args), mark)
			return err
		})
		return same || d.Err != nil
	}
	if a.Agreed != "" && try(a.Agreed) {
		return d
	}
	if try("") { // most actions set nothing off: one look says so and holds them to it
		return d
	}
	for range maxJudged {
		asked := Consult(ctx, a)
		if asked.Consent != "" {
			d.Consent = asked.Consent
		}
		d.Mark, d.Err, d.Refused = asked.Mark, asked.Err, asked.Refused
		if d.Err != nil || d.Refused != nil {
			return d
		}
		if try(d.Mark) {
			return d
		}
	}
	d.Err = ErrChanged
	return d
}

// Consult judges a and asks people where there is something to ask, and does
// nothing. It is enough for acts whose meaning no page can change, such as going
// to an address.
func Consult(ctx context.Context, a Act) (d Done) {
	var q sessions.Question
	d.Err = Timed(ctx, a.Limit, func(ctx context.Context) (err error) {
		q.Classes, q.Text, q.Detail, q.Origin, q.To, d.Mark, err = a.Judge.Judge(ctx, a.Kind, maps.Clone(a.Args))
		return err
	})
	if d.Err == nil && len(q.Classes) > 0 {
		d.Consent, d.Refused = a.Ask(ctx, q)
	}
	return d
}

// Ask asks people a question about a task. The decision is a sentence, "" if
// nobody had to be asked; the error says who or what said no.
func Ask(
	ctx context.Context, people sessions.Consent, log *slog.Logger, s sessions.Session, t sessions.Task, q sessions.Question,
) (decision string, err error) {
	began := time.Now()
	decision, err = people.Ask(ctx, s, t, q)
	log.Debug("consent", "classes", strings.Join(q.Classes, " "), "took", time.Since(began), "err", err)
	if err != nil {
		return "", Ended(ctx, err)
	}
	return Sentence(decision), nil
}

// Refusal is what the model is told when people did not agree.
func Refusal(why error) string {
	return Sentence(why.Error()) + " Do not try it in another way; tell the person if they need to know."
}
