package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// maxHandOvers limits the hand-overs of a task, including refused ones, so that it cannot go in circles.
const maxHandOvers = 4

// runTotals are totals over all backends that have worked on a task, one after the other.
type runTotals struct {
	handOvers     int // including refused ones
	previousSteps int // number of the last step of the previous backends
	lastStep      int // number of the newest step
	modelCalls    int // model calls
}

// numberStep numbers a step within the whole task and counts it.
func (l *runTotals) numberStep(step *Step) {
	step.N += l.previousSteps
	l.lastStep = max(l.lastStep, step.N)
	if step.Kind == StepThink && step.Phase == PhaseBegun {
		l.modelCalls++
	}
}

// bindToSession sets j's runtime to that of its session, which may have been handed over while j was queued. If a
// runtime was requested, it switches the session instead.
func (m *Manager) bindToSession(j *queuedTask) error {
	m.mu.Lock()
	now := j.live.Runtime
	m.mu.Unlock()
	if !j.runtimeRequested && j.rec.Runtime != now {
		t := j.rec.Task
		t.Runtime, t.Model = now, j.requestedModel
		if err := m.route(&t); err != nil {
			return err
		}
		j.rec.Runtime, j.rec.Model = t.Runtime, t.Model
	}
	m.setSessionRuntime(j)
	return nil
}

// setSessionRuntime sets the session's runtime to j's.
func (m *Manager) setSessionRuntime(j *queuedTask) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j.live.switchRuntime(j.rec.Runtime)
	j.live.useRuntime(j.rec.Runtime)
}

// switchRuntime makes runtime the session's runtime. The memory of the previous one is kept in Others.
func (s *Session) switchRuntime(runtime string) {
	if s.Runtime == runtime {
		return
	}
	others := make(map[string]json.RawMessage, len(s.Others)+1)
	maps.Copy(others, s.Others)
	if s.Memory != nil {
		others[s.Runtime] = s.Memory
	}
	s.Memory = others[runtime]
	delete(others, runtime)
	s.Others, s.Runtime = others, runtime
	if len(others) == 0 {
		s.Others = nil
	}
}

// runBackends runs j on its backend, and on the next one if that hands over.
func (m *Manager) runBackends(ctx context.Context, j *queuedTask, session Session) runOutcome {
	t := j.rec.Task
	t.Prompt = j.prompt
	for {
		out := m.runBackend(ctx, j, session, t)
		h, ok := errors.AsType[*HandOverError](out.err)
		if !ok || out.released != nil || ctx.Err() != nil {
			return out
		}
		var end *Step
		var err error
		if t, end, err = m.handOver(ctx, j, t, h); err != nil || end != nil {
			return runOutcome{answer: end, err: err}
		}
		session = m.current(j.live)
	}
}

// runBackend runs j on one backend until it ends.
func (m *Manager) runBackend(ctx context.Context, j *queuedTask, s Session, t Task) runOutcome {
	j.totals.previousSteps = j.totals.lastStep
	t.Inbox = j.inbox
	p := newStepPuller(ctx, m.Backends[t.Runtime], s, t)
	defer p.stop()
	thinks := false
	for {
		var step Step
		err := m.awaitPage(ctx, j, thinks)
		if err == nil {
			step, err = p.next(ctx)
		}
		thinks = step.Kind == StepThink && step.Phase == PhaseBegun
		if err == nil && step.Kind == StepAnswer {
			err = m.recordLateNotes(ctx, j, &step)
		}
		if err == nil {
			err = m.recordStep(ctx, j, &step)
		}
		_, unkept := errors.AsType[*unkeptError](err)
		switch {
		case unkept && step.Kind == StepAnswer:
			return runOutcome{answer: &step, err: err, released: p.end(ctx)}
		case isHandOver(err):
			return runOutcome{err: err, released: p.end(ctx)}
		case err != nil:
			return runOutcome{err: err, released: p.stop()}
		case step.Kind == StepAnswer:
			return runOutcome{answer: &step, released: p.end(ctx)}
		}
	}
}

func isHandOver(err error) bool {
	_, ok := errors.AsType[*HandOverError](err)
	return ok
}

// handOver prepares the task for the next backend, or returns the answer that ends it because no steps are left.
func (m *Manager) handOver(ctx context.Context, j *queuedTask, t Task,
	h *HandOverError,
) (next Task, end *Step, err error) {
	if j.totals.handOvers++; j.totals.handOvers > maxHandOvers {
		return t, nil, fmt.Errorf("the task was passed to and fro %d times; ask for it in smaller parts, or name the "+
			"runtime that is to do it", maxHandOvers)
	}
	j.totals.previousSteps = j.totals.lastStep
	if all := j.rec.MaxSteps; all > 0 && j.totals.modelCalls >= all {
		end := &Step{N: 1, Kind: StepAnswer, Label: "answer", Text: h.Summary, Limit: StepLimit(all)}
		return t, end, m.recordStep(ctx, j, end)
	}
	from := t.Runtime
	t.Typed = false // what follows is in the words of a model, too
	model, err := m.checkHandOver(ctx, j, h)
	if ctx.Err() != nil {
		return t, nil, context.Cause(ctx)
	}
	note := fmt.Sprintf("%s goes on, after %s", h.Runtime, from)
	if err != nil {
		note = fmt.Sprintf("it was not handed over to %s: %v", h.Runtime, err)
		t.Prompt = note + ". Go on yourself, or answer with what you have found and what is in the way."
	} else {
		t.Runtime, t.Model = h.Runtime, model
		t.Prompt = fmt.Sprintf("%s\n\n(%s has worked at this before you, on the page that is open. It leaves you this "+
			"note: %s)", j.prompt, from, h.Summary)
		j.rec.Runtime, j.rec.Model = h.Runtime, model
		m.setSessionRuntime(j)
	}
	if j.rec.MaxSteps > 0 {
		t.MaxSteps = j.rec.MaxSteps - j.totals.modelCalls
	}
	return t, nil, m.recordStep(ctx, j, &Step{N: 1, Kind: StepNotice, Label: note, Text: note})
}

// checkHandOver returns the model for the runtime to hand over to, or why that is not possible.
func (m *Manager) checkHandOver(ctx context.Context, j *queuedTask, h *HandOverError) (string, error) {
	switch {
	case h.Runtime == j.rec.Runtime:
		return "", errors.New("it is the one that works at it already")
	case m.Backends[h.Runtime] == nil:
		return "", m.checkRuntime(h.Runtime)
	case m.Policy == nil:
		return "", errors.New("the settings do not allow it")
	}
	return m.Policy.AllowHandOver(ctx, m.current(j.live), j.rec.Task, *h)
}
