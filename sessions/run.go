package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/cancel"
)

// Run queues t, waits for its turn, runs it and returns its final record. It returns an error only if the task was
// never accepted; the error wraps one of the sentinels of this package, unless ctx ended or the store failed.
//
// When ctx ends, so does the task. Unless the cause of ctx is a [cancel.Cause], the reason is then [cancel.Gone], or
// [cancel.TimedOut] after a deadline.
//
// watch, which may be nil, is called for every change, in order and on the calling goroutine: when the task is
// queued, when its position changes, when it starts, when a step begins or ends, and when the task is final. It must
// not block or modify what the event points to.
func (m *Manager) Run(ctx context.Context, t Task, watch func(Event)) (TaskRecord, error) {
	j, err := m.admit(ctx, t, watch)
	if err != nil {
		return TaskRecord{}, err
	}
	defer m.activeRuns.Done()
	defer m.endJob(j, false) // if watch panics, later tasks must not wait for this one for ever
	ctx = m.enqueue(ctx, j)
	defer j.handle.End()

	out := runOutcome{}
	if m.waitTurn(ctx, j) {
		out = m.runTask(ctx, j)
	}
	m.finish(ctx, j, out)
	return j.rec, nil
}

// waitTurn publishes j's queue positions until its turn comes and returns true, or returns false when ctx ends.
func (m *Manager) waitTurn(ctx context.Context, j *queuedTask) bool {
	for started := false; ; {
		select {
		case <-j.start:
			started = true
		default:
		}
		for _, status := range m.takeQueueStatuses(j) {
			j.rec.Position, j.rec.Shortage = status.position, status.shortage
			m.publish(j, nil)
		}
		if started {
			j.rec.Position, j.rec.Shortage = 0, ""
			return ctx.Err() == nil
		}
		select {
		case <-j.positionChanged:
		case <-j.start:
			started = true
		case <-ctx.Done():
			return false
		}
	}
}

func (m *Manager) takeQueueStatuses(j *queuedTask) []queueStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := j.unpublished
	j.unpublished = nil
	return list
}

// runOutcome is how a run ended: with an answer or with an error. It has both if the answer could not be stored.
type runOutcome struct {
	answer   *Step
	err      error
	released <-chan struct{} // closed when the backend has released the session; nil = it already has
}

// runTask runs a task whose turn has come until it is over or ctx ends.
func (m *Manager) runTask(ctx context.Context, j *queuedTask) runOutcome {
	if limit := m.Limits().TaskTimeout; limit > 0 {
		limited, end := context.WithCancelCause(ctx)
		defer end(nil)
		j.clock = startClock(limit, func() {
			end(&cancel.Cause{Reason: cancel.TimedOut, Detail: fmt.Sprintf("a task may take %v", DurationText(limit))})
		})
		defer j.clock.pause()
		ctx = limited
	}
	j.rec.State, j.rec.Started = TaskRunning, time.Now()
	if err := m.bindToSession(j); err != nil {
		return runOutcome{err: err}
	}
	session, err := m.markUsed(ctx, j)
	if err != nil {
		return runOutcome{err: &unkeptError{err}}
	}
	m.publish(j, nil)
	return m.runBackends(ctx, j, session)
}

// markUsed updates LastUsed of j's session, saves the task and the session, and returns the session.
func (m *Manager) markUsed(ctx context.Context, j *queuedTask) (s Session, err error) {
	m.mu.Lock()
	j.live.LastUsed = time.Now()
	j.rec = j.live.secrets.MaskTask(j.rec)
	m.mu.Unlock()
	err = m.saveWith(ctx, j.live, func(ctx context.Context, now Session) error {
		s = now
		return m.Store.SaveTask(ctx, j.rec, now)
	})
	return s, err
}

