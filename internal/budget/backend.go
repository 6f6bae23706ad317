package budget

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// Backend returns b limited by the budget: its model calls are charged to the task, its steps and running time are
// counted, and when the budget is exhausted the task ends with an answer that contains the results so far.
func (k *Enforcer) Backend(b sessions.Backend) sessions.Backend {
	return &limitedBackend{Backend: b, enforcer: k}
}

type limitedBackend struct {
	sessions.Backend

	enforcer *Enforcer
}

func (b *limitedBackend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		w := &taskRun{
			enforcer: b.enforcer, account: agent.AccountOf(s, t), model: t.Model,
			last: sessions.Step{URL: s.URL, Title: s.Title},
		}
		w.model = cmp.Or(w.model, t.Runtime)
		err := w.run(ctx, b.Backend, s, t, yield)
		if errors.Is(err, errConsumerStopped) || err == nil {
			return
		}
		if limit, spent := agent.BudgetSpent(err); spent && ctx.Err() == nil {
			yield(w.partialAnswer(limit), nil)
			return
		}
		yield(sessions.Step{}, err)
	}
}

// errConsumerStopped means that the consumer stopped ranging.
var errConsumerStopped = errors.New("the consumer stopped ranging")

// taskRun is a running task.
type taskRun struct {
	enforcer *Enforcer
	account  llm.Account
	model    string // for error messages
	last     sessions.Step
	lastText string // last text of its model other than actions
	lastRead string // result of its last action
}

// run passes on the steps of b. It returns the reason why there are no more; nil after an answer.
func (w *taskRun) run(ctx context.Context, b sessions.Backend, s sessions.Session, t sessions.Task,
	yield func(sessions.Step, error) bool,
) error {
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
		if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseBegun {
			if err := w.countStep(ctx); err != nil {
				return err
			}
		}
		w.observe(step)
		if !yield(step, nil) {
			return errConsumerStopped
		}
	}
	return nil
}

// countStep charges a step before it runs.
func (w *taskRun) countStep(ctx context.Context) error {
	one := Amount{Steps: 1}
	id, err := w.enforcer.reserve(ctx, w.account, w.model, one, false)
	if err != nil {
		return err
	}
	w.enforcer.settle(ctx, id, one, StateSettled, false)
	return nil
}

// observe remembers what a partial answer needs.
func (w *taskRun) observe(s sessions.Step) {
	w.last.N = s.N
	if s.URL != "" {
		w.last.URL, w.last.Title = s.URL, s.Title
	}
	switch {
	case s.Phase != sessions.PhaseDone || s.Text == "":
	case s.Kind == sessions.StepThink:
		w.lastText = s.Text
	case s.Kind == sessions.StepAct && !s.Failed:
		w.lastRead = s.Text
	}
}

// partialAnswer returns the answer step with the results so far when the budget is exhausted, with limit as the
// reason.
func (w *taskRun) partialAnswer(limit string) sessions.Step {
	return sessions.Step{
		N: w.last.N + 1, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Limit: limit,
		Text: agent.PartialAnswer(w.lastText, w.last.URL, w.last.Title, w.lastRead), URL: w.last.URL, Title: w.last.Title,
	}
}
