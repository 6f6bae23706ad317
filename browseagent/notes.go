package browseagent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/page/action/actiontable"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// toolHandOver hands the rest of a task over to another runtime. It is offered if [Settings.HandOver] names one.
const toolHandOver = "hand_over"

// deliverNotes passes new notes to the model and emits a notice for each. A literal model would drop its current
// instructions for a note, so it gets notes only after its answer, see [run.continueAfterAnswer].
func (r *run) deliverNotes(ctx context.Context) error {
	if r.caps.Literal {
		for _, n := range r.task.Inbox.DrainTakeOvers() {
			if err := r.notice(ctx, n.String()); err != nil {
				return err
			}
		}
		return nil
	}
	looks := r.tookOver()
	err := r.readNotes(ctx, func(notes []sessions.Note) {
		for _, n := range notes {
			text := fmt.Sprintf("[%s, while you work] %s", agent.SpeakerName(n.By), n.Text)
			if n.TookOver {
				text = fmt.Sprintf("[%s has worked the page by hand]", agent.SpeakerName(n.By))
			}
			r.state.history.addUserText(text)
		}
	})
	if err != nil || !looks {
		return err
	}
	page, notes, err := r.openSessionPage(ctx)
	if err != nil {
		return err
	}
	o := callOutcome{notes: notes}
	r.observe(ctx, page, &o)
	now, _ := o.text(r.n)
	r.state.history.addUserText(now)
	return agent.ContextError(ctx, nil)
}

// readNotes drains the inbox, emits notices and passes the notes to take, if there are any.
func (r *run) readNotes(ctx context.Context, take func([]sessions.Note)) error {
	notes := r.task.Inbox.Drain()
	if len(notes) == 0 {
		return nil
	}
	for _, n := range notes {
		if err := r.notice(ctx, n.String()); err != nil {
			return err
		}
	}
	take(notes)
	return nil
}

// continueAfterAnswer reports whether the task continues after the model's answer because notes have arrived
// meanwhile.
func (r *run) continueAfterAnswer(ctx context.Context, end agent.Outcome) (bool, error) {
	if r.task.Inbox.Len() == 0 || end.Failed {
		return false, nil
	}
	if !r.caps.Literal {
		return true, nil // deliverNotes passes them on before the next model call
	}
	r.earlierAnswers = append(r.earlierAnswers, end.Text)
	return true, r.readNotes(ctx, func(notes []sessions.Note) {
		further := make([]string, len(notes))
		for i, n := range notes {
			further[i] = n.Text
		}
		r.state.history.addPrompt(strings.Join(further, "\n"), false) // the note may come from a model
	})
}

// fullAnswer returns the answer together with the earlier ones.
func (r *run) fullAnswer(text string) string {
	return strings.Join(append(slices.Clone(r.earlierAnswers), text), "\n\n")
}

// offeredTools returns the tools offered to the model.
func (r *run) offeredTools() []llm.Tool {
	ts := make([]llm.Tool, 0, len(toolTable))
	for _, t := range toolTable {
		fields := t.fields
		if t.name == toolHandOver {
			if len(r.set.HandOver) == 0 {
				continue
			}
			fields = slices.Clone(fields)
			fields[0].Enum = r.set.HandOver
		}
		if t.name == agent.ToolTakeOver && (r.agent.TakeOver == nil || r.caps.Literal) {
			continue
		}
		if t.name == agent.ToolAskPerson && (r.agent.AskWords == nil || r.caps.Literal) {
			continue
		}
		if !r.caps.Described && t.name != agent.ToolAskPerson {
			fields = slices.DeleteFunc(slices.Clone(fields), func(p actiontable.Param) bool { return p.Name == fieldQuestion })
		}
		if t.availableWith(r.logins) {
			ts = append(ts, llm.Tool{Name: t.name, Description: t.about, Schema: actiontable.ObjectSchema(fields)})
		}
	}
	return ts
}

// handOver ends the task in this runtime.
func handOver(_ context.Context, r *run, _ sessions.Page, a toolArgs) callOutcome {
	to := a.str("runtime")
	if !slices.Contains(r.set.HandOver, to) {
		return failedOutcome(fmt.Errorf("the task cannot be handed over to %s", agent.Quote(to)))
	}
	r.handOver = &sessions.HandOverError{Runtime: to, Summary: a.str("brief")}
	return callOutcome{remarks: []string{"Handed over to " + to + "."}}
}

func labelHandOver(a toolArgs, _ elementNames) string {
	return "hand over to " + agent.Shorten(a.str("runtime"), 60)
}
