package browseagent

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/page/action/actiontable"
	"clank/sessions"
	"clank/sessions/agent"
)

// performApproved executes one well-formed call within its timeout, asking people first if necessary. The time they
// take does not count.
func (r *run) performApproved(ctx context.Context, t *tool, p sessions.Page, a toolArgs) callOutcome {
	if t.signsIn {
		return r.fillApproved(ctx, t, a)
	}
	if t.name == agent.ToolTakeOver {
		return r.askToTakeOver(ctx, a)
	}
	if t.name == agent.ToolAskPerson {
		return r.askPerson(ctx, a)
	}
	plainly := func() callOutcome {
		return r.runWithin(ctx, a, func(ctx context.Context) callOutcome { return t.perform(ctx, r, p, a) })
	}
	kind, input := judgedAction(t, a)
	if kind == "" || r.agent.Approver == nil {
		return plainly()
	}
	act := agent.Action{Page: p, Kind: kind, Args: input, Timeout: r.stepLimit(a), Ask: r.askPeople}
	do := agent.Perform
	if t.kind == "" { // it goes to a URL, whose meaning no page can change
		do = agent.Approve
	}
	d := do(ctx, act)
	o := callOutcome{notes: d.Notes, err: d.Err}
	switch {
	case d.Refused != nil:
		o = *refusedOutcome(d.Refused)
	case errors.Is(d.Err, agent.ErrPageChanged):
		o = *invalidCall("Not done: the page changed what this does while it was being looked at. Look at the page again.")
	case t.kind == "" && d.Err == nil:
		o = plainly()
	}
	o.decision = d.Decision
	return o
}

// askToTakeOver asks people to take control. The time they take does not count towards the timeout.
func (r *run) askToTakeOver(ctx context.Context, a toolArgs) callOutcome {
	if r.agent.TakeOver == nil {
		return *invalidCall("Nobody can take over here.")
	}
	text, done := agent.AskToTakeOver(ctx, r.agent.TakeOver, r.session, r.task, a.str("reason"))
	if !done {
		return *invalidCall("%s", text)
	}
	return callOutcome{remarks: []string{text}}
}

// askPerson asks a person the model's question. The time that takes does not count towards the timeout.
func (r *run) askPerson(ctx context.Context, a toolArgs) callOutcome {
	q := agent.PersonQuestion{Question: a.str("question"), Choices: actiontable.Values(a).Texts("choices")}
	text, answered := agent.AskPerson(ctx, r.agent.AskWords, r.session, r.task, q)
	if !answered {
		return *invalidCall("%s", text)
	}
	return callOutcome{remarks: []string{text}}
}

// stepLimit returns the timeout of one step, including the time that the call asks to wait.
func (r *run) stepLimit(a toolArgs) time.Duration { return r.set.StepTimeout + extraWait(a) }

// runWithin runs do within the timeout of a call.
func (r *run) runWithin(ctx context.Context, a toolArgs, do func(context.Context) callOutcome) (o callOutcome) {
	o.err = agent.RunWithin(ctx, r.stepLimit(a), func(ctx context.Context) error {
		o = do(ctx)
		return o.err
	})
	return o
}

// askPeople asks a question. The decision is a sentence, "" if nobody had to be asked.
func (r *run) askPeople(ctx context.Context, q sessions.Question) (decision string, err error) {
	q.Literal = r.caps.Literal && !r.state.history.untyped // a literal model may act on earlier prompts, too
	return agent.AskApproval(ctx, r.agent.Approver, r.log, r.session, r.task, q)
}

// refusedOutcome tells the model that people did not approve.
func refusedOutcome(why error) *callOutcome {
	return invalidCall("%s", agent.RefusalText(why))
}

// judgedAction returns the action for [sessions.Page.Act] behind a call, if it may need approval.
func judgedAction(t *tool, a toolArgs) (kind string, input map[string]any) {
	switch {
	case t.kind != "":
		return t.kind, a
	case t.name == "browser_open":
		return "navigate", map[string]any{"url": agent.CompleteURL(a.str("url"))}
	case t.name == "browser_tabs" && a.str("action") == "new" && a.str("url") != "":
		return "tabNew", map[string]any{"url": agent.CompleteURL(a.str("url"))}
	}
	return "", nil
}
