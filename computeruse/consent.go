package computeruse

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"strings"
	"time"

	"clank/computeruse/secret"
	"clank/sessions"
	"clank/sessions/working"
)

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
	plainly := func() {
		d.err = working.Timed(ctx, limit, func(ctx context.Context) (err error) {
			d.notes, err = s.Act(ctx, m.kind, maps.Clone(m.args))
			return err
		})
	}
	j, judges := s.(working.Judge)
	if !judges || r.agent.Consent == nil {
		plainly()
		return d
	}
	act := working.Act{Judge: j, Kind: m.kind, Args: m.args, Limit: limit, Ask: r.askPeople, Agreed: given}
	if m.kind == "navigate" || m.kind == "tabNew" { // an address means the same whatever the page does
		d.take(working.Consult(ctx, act))
		if !d.failed() {
			plainly()
		}
		return d
	}
	done := working.Do(ctx, act)
	if done.Mark != "" && done.Refused == nil {
		r.agreed = agreed{m.kind, done.Mark}
	}
	d.take(done)
	return d
}

// take takes over what came of an act.
func (d *deed) take(done working.Done) {
	d.notes, d.consent, d.err = done.Notes, done.Consent, done.Err
	if done.Refused != nil {
		d.refused = working.Refusal(done.Refused)
	}
}

// askPeople asks a question. The decision is a sentence, "" if nobody had to be
// asked.
func (r *run) askPeople(ctx context.Context, q sessions.Question) (string, error) {
	return working.Ask(ctx, r.agent.Consent, r.log, r.session, r.task, q)
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
		details = append(details, strings.TrimSpace(cmp.Or(s.Message, s.Code)))
	}
	what := "act"
	if len(c.Actions) > 0 {
		on := r.foresee(ctx, c.Actions[0])
		what = r.held.memory.secrets.Clean(c.Actions[0].as(on).label(on, c.Intent), secret.Mask)
	}
	decision, refusal := r.askPeople(ctx, sessions.Question{
		Classes: []string{safetyClass}, Text: "The provider of the model wants a person to look before it goes on: " + what,
		Detail: working.Brief(strings.Join(details, "; "), 600), Origin: origin(r.held.url),
	})
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case refusal != nil:
		return nil, working.Sentence(refusal.Error()), nil
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
