package computeruse

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"clank/sessions"
)

// judge is a [Screen] that can tell what an action would set off. mark stands for
// all that was judged. ActIf is Act, unless the action has come to mean something
// else than mark: then same is false, and nothing was done.
type judge interface {
	Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error)
	ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
}

// maxJudged is how often an action is judged: a page that changes its meaning again
// and again does so on purpose.
const maxJudged = 2

// agreed is a yes of people to the beginning of a deed.
type agreed struct{ kind, mark string }

// releases are the moves that end what the others begin.
var releases = map[string]string{"pointerUp": "pointerDown", "keyUp": "keyDown"}

// given is the mark of a yes that covers m already: one deed is asked about once.
// It is given to a press for its release, and to a text for the Enter after it
// (goesOn).
func (r *run) given(m move, goesOn bool) (mark string) {
	switch {
	case goesOn:
		return r.agreed.mark
	case m.kind == "pointerMove": // on the way to the release
		return ""
	case releases[m.kind] == r.agreed.kind:
		mark = r.agreed.mark
	}
	r.agreed = agreed{}
	return mark
}

// attempt performs a move within its time, after people were asked where they want
// to be and have not agreed to it as given stands for. The time they take does not
// count.
func (r *run) attempt(ctx context.Context, s Screen, m move, given string, limit time.Duration) (d deed) {
	j, judges := s.(judge)
	plainly := func() {
		d.err = timed(ctx, limit, func(ctx context.Context) (err error) {
			d.notes, err = s.Act(ctx, m.kind, maps.Clone(m.args))
			return err
		})
	}
	switch {
	case !judges || r.agent.Consent == nil:
		plainly()
		return d
	case m.kind == "navigate" || m.kind == "tabNew": // an address means the same whatever the page does
		decision, _, no := r.consent(ctx, j, m, limit)
		if no != nil {
			return *no
		}
		d.consent = decision
		plainly()
		return d
	}
	same := false
	do := func(mark string) {
		d.err = timed(ctx, limit, func(ctx context.Context) (err error) {
			d.notes, same, err = j.ActIf(ctx, m.kind, maps.Clone(m.args), mark)
			return err
		})
	}
	if given != "" {
		if do(given); same || d.err != nil {
			return d
		}
	}
	if do(""); same || d.err != nil { // most actions set nothing off: one look says so and holds them to it
		return d
	}
	for range maxJudged {
		decision, mark, no := r.consent(ctx, j, m, limit)
		if no != nil {
			no.consent = d.consent
			return *no
		}
		d.consent = orText(decision, d.consent)
		r.agreed = agreed{m.kind, mark}
		if do(mark); same || d.err != nil {
			return d
		}
	}
	d.err = errTwoMinds
	return d
}

// timed does something within a time.
func timed(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	acting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(acting)
	if err != nil && acting.Err() != nil {
		return fmt.Errorf("no result within %s", limit)
	}
	return err
}

// consent judges a move and asks where there is something to ask. no is set if it
// must not be done.
func (r *run) consent(ctx context.Context, j judge, m move, limit time.Duration) (decision, mark string, no *deed) {
	var q sessions.Question
	err := timed(ctx, limit, func(ctx context.Context) (err error) {
		q.Classes, q.Text, q.Detail, q.Origin, q.To, mark, err = j.Judge(ctx, m.kind, maps.Clone(m.args))
		return err
	})
	if err != nil {
		return "", "", &deed{err: err}
	}
	if len(q.Classes) == 0 {
		return "", mark, nil
	}
	decision, err = r.askPeople(ctx, q)
	if err != nil {
		return "", "", &deed{refused: sentence(err.Error()) + " Do not try it in another way; tell the person if they need to know."}
	}
	return decision, mark, nil
}

// askPeople asks a question. The decision is a sentence, "" if nobody had to be
// asked.
func (r *run) askPeople(ctx context.Context, q sessions.Question) (string, error) {
	began := time.Now()
	decision, err := r.agent.Consent.Ask(ctx, r.session, r.task, q)
	r.log.Debug("consent", "classes", strings.Join(q.Classes, " "), "took", time.Since(began), "err", err)
	if err != nil {
		return "", ended(ctx, err)
	}
	return sentence(decision), nil
}

// safetyClass is the class of what a vendor wants a person to look at.
const safetyClass = "safety"

// safety asks a person about a call that the vendor warns of. Only a yes that
// somebody gave counts; no says why there is none.
func (r *run) safety(ctx context.Context, c Call) (acknowledged []Safety, no string, err error) {
	if r.agent.Consent == nil {
		return nil, "There is nobody who could be asked.", nil
	}
	var details []string
	for _, s := range c.Safety {
		details = append(details, strings.TrimSpace(orText(s.Message, s.Code)))
	}
	what := "act"
	if len(c.Actions) > 0 {
		what = c.Actions[0].label(target{}, c.Intent)
	}
	decision, refusal := r.askPeople(ctx, sessions.Question{
		Classes: []string{safetyClass}, Text: "The provider of the model wants a person to look before it goes on: " + what,
		Detail: cut(oneLine(strings.Join(details, "; ")), 600), Origin: origin(r.held.url),
	})
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case refusal != nil:
		return nil, sentence(refusal.Error()), nil
	case decision == "":
		return nil, "Nobody was asked.", nil
	}
	return c.Safety, "", nil
}

// origin is scheme and host of a URL.
func origin(of string) string {
	u, err := url.Parse(of)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
