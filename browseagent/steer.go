package browseagent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
)

// toolHandOver leaves the rest of a task to another runtime. It is offered where
// [Settings.HandOver] names one.
const toolHandOver = "hand_over"

// hear takes what was said to the task since the last time, tells people that it
// was heard, and the model what it was. A model that does what is written word
// for word would drop what it is at for it, so it hears when it is done, see
// [run.goesOn].
func (r *run) hear(ctx context.Context) error {
	if r.caps.Literal {
		return nil
	}
	return r.listen(ctx, func(notes []sessions.Note) {
		for _, n := range notes {
			r.held.history.user(fmt.Sprintf("[%s, while you work] %s", working.Speaker(n.By), n.Text))
		}
	})
}

// listen takes what was said, tells people that it was heard, and gives it to
// take, if there is any.
func (r *run) listen(ctx context.Context, take func([]sessions.Note)) error {
	notes := r.task.Inbox.Take()
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

// goesOn reports whether the task goes on although the model has said its last,
// because somebody has said more meanwhile.
func (r *run) goesOn(ctx context.Context, end working.Ending) (bool, error) {
	if r.task.Inbox.Len() == 0 || end.Failed {
		return false, nil
	}
	if !r.caps.Literal {
		return true, nil // it hears before the next question
	}
	r.said = append(r.said, end.Text)
	return true, r.listen(ctx, func(notes []sessions.Note) {
		further := make([]string, len(notes))
		for i, n := range notes {
			further[i] = n.Text
		}
		r.held.history.prompt(strings.Join(further, "\n"))
	})
}

// whole is the answer with what was said before more was asked for.
func (r *run) whole(text string) string {
	return strings.Join(append(slices.Clone(r.said), text), "\n\n")
}

// offered are the tools that the model has.
func (r *run) offered() []llm.Tool {
	ts := make([]llm.Tool, 0, len(tools))
	for _, t := range tools {
		fields := t.fields
		if t.name == toolHandOver {
			if len(r.set.HandOver) == 0 {
				continue
			}
			fields = slices.Clone(fields)
			fields[0].choices = r.set.HandOver
		}
		if t.usable(r.logins) {
			ts = append(ts, llm.Tool{Name: t.name, Description: t.about, Schema: schema(fields)})
		}
	}
	return ts
}

// passOn ends the work of this runtime.
func passOn(_ context.Context, r *run, _ Page, a args) outcome {
	to := a.str("runtime")
	if !slices.Contains(r.set.HandOver, to) {
		return failure(fmt.Errorf("the task cannot be handed over to %s", working.Quote(to)))
	}
	r.handed = &sessions.HandOverError{Runtime: to, Brief: a.str("brief")}
	return outcome{remarks: []string{"Handed over to " + to + "."}}
}

func labelPassOn(a args, _ names) string {
	return "hand over to " + working.Brief(a.str("runtime"), 60)
}
