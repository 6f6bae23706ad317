package sessionstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/sessions"
)

// BackendCase is a backend under test.
type BackendCase struct {
	Backend sessions.Backend
	Runtime string // the runtime name in its sessions
	// Prompt is a task with at least two actions before its answer.
	Prompt string
	// Slow is a task that takes longer than any test would wait, from its first action on, unless it is stopped.
	Slow string
	// Note is a note for such a task while it runs; empty means Prompt.
	Note string
	// HandOver is a task that ends with a [sessions.HandOverError]; empty means that the backend never hands over.
	HandOver string
	// Acts returns the number of actions on pages so far, in all sessions; nil means that they cannot be counted.
	Acts func() int
	// Within is the maximum duration of a stop; 0 means a second, which tolerates a busy machine.
	Within time.Duration
}

// TestBackend checks the contract of [sessions.Backend]. open returns a new backend for each test.
func TestBackend(t *testing.T, open func(t *testing.T) BackendCase) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(*testing.T, BackendCase)
	}{
		{"a task ends with one answer", backendAnswers},
		{"steps are numbered and come in pairs", backendPairs},
		{"an act happens after it has begun, and not if ranging stops there", backendBegunFirst},
		{"it stops wherever ranging stops", backendStopsRanging},
		{"an ended context keeps it from beginning", backendEndedContext},
		{"a cancelled task ends at once, with the cause", backendCancelled},
		{"a session goes on after a stop", backendGoesOn},
		{"two sessions work at the same time", backendTwoSessions},
		{"what is said to a task is heard", backendHears},
		{"a task that is handed over ends without an answer", backendHandsOver},
		{"closing is safe at any time", backendClose},
		{"a closed session starts anew from what was kept", backendReopens},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := open(t)
			if c.Within == 0 {
				c.Within = time.Second
			}
			tc.run(t, c)
		})
	}
}

// testWait bounds waits without a limit of their own.
const testWait = 30 * time.Second

func (c BackendCase) session(id string) sessions.Session {
	return sessions.Session{
		ID: id, Runtime: c.Runtime, State: sessions.SessionRunning,
		Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: "test"},
	}
}

func (c BackendCase) task(s sessions.Session, prompt string) sessions.Task {
	return sessions.Task{
		ID: "task-" + s.ID, SessionID: s.ID, Prompt: prompt, Origin: s.Origin, Runtime: c.Runtime,
		MaxSteps: 20,
	}
}

// run runs a task to its end, or until each returns false, and returns its steps and its error. It updates the
// session.
func (c BackendCase) run(ctx context.Context, s *sessions.Session, prompt string,
	each func(sessions.Step) bool,
) (steps []sessions.Step, err error) {
	return c.work(ctx, s, c.task(*s, prompt), each)
}

// work runs a task created by the caller.
func (c BackendCase) work(ctx context.Context, s *sessions.Session, t sessions.Task,
	each func(sessions.Step) bool,
) (steps []sessions.Step, err error) {
	ctx, done := context.WithTimeout(ctx, testWait)
	defer done()
	for step, err := range c.Backend.Run(ctx, *s, t) {
		if err != nil {
			return steps, err
		}
		steps = append(steps, step)
		if step.URL != "" {
			s.URL, s.Title = step.URL, step.Title
		}
		if step.Memory != nil {
			s.Memory = step.Memory
		}
		if each != nil && !each(step) {
			return steps, nil
		}
	}
	return steps, nil
}

// answer runs a task to its end and fails the test unless that is an answer.
func (c BackendCase) answer(t *testing.T, s *sessions.Session, prompt string) []sessions.Step {
	t.Helper()
	steps, err := c.run(t.Context(), s, prompt, nil)
	if err != nil {
		t.Fatalf("the task failed after %d steps: %v", len(steps), err)
	}
	if len(steps) == 0 || steps[len(steps)-1].Kind != sessions.StepAnswer {
		t.Fatalf("the task ended without an answer, after %+v", steps)
	}
	return steps
}

func (c BackendCase) acts() int {
	if c.Acts == nil {
		return 0
	}
	return c.Acts()
}

