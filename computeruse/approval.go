package computeruse

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"strings"
	"time"

	"clank/sessions"
	"clank/sessions/agent"
)

// dragApproval is a yes of people to the beginning of a deed.
type dragApproval struct{ kind, mark string }

// releaseMoves are the moves that end what the others begin.
var releaseMoves = map[string]string{"pointerUp": "pointerDown", "keyUp": "keyDown"}

// coveringApproval returns the mark of a yes that covers m already: one deed is asked about once. It is given to a
// press for its release, and to a text for the Enter after it (goesOn).
func (r *run) coveringApproval(m screenMove, goesOn bool) (mark string) {
	switch {
	case goesOn:
		return r.approval.mark
	case m.kind == "pointerMove": // on the way to the release
		return ""
	case releaseMoves[m.kind] == r.approval.kind:
		mark = r.approval.mark
	}
	r.approval = dragApproval{}
	return mark
}

// performApproved performs a move within its time, after people were asked where they want to be and have not agreed to
// it as given stands for. The time they take does not count.
func (r *run) performApproved(ctx context.Context, s sessions.Page, m screenMove, given string, limit time.Duration) (d actionResult) {
	plainly := func() {
		d.err = agent.RunWithin(ctx, limit, func(ctx context.Context) (err error) {
			d.notes, err = s.Act(ctx, m.kind, maps.Clone(m.args))
			return err
		})
	}
	if r.agent.Approver == nil {
		plainly()
		return d
	}
	act := agent.Action{Page: s, Kind: m.kind, Args: m.args, Timeout: limit, Ask: r.askPeople, ApprovedMark: given}
	if m.kind == "navigate" || m.kind == "tabNew" { // an address means the same whatever the page does
		d.applyResult(agent.Approve(ctx, act))
		if !d.failed() {
			plainly()
		}
		return d
	}
	done := agent.Perform(ctx, act)
	if done.Mark != "" && done.Refused == nil {
		r.approval = dragApproval{m.kind, done.Mark}
	}
	d.applyResult(done)
	return d
}

// applyResult takes over what came of an act.
func (d *actionResult) applyResult(done agent.ActionResult) {
	d.notes, d.decision, d.err = done.Notes, done.Decision, done.Err
	if done.Refused != nil {
		d.refused = agent.RefusalText(done.Refused)
	}
}

// askPeople asks a question. The decision is a sentence, "" if nobody had to be asked.
func (r *run) askPeople(ctx context.Context, q sessions.Question) (string, error) {
	return agent.AskApproval(ctx, r.agent.Approver, r.log, r.session, r.task, q)
}

// safetyClass is the class of what a vendor wants a person to look at.
const safetyClass = "safety"

// approveSafety asks a person about a call that the vendor warns of. Only a yes that somebody gave counts; no says why
// there is none.
func (r *run) approveSafety(ctx context.Context, c Call) (acknowledged []SafetyWarning, no string, err error) {
	if r.agent.Approver == nil {
		return nil, "There is nobody who could be asked.", nil
	}
	var details []string
	for _, s := range c.Safety {
		details = append(details, strings.TrimSpace(cmp.Or(s.Message, s.Code)))
	}
	what := "act"
	if len(c.Actions) > 0 {
		on := r.previewTarget(ctx, c.Actions[0])
		what = r.state.memory.secrets.Redact(c.Actions[0].redacted(on).label(on, c.Intent), maskForPeople)
	}
	decision, refusal := r.askPeople(ctx, sessions.Question{
		Classes: []string{safetyClass}, Text: "The provider of the model wants a person to look before it goes on: " + what,
		Detail: agent.Shorten(strings.Join(details, "; "), 600), Origin: originOf(r.state.url),
	})
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case refusal != nil:
		return nil, agent.Sentence(refusal.Error()), nil
	case decision == "":
		return nil, "Nobody was asked.", nil
	}
	return c.Safety, "", nil
}

// originOf returns the scheme and host of a URL.
func originOf(of string) string {
	u, err := url.Parse(of)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
