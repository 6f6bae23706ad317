package budget

import (
	"context"
	"errors"
	"iter"
	"strings"

	"clank/llm"
	"clank/sessions"
)

// Backend returns b within the budget: its calls of models belong to the task,
// its steps and the time it runs are counted, and a task for which there is none
// left ends with an answer that tells what was found so far.
func (k *Keeper) Backend(b sessions.Backend) sessions.Backend {
	return &backend{Backend: b, keeper: k}
}

// AccountOf says to whom the calls of task t in session s are put down.
func AccountOf(s sessions.Session, t sessions.Task) llm.Account {
	return llm.Account{
		Task: t.ID, Session: s.ID, Guild: t.Origin.Guild, Channel: t.Origin.Channel, User: PersonOf(t.Origin), Purpose: "browse",
	}
}

// PersonOf is the id of who asked, with the door in front; "" if nobody is named.
func PersonOf(o sessions.Origin) string {
	if o.User == "" {
		return ""
	}
	return string(o.Kind) + ":" + o.User
}

type backend struct {
	sessions.Backend

	keeper *Keeper
}

// Run implements [sessions.Backend].
func (b *backend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		w := &work{keeper: b.keeper, account: AccountOf(s, t), model: t.Model, last: sessions.Step{URL: s.URL, Title: s.Title}}
		if w.model == "" {
			w.model = t.Runtime
		}
		err := w.run(ctx, b.Backend, s, t, yield)
		if errors.Is(err, errGone) || err == nil {
			return
		}
		if spent, ok := asSpent(err); ok && ctx.Err() == nil {
			yield(w.answer(spent), nil)
			return
		}
		yield(sessions.Step{}, err)
	}
}

// errGone means that the consumer stopped ranging.
var errGone = errors.New("the consumer stopped ranging")

// work is one task while it is worked.
type work struct {
	keeper  *Keeper
	account llm.Account
	model   string // named in errors
	last    sessions.Step
	said    string // what its model said last beside its acts
	read    string // what its last act brought
}

// run passes on the steps of b. The error is why there are no more; nil after an
// answer.
func (w *work) run(ctx context.Context, b sessions.Backend, s sessions.Session, t sessions.Task, yield func(sessions.Step, error) bool) error {
	ctx, end := context.WithCancelCause(llm.WithAccount(ctx, w.account))
	defer end(context.Canceled)
	stop, err := w.startClock(ctx, end)
	if err != nil {
		return err
	}
	defer stop()
	for step, err := range b.Run(ctx, s, t) {
		if err != nil {
			return err
		}
		if step.Kind == sessions.StepAct && step.Phase == sessions.Begun {
			if err := w.countStep(ctx); err != nil {
				return err
			}
		}
		w.see(step)
		if !yield(step, nil) {
			return errGone
		}
	}
	return nil
}

// countStep writes a step down before it is done.
func (w *work) countStep(ctx context.Context) error {
	one := Amount{Steps: 1}
	id, err := w.keeper.reserve(ctx, w.account, w.model, one, false)
	if err != nil {
		return err
	}
	w.keeper.settle(ctx, id, one, Settled, false)
	return nil
}

// see remembers what an answer so far is made of.
func (w *work) see(s sessions.Step) {
	w.last.N = s.N
	if s.URL != "" {
		w.last.URL, w.last.Title = s.URL, s.Title
	}
	switch {
	case s.Phase != sessions.Done || s.Text == "":
	case s.Kind == sessions.StepThink:
		w.said = s.Text
	case s.Kind == sessions.StepAct && !s.Failed:
		w.read = s.Text
	}
}

// answer is what there is to tell when the budget is spent.
func (w *work) answer(spent *llm.Error) sessions.Step {
	parts := []string{"The work ended before there was an answer."}
	if w.said != "" {
		parts[0] = w.said
	}
	if w.last.URL != "" {
		parts = append(parts, "The page it is on: "+strings.TrimPrefix(w.last.Title+", "+w.last.URL, ", "))
	}
	if w.read != "" {
		parts = append(parts, "What it has seen last:\n"+w.read)
	}
	return sessions.Step{
		N: w.last.N + 1, Kind: sessions.StepAnswer, Phase: sessions.Done, Label: "answer", Text: strings.Join(parts, "\n\n"),
		Limit: spent.Message, URL: w.last.URL, Title: w.last.Title,
	}
}

// asSpent returns err as the budget that is spent, if it is one.
func asSpent(err error) (*llm.Error, bool) {
	var failed *llm.Error
	return failed, errors.As(err, &failed) && failed.Kind == llm.ErrSpent
}