func backendAnswers(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	steps := c.answer(t, &s, c.Prompt)
	for i, step := range steps {
		if step.Kind == sessions.StepAnswer && i != len(steps)-1 {
			t.Errorf("step %d of %d is an answer", i+1, len(steps))
		}
	}
	if last := steps[len(steps)-1]; last.Text == "" && last.Images == nil {
		t.Error("the answer is empty")
	}
}

func backendPairs(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	acts, last := 0, 0
	var open *sessions.Step
	for _, step := range c.answer(t, &s, c.Prompt) {
		if step.Label == "" {
			t.Errorf("step %d has no label", step.N)
		}
		if step.Kind == sessions.StepAct && (step.Tool == "" || !json.Valid(step.Input)) {
			t.Errorf("act %d: tool %q, input %q", step.N, step.Tool, step.Input)
		}
		twice := step.Kind == sessions.StepAct || step.Kind == sessions.StepThink
		switch {
		case open != nil:
			if step.Phase != sessions.PhaseDone || step.N != open.N || step.Kind != open.Kind || step.Tool != open.Tool {
				t.Errorf("step %d (%s %s) had begun, then came %d (%s %s, %s)",
					open.N, open.Kind, open.Tool, step.N, step.Kind, step.Tool, step.Phase)
			}
			open = nil
			if step.Kind == sessions.StepAct {
				acts++
			}
			continue
		case twice && step.Phase != sessions.PhaseBegun, !twice && step.Phase != sessions.PhaseDone:
			t.Errorf("step %d (%s) first appeared as %s", step.N, step.Kind, step.Phase)
		}
		if step.N != last+1 {
			t.Errorf("step %d came after step %d", step.N, last)
		}
		last = step.N
		if twice {
			open = &step
		}
	}
	if acts < 2 {
		t.Errorf("the task took %d acts; this test needs a Prompt with two", acts)
	}
}

func backendBegunFirst(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	_, err := c.run(t.Context(), &s, c.Prompt, func(step sessions.Step) bool {
		return step.Kind != sessions.StepAct // the first one has started
	})
	check.Must(t, err)
	check.Equal(t, "acts reached the page", c.acts(), 0)
}

func backendStopsRanging(t *testing.T, c BackendCase) {
	t.Helper()
	whole := c.session("whole")
	all := len(c.answer(t, &whole, c.Prompt))
	for n := 1; n < all; n++ {
		s := c.session(fmt.Sprintf("cut%d", n))
		seen := 0
		steps, err := c.run(t.Context(), &s, c.Prompt, func(sessions.Step) bool { seen++; return seen < n })
		check.Must(t, err)
		if len(steps) != n {
			t.Errorf("after a stop at step %d there were %d", n, len(steps))
		}
		before := c.acts()
		check.Must(t, c.Backend.Close(t.Context(), s.ID))
		if got := c.acts(); got != before {
			t.Errorf("after a stop at step %d, %d more acts reached the page", n, got-before)
		}
	}
}

func backendEndedContext(t *testing.T, c BackendCase) {
	t.Helper()
	cause := &cancel.Cause{Reason: cancel.Stopped, By: "@ada"}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(cause)
	s := c.session("one")
	steps, err := c.run(ctx, &s, c.Prompt, nil)
	check.Fails(t, err, cause)
	for _, step := range steps {
		if step.Kind == sessions.StepAct {
			t.Errorf("act after the end: %+v", step)
		}
	}
	check.Equal(t, "acts reached the page", c.acts(), 0)
}

// stopSlow runs the slow task, stops it during its first action, and checks how it ends.
func (c BackendCase) stopSlow(t *testing.T, s *sessions.Session) {
	t.Helper()
	cause := &cancel.Cause{Reason: cancel.Stopped, By: "@ada"}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	stopped := make(chan time.Time, 1)
	halt := func() {
		stopped <- time.Now()
		stop(cause)
	}
	var timer *time.Timer
	steps, err := c.run(ctx, s, c.Slow, func(step sessions.Step) bool {
		if step.Kind == sessions.StepAct && timer == nil {
			timer = time.AfterFunc(100*time.Millisecond, halt)
		}
		return true
	})
	if timer == nil {
		t.Fatalf("the slow task ended before its first act: %v", err)
	}
	var at time.Time
	select {
	case at = <-stopped:
	default:
		timer.Stop()
		t.Fatalf("the slow task ended before it was stopped: %v after %+v", err, steps)
	}
	if took := time.Since(at); took > c.Within {
		t.Errorf("the stop took %v, want at most %v", took, c.Within)
	}
	check.Fails(t, err, cause)
}

