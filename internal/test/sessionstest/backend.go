package sessionstest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"clank/llm"
	"clank/sessions"
)

// Backend is a scripted [sessions.Backend]. The zero value performs one action for every task and answers with its
// prompt. Before each step it reads the task's notes. Set the exported fields before the first call.
type Backend struct {
	// Script returns the steps for a task; nil means one action and an answer.
	Script func(s sessions.Session, t sessions.Task) []ScriptStep
	// OnClose, if set, is called when a session is closed.
	OnClose func(ctx context.Context, sessionID string) error
	// OnPark, where it is set, is called when a session is to be parked, and reports whether it is.
	OnPark func(sessionID string, must bool) bool

	mu             sync.Mutex
	acts           int
	closed, parked []string
}

// ScriptStep is one step of a script.
type ScriptStep struct {
	Step  sessions.Step // N and Phase are filled in; the default Kind is an action
	Err   error         // fails with this error instead of a step
	Hold  <-chan struct{}
	Stuck <-chan struct{} // like Hold, but ignores the context, as a faulty backend would
	Panic any
}

// Act returns an action on a page.
func Act(label string) ScriptStep {
	return ScriptStep{Step: sessions.Step{
		Kind: sessions.StepAct, Tool: "click", Input: []byte(`{}`), Label: label,
		URL: "http://example.test/" + label, Title: label,
	}}
}

// Wait returns an action that takes until hold is closed.
func Wait(label string, hold <-chan struct{}) ScriptStep {
	m := Act(label)
	m.Hold = hold
	return m
}

// Answer returns the step that ends a task successfully.
func Answer(text string) ScriptStep {
	return ScriptStep{Step: sessions.Step{Kind: sessions.StepAnswer, Label: "answer", Text: text}}
}

// HandOver returns the step that hands the task over to another runtime.
func HandOver(runtime, brief string) ScriptStep {
	return ScriptStep{Err: &sessions.HandOverError{Runtime: runtime, Summary: brief}}
}

// Acts returns the number of actions so far.
func (b *Backend) Acts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.acts
}

// Closed returns the closed sessions in order.
func (b *Backend) Closed() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.closed)
}

// Parked returns the sessions that were parked so far, in order.
func (b *Backend) Parked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.parked)
}

// Park implements [sessions.Backend].
func (b *Backend) Park(_ context.Context, sessionID string, must bool) (bool, error) {
	if b.OnPark != nil && !b.OnPark(sessionID, must) {
		return false, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parked = append(b.parked, sessionID)
	return true, nil
}

// Close implements [sessions.Backend].
func (b *Backend) Close(ctx context.Context, sessionID string) error {
	b.mu.Lock()
	b.closed = append(b.closed, sessionID)
	b.mu.Unlock()
	if b.OnClose != nil {
		return b.OnClose(ctx, sessionID)
	}
	return nil
}

// Run implements [sessions.Backend].
func (b *Backend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
	script := []ScriptStep{Act("look"), Answer("done: " + t.Prompt)}
	if b.Script != nil {
		script = b.Script(s, t)
	}
	return func(yield func(sessions.Step, error) bool) {
		n := 0
		for _, move := range script {
			if ctx.Err() != nil {
				yield(sessions.Step{}, context.Cause(ctx))
				return
			}
			for _, note := range t.Inbox.Drain() {
				n++
				if !yield(noteHeard(n, note), nil) {
					return
				}
			}
			n++
			move.Step.N = n
			if !b.play(ctx, move, yield) {
				return
			}
		}
	}
}

// noteHeard returns the notice that a note was read.
func noteHeard(n int, note sessions.Note) sessions.Step {
	return sessions.Step{
		N: n, Kind: sessions.StepNotice, Phase: sessions.PhaseDone, Label: note.String(),
		Text: note.String(),
	}
}

// play performs one step and reports whether to continue.
func (b *Backend) play(ctx context.Context, m ScriptStep, yield func(sessions.Step, error) bool) bool {
	if m.Step.Kind == "" {
		m.Step.Kind = sessions.StepAct
	}
	twice := m.Err == nil && (m.Step.Kind == sessions.StepAct || m.Step.Kind == sessions.StepThink)
	if twice {
		begun := m.Step
		begun.Phase = sessions.PhaseBegun
		begun.Text, begun.URL, begun.Title, begun.View, begun.Memory = "", "", "", nil, nil
		begun.Usage = llm.Usage{}
		if !yield(begun, nil) {
			return false
		}
	}
	if m.Panic != nil {
		panic(m.Panic)
	}
	if m.Stuck != nil {
		<-m.Stuck
	}
	if m.Hold != nil {
		select {
		case <-m.Hold:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		yield(sessions.Step{}, fmt.Errorf("%s: %w", m.Step.Label, context.Cause(ctx)))
		return false
	}
	if m.Err != nil {
		yield(sessions.Step{}, m.Err)
		return false
	}
	if m.Step.Kind == sessions.StepAct {
		b.mu.Lock()
		b.acts++
		b.mu.Unlock()
	}
	m.Step.Phase = sessions.PhaseDone
	return yield(m.Step, nil) && m.Step.Kind != sessions.StepAnswer
}
