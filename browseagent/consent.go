package browseagent

import (
	"context"
	"errors"
	"time"

	"clank/sessions"
	"clank/sessions/working"
)

// attempt performs one understood call within its time, after people were asked
// where they want to be. The time they take does not count.
func (r *run) attempt(ctx context.Context, t *tool, p Page, a args) outcome {
	if t.asks != nil && t.asks(a) {
		return r.signIn(ctx, t, a)
	}
	plainly := func() outcome {
		return r.timed(ctx, a, func(ctx context.Context) outcome { return t.do(ctx, r, p, a) })
	}
	j, judges := p.(working.Judge)
	kind, input := judged(t, a)
	if kind == "" || !judges || r.agent.Consent == nil {
		return plainly()
	}
	act := working.Act{Judge: j, Kind: kind, Args: input, Limit: r.limit(a), Ask: r.askPeople}
	do := working.Do
	if t.kind == "" { // it goes to an address, which means the same whatever the page does
		do = working.Consult
	}
	d := do(ctx, act)
	o := outcome{notes: d.Notes, err: d.Err}
	switch {
	case d.Refused != nil:
		o = *refusal(d.Refused)
	case errors.Is(d.Err, working.ErrChanged):
		o = *misuse("Not done: the page changed what this does while it was being looked at. Look at the page again.")
	case t.kind == "" && d.Err == nil:
		o = plainly()
	}
	o.consent = d.Consent
	return o
}

// limit is the time of one step, and a little more where the call asked to wait.
func (r *run) limit(a args) time.Duration { return r.set.StepTimeout + patience(a) }

// timed does something within the time that a call has.
func (r *run) timed(ctx context.Context, a args, do func(context.Context) outcome) (o outcome) {
	o.err = working.Timed(ctx, r.limit(a), func(ctx context.Context) error {
		o = do(ctx)
		return o.err
	})
	return o
}

// askPeople asks a question. The decision is a sentence, "" if nobody had to be
// asked.
func (r *run) askPeople(ctx context.Context, q sessions.Question) (decision string, err error) {
	q.Literal = r.caps.Literal
	return working.Ask(ctx, r.agent.Consent, r.log, r.session, r.task, q)
}

// refusal is what the model is told when people did not agree.
func refusal(why error) *outcome {
	return misuse("%s", working.Refusal(why))
}

// judged is the action of [Page.Act] behind a call, if it can set something off.
func judged(t *tool, a args) (kind string, input map[string]any) {
	switch {
	case t.kind == "click" || t.kind == "type" || t.kind == "press" || t.kind == "dialog":
		return t.kind, a
	case t.name == "browser_open":
		return "navigate", map[string]any{"url": working.Address(a.str("url"))}
	case t.name == "browser_tabs" && a.str("action") == "new" && a.str("url") != "":
		return "tabNew", map[string]any{"url": working.Address(a.str("url"))}
	}
	return "", nil
}