func backendCancelled(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	c.stopSlow(t, &s)
	before := c.acts()
	check.Must(t, c.Backend.Close(t.Context(), s.ID))
	if got := c.acts(); got != before {
		t.Errorf("%d acts reached the page after the stop", got-before)
	}
}

func backendGoesOn(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	c.stopSlow(t, &s)
	c.answer(t, &s, c.Prompt)
}

func backendTwoSessions(t *testing.T, c BackendCase) {
	t.Helper()
	slow, quick := c.session("slow"), c.session("quick")
	ctx, stop := context.WithCancelCause(t.Context())
	begun := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		first := true
		_, err := c.run(ctx, &slow, c.Slow, func(step sessions.Step) bool {
			if first && step.Kind == sessions.StepAct {
				first = false
				close(begun)
			}
			return true
		})
		ended <- err
	}()
	select {
	case <-begun:
		c.answer(t, &quick, c.Prompt)
	case err := <-ended:
		t.Fatalf("the slow task ended before its first act: %v", err)
	}
	cause := &cancel.Cause{Reason: cancel.Superseded}
	stop(cause)
	check.Fails(t, <-ended, cause)
}

func backendHears(t *testing.T, c BackendCase) {
	t.Helper()
	if c.Note == "" {
		c.Note = c.Prompt
	}
	s := c.session("one")
	task := c.task(s, c.Prompt)
	task.Inbox = &sessions.Inbox{}
	notes := []sessions.Note{{By: "@ada", Text: c.Note}, {By: "@bob", Text: c.Note}}
	task.Inbox.Add(notes[0])
	var heard []string
	acts, last := 0, sessions.Step{}
	_, err := c.work(t.Context(), &s, task, func(step sessions.Step) bool {
		if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseBegun {
			if acts++; acts == 2 {
				task.Inbox.Add(notes[1]) // while it is running
			}
		}
		if step.Kind == sessions.StepNotice {
			heard = append(heard, step.Text)
		}
		last = step
		return true
	})
	check.Must(t, err)
	if want := []string{notes[0].String(), notes[1].String()}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if last.Kind != sessions.StepAnswer || task.Inbox.Len() != 0 {
		t.Errorf("the last step is %+v, with %d notes left in the inbox; want an answer and none", last, task.Inbox.Len())
	}
}

func backendHandsOver(t *testing.T, c BackendCase) {
	t.Helper()
	if c.HandOver == "" {
		t.Skip("this backend hands nothing over")
	}
	s := c.session("one")
	steps, err := c.run(t.Context(), &s, c.HandOver, nil)
	h, ok := errors.AsType[*sessions.HandOverError](err)
	if !ok || h.Runtime == "" || h.Summary == "" {
		t.Fatalf("it ended with %v, want a hand-over with a runtime and a brief", err)
	}
	for _, step := range steps {
		if step.Kind == sessions.StepAnswer {
			t.Errorf("it answered as well: %+v", step)
		}
	}
	c.answer(t, &s, c.Prompt) // the task may be handed back
}

func backendClose(t *testing.T, c BackendCase) {
	t.Helper()
	check.Must(t, c.Backend.Close(t.Context(), "nobody knows it"))
	s := c.session("one")
	c.answer(t, &s, c.Prompt)
	check.Must(t, c.Backend.Close(t.Context(), s.ID))
	check.Must(t, c.Backend.Close(t.Context(), s.ID))
}

func backendReopens(t *testing.T, c BackendCase) {
	t.Helper()
	s := c.session("one")
	c.answer(t, &s, c.Prompt)
	check.Must(t, c.Backend.Close(t.Context(), s.ID))
	c.answer(t, &s, c.Prompt)
	check.Must(t, c.Backend.Close(t.Context(), s.ID))

	// The stored memory may be from another version, or lost.
	s.Memory = nil
	c.answer(t, &s, c.Prompt)
	check.Must(t, c.Backend.Close(t.Context(), s.ID))
	s.Memory = []byte(`{"from":"another version"}`)
	c.answer(t, &s, c.Prompt)
}