// recordStep counts a step, stores it and publishes it.
func (m *Manager) recordStep(ctx context.Context, j *queuedTask, step *Step) error {
	step.At = time.Now()
	fresh := m.hideSecrets(j, step)
	j.totals.numberStep(step)
	if step.Kind == StepAnswer || step.Kind == StepNotice {
		step.Phase = PhaseDone
	}
	if step.Phase == PhaseDone {
		j.rec.Usage = j.rec.Usage.Add(step.Usage)
		if step.Kind == StepAct {
			j.rec.Steps++
		}
	}
	m.mu.Lock()
	j.live.applyStep(*step)
	m.mu.Unlock()
	views := m.Limits().Views
	err := m.saveWith(ctx, j.live, func(ctx context.Context, s Session) error {
		kept := *step
		if views <= 0 {
			kept.View = nil
		}
		return m.Store.SaveStep(ctx, j.rec, s, kept, views)
	})
	if err == nil && fresh {
		err = m.redactStored(ctx, j.live)
	}
	if err != nil {
		return &unkeptError{err}
	}
	m.publish(j, step)
	return nil
}

// applyStep updates the session with a step.
func (s *Session) applyStep(step Step) {
	s.LastUsed = step.At
	if step.URL != "" {
		s.URL, s.Title = step.URL, step.Title
	}
	if step.Memory != nil {
		s.Memory = step.Memory
	}
	if step.Phase == PhaseDone {
		s.Usage = s.Usage.Add(step.Usage)
		if step.Kind == StepAct {
			s.Steps++
		}
	}
}

// unkeptError says that a step could not be stored.
type unkeptError struct{ err error }

func (e *unkeptError) Error() string {
	text := e.err.Error()
	if fault, ok := errors.AsType[*StoreError](e.err); ok {
		text = fault.Text
	}
	return "what was done could not be written down: " + text
}
func (e *unkeptError) Unwrap() error { return e.err }

// finish stores and publishes the outcome of j, and frees what it held.
func (m *Manager) finish(ctx context.Context, j *queuedTask, out runOutcome) {
	j.rec.Position, j.rec.Shortage, j.rec.Ended = 0, "", time.Now()
	j.rec.State, j.rec.Reason = finalState(ctx, out)
	closed := false
	if a := out.answer; a != nil {
		j.rec.Answer, j.rec.Images, j.rec.Closed = a.Text, a.Images, a.Closed
		closed = a.Closed
	}
	m.mu.Lock()
	j.inboxClosed = true
	for _, n := range j.inbox.Drain() {
		if !n.TookOver {
			j.rec.Late = append(j.rec.Late, n.Text)
		}
	}
	j.rec.Downloads = j.downloads
	l := j.live
	typed := len(l.secrets.words) > 0
	secrets, _ := l.secrets.With(j.likely...)
	j.rec = secrets.MaskTask(j.rec)
	switch {
	case l.State == SessionClosed:
	case closed:
		l.State, l.Shared = SessionClosed, false
		l.endControl(errSessionClosed)
		l.stopAll(&cancel.Cause{Reason: cancel.Stopped, Detail: "the task before it closed the session"})
	case j.started && out.released == nil:
		l.State = SessionIdle
	}
	if out.released == nil {
		l.releasePage()
	}
	if j.started {
		l.LastUsed = j.rec.Ended
	} else {
		m.queue.remove(j) // so that it is not started now
	}
	m.mu.Unlock()
	end := &taskEnd{rec: j.rec, live: l, typed: typed}
	if err := m.saveEnd(ctx, end); err != nil {
		m.Logger.Error("writing down the end of a task failed, and is tried again",
			"task", j.rec.ID, "state", j.rec.State, "err", err)
		m.mu.Lock()
		l.pins++ // keeps it from being loaded from the store again
		m.mu.Unlock()
		m.background.Go(func() { m.saveEndLater(context.WithoutCancel(ctx), end) })
	}
	held := out.released != nil
	if held {
		m.background.Go(func() { m.awaitBackend(context.WithoutCancel(ctx), j, out.released) })
	}
	if closed {
		m.background.Go(func() { m.closeWhenFree(context.WithoutCancel(ctx), l, SessionClosed) })
	}
	m.endJob(j, held)
	j.handle.End()
	m.publish(j, nil)
}

