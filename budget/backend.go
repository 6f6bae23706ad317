package budget

import (
	"context"
	"errors"
	"iter"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
)

// Backend returns b within the budget: its calls of models belong to the task,
// its steps and the time it runs are counted, and a task for which there is none
// left ends with an answer that tells what was found so far.
func (k *Keeper) Backend(b sessions.Backend) sessions.Backend {
	return &backend{Backend: b, keeper: k}
}

type backend struct {
	sessions.Backend

	keeper *Keeper
}

// Run implements [sessions.Backend].
func (b *backend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		w := &work{keeper: b.keeper, account: working.Account(s, t), model: t.Model, last: sessions.Step{URL: s.URL, Title: s.Title}}
		if w.model == "" {
			w.model = t.Runtime
		}
		err := w.run(ctx, b.Backend, s, t, yield)
		if errors.Is(err, errGone) || err == nil {
			return
		}
		if limit, spent := working.Spent(err); spent && ctx.Err() == nil {
			yield(w.answer(limit), nil)
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

// answer is what there is to tell when the budget is spent, in the words of limit.
func (w *work) answer(limit string) sessions.Step {
	return sessions.Step{
		N: w.last.N + 1, Kind: sessions.StepAnswer, Phase: sessions.Done, Label: "answer", Limit: limit,
		Text: working.SoFar(w.said, w.last.URL, w.last.Title, w.read), URL: w.last.URL, Title: w.last.Title,
	}
}
