package computeruse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"
)

// dragApproval is a yes of people to the beginning of an action.
type dragApproval struct{ kind, mark string }

// releaseMoves are the moves that end what the others begin.
var releaseMoves = map[string]string{"pointerUp": "pointerDown", "keyUp": "keyDown"}

// coveringApproval returns the mark of a yes that covers m already: one action is asked about once. It is given to a
// press for its release, and to a text for the Enter after it (followsText).
func (r *run) coveringApproval(m screenMove, followsText bool) (mark string) {
	switch {
	case followsText:
		return r.approval.mark
	case m.kind == "pointerMove": // on the way to the release
		return ""
	case releaseMoves[m.kind] == r.approval.kind:
		mark = r.approval.mark
	}
	r.approval = dragApproval{}
	return mark
}

// performApproved performs a move within its time limit, after asking people if that is necessary and given does not
// cover it. The time that people need does not count.
func (r *run) performApproved(ctx context.Context, s sessions.Page, m screenMove, given string,
	limit time.Duration,
) (d actionResult) {
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

// applyResult adds the result of an action.
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

const safetyFormat = "The provider of the model wants a person to look before it goes on: %s"

// approveSafety asks a person about a call that the vendor warns of. Only an explicit yes counts; no is why there is
// none.
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
		Classes: []string{safetyClass}, Text: fmt.Sprintf(safetyFormat, what),
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

// targetInspector is a [sessions.Page] that can identify targets: role and name of the element at a point in CSS
// pixels, or of the element with a ref, or, without one, of the element with the keyboard focus; secret means that its
// content must not be shown. Names come from the page.
type targetInspector interface {
	ElementAt(ctx context.Context, x, y float64) (role, name string, err error)
	InputField(ctx context.Context, ref string) (role, name string, secret bool, err error)
}

// maxName is the maximum length, in characters, of names by which an element can be found again. Longer ones are left
// out.
const maxName = 200

// actionTarget is the target of an action, as far as it is known.
type actionTarget struct {
	role, name string
	secret     bool // what is typed there must not be shown
	password   bool // it is a password field for certain
}

// identifyTarget finds out what an action is done to.
func (r *run) identifyTarget(ctx context.Context, s sessions.Page, p plannedAction) (t actionTarget) {
	g, guides := s.(targetInspector)
	if !guides {
		return actionTarget{}
	}
	looking, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	var err error
	switch {
	case p.Kind == ActType || p.typesText():
		t.role, t.name, t.secret, err = g.InputField(looking, "")
		t.password = t.secret || p.crossesFields()
		t.secret = t.password || err != nil // rather too careful than not
	case p.Kind == ActFill:
		t.role, t.name, t.secret, err = g.InputField(looking, p.Ref)
		t.password = t.secret
		t.secret = t.secret || err != nil
	case p.Kind != ActClick && p.Kind != ActDown && p.Kind != ActUp:
		return actionTarget{}
	case p.Ref != "":
		t.role, t.name, _, err = g.InputField(looking, p.Ref)
	default:
		t.role, t.name, err = g.ElementAt(looking, p.mouse.X, p.mouse.Y)
	}
	t.name = untrusted.CleanLine(t.name, maxName+1)
	if err != nil || utf8.RuneCountInString(t.name) > maxName {
		t.name = ""
	}
	return t
}

// previewTarget is like identifyTarget for an action that is only described, not done.
func (r *run) previewTarget(ctx context.Context, a Action) (t actionTarget) {
	if r.screen == nil {
		return actionTarget{secret: a.Kind == ActType || a.Kind == ActFill}
	}
	p := plannedAction{Action: a, mouse: r.pointerPosition()}
	if a.At != nil && r.screenshot.Known() {
		p.mouse = r.screenshot.ToViewport(*a.At)
	}
	if t = r.identifyTarget(ctx, r.screen, p); t.secret {
		r.state.memory.secrets.Learn(a.Text)
	}
	return t
}

// learnPasswords learns which of the texts that a turn speaks of is a password, as far as that can be known before the
// turn is acted on.
func (r *run) learnPasswords(ctx context.Context, t Turn) {
	for _, c := range t.Calls {
		for _, a := range c.Actions {
			switch {
			case a.Kind == ActClick: // which may lead to another field
				return
			case a.Text == "" || a.Kind != ActType && a.Kind != ActFill:
			case strings.Contains(t.Text+t.Reasoning, a.Text):
				r.previewTarget(ctx, a)
			}
		}
	}
}

// typesText reports whether single keys are pressed that write something.
func (p *plannedAction) typesText() bool {
	if p.Kind != ActKeys && p.Kind != ActKeyDown {
		return false
	}
	chords, err := ParseChords(p.Keys)
	for _, c := range chords {
		if utf8.RuneCountInString(c) == 1 {
			return true
		}
	}
	return err != nil
}

// typedSecrets returns what is typed into a password field. If the text continues in other fields, the first part is
// not secret: it is a name.
func (p *plannedAction) typedSecrets() []string {
	parts := strings.Split(strings.Trim(p.Text, "\r\n"), "\t")
	if len(parts) > 1 {
		return parts[1:]
	}
	return parts
}

// crossesFields reports whether a text continues after a tab, and so in another field.
func (p *plannedAction) crossesFields() bool {
	return strings.Contains(strings.TrimRight(p.Text, "\t\r\n"), "\t")
}

// redacted returns the action as people may read it.
func (a Action) redacted(t actionTarget) Action {
	switch {
	case !t.secret:
	case a.Kind == ActKeys || a.Kind == ActKeyDown:
		a.Keys = []string{maskForPeople}
	default:
		a.Text = maskForPeople
	}
	return a
}

// description returns the target in words that follow a verb.
func (t actionTarget) description() string {
	if t.name == "" {
		return ""
	}
	return ` "` + strings.ReplaceAll(untrusted.CleanLine(t.name, 60), `"`, "'") + `"`
}

// intoPhrase returns what is typed into, as part of a label.
func (t actionTarget) intoPhrase() string {
	if t.name == "" {
		return ""
	}
	return " into" + t.description()
}

// overPhrase returns what the mouse is over, as part of a label.
func (t actionTarget) overPhrase() string {
	if t.name == "" {
		return ""
	}
	return ", over" + t.description()
}