// taskEnd is the data to store at the end of a task.
type taskEnd struct {
	rec   TaskRecord
	live  *liveSession
	typed bool // passwords were typed
}

// saveEnd stores the end of a task. If passwords were typed, it also redacts them from what is already stored, such
// as notes from people.
func (m *Manager) saveEnd(ctx context.Context, e *taskEnd) error {
	err := m.saveWith(ctx, e.live, func(ctx context.Context, s Session) error { return m.Store.SaveTask(ctx, e.rec, s) })
	if e.typed {
		err = errors.Join(err, m.redactStored(ctx, e.live))
	}
	return err
}

// saveEndLater retries until the end of the task is stored. Without it the store would list an ended task as running
// until the next start. When the Manager is closed, it tries once more and gives up.
func (m *Manager) saveEndLater(ctx context.Context, e *taskEnd) {
	defer m.unpin(e.live)
	var err error
	for wait, closing := storeRetry, false; !closing; wait = min(2*wait, storeRetryMost) {
		select {
		case <-m.quit:
			closing = true
		case <-time.After(wait):
		}
		if err = m.saveEnd(ctx, e); err == nil {
			m.Logger.Info("the end of a task is written down now", "task", e.rec.ID, "state", e.rec.State)
			return
		}
	}
	m.Logger.Error("the end of a task is not written down", "task", e.rec.ID, "state", e.rec.State, "err", err)
}

// awaitBackend waits for a backend that did not release its session in time. The session starts no task until it has.
func (m *Manager) awaitBackend(ctx context.Context, j *queuedTask, gone <-chan struct{}) {
	id, runtime := j.live.ID, j.live.Runtime
	m.Logger.Warn("a backend did not release its session in time", "session", id, "runtime", runtime, "task", j.rec.ID)
	<-gone
	m.Logger.Info("the backend has released its session", "session", id, "runtime", runtime)
	m.mu.Lock()
	if j.live.State == SessionRunning {
		j.live.State = SessionIdle
	}
	j.live.releasePage()
	m.mu.Unlock()
	if err := m.saveSession(ctx, j.live); err != nil {
		m.Logger.Error("saving a session failed", "session", id, "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	j.live.release()
	m.dropUnused(j.live)
	m.dispatch()
}

// finalState returns the final state of a task and the reason to show to people.
func finalState(ctx context.Context, out runOutcome) (TaskState, string) {
	if a := out.answer; a != nil && out.err == nil {
		if a.Limit != "" {
			return TaskLimited, a.Limit
		}
		if a.Failed {
			return TaskFailed, "" // the answer says why
		}
		return TaskDone, ""
	}
	if _, ok := errors.AsType[*unkeptError](out.err); ok {
		return TaskFailed, out.err.Error()
	}
	var c *cancel.Cause
	if !errors.As(out.err, &c) && ctx.Err() != nil {
		c = causeOf(ctx)
	}
	switch {
	case c == nil:
		return TaskFailed, out.err.Error()
	case c.Reason == cancel.ShuttingDown:
		return TaskInterrupted, "stopped by the restart of clank"
	case c.Reason == cancel.BudgetSpent, c.Reason == cancel.TimedOut:
		return TaskLimited, c.Error()
	}
	return TaskStopped, c.Error()
}

// causeOf returns why ctx ended. It must have ended.
func causeOf(ctx context.Context) *cancel.Cause {
	if c := cancel.CauseOf(ctx, nil); c != nil {
		return c
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return &cancel.Cause{Reason: cancel.TimedOut}
	}
	return &cancel.Cause{Reason: cancel.Gone}
}
