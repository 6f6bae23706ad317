package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxPendingNotes is how many notes may wait for a task's backend.
const maxPendingNotes = 20

// SendNote tells a task that runs or waits in line what somebody says to it: its backend hears it before its next
// question to the model. id is the task's, or that of its session; then the task is the one that works the session,
// or the next that will. It may be said by the owner of the task and by a moderator ([Origin.Moderator]); to a
// private one by its owner only. Say returns the id of the task. Its error wraps one of the sentinels of this
// package: a task that has ended is [ErrNotFound], in words that tell how to go on.
//
// What was said is recorded when it is heard, as a notice among the steps.
func (m *Manager) SendNote(ctx context.Context, id string, from Origin, text string) (taskID string, err error) {
	id = strings.ToLower(strings.TrimSpace(id))
	if text = strings.TrimSpace(text); text == "" {
		return "", refuse(ErrBadTask, "say something to the task")
	}
	if err := checkPrompt(text); err != nil {
		return "", err
	}
	if err := m.checkAccess(from); err != nil {
		return "", err
	}
	taskID, found, err := m.deliverNote(id, from, text)
	if found || err != nil {
		return taskID, err
	}
	return "", m.noteError(ctx, id, from)
}

// deliverNote puts what is said into the inbox of the task, if it is there and listens.
func (m *Manager) deliverNote(id string, from Origin, text string) (taskID string, found bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.noteRecipient(id)
	if j == nil {
		return "", false, nil
	}
	switch o := j.rec.Origin; {
	case o.acceptsNotesFrom(from):
	case o.Private:
		return "", false, nil // nobody else needs to know of it
	default:
		return "", false, refuse(ErrNotOwner, "task %s belongs to %s, so only they or a moderator can tell it something", j.rec.ID, o.RequesterName())
	}
	if j.inbox.Len() >= maxPendingNotes {
		return "", false, refuse(ErrQueueFull, "%d things that were said to task %s have not been heard yet; wait for its next step", maxPendingNotes, j.rec.ID)
	}
	j.inbox.Add(Note{By: from.speakerName(), Text: text, At: m.Now()})
	return j.rec.ID, true, nil
}

// noteRecipient returns the task that id names and that can hear. The lock is held.
func (m *Manager) noteRecipient(id string) *queuedTask {
	var next *queuedTask
	for _, l := range m.live {
		for _, j := range l.tasks {
			switch {
			case j.inboxClosed:
			case j.rec.ID == id:
				return j
			case l.ID == id && (next == nil || j.started):
				next = j
			}
		}
	}
	return next
}

// noteError says why nobody hears what is said to id.
func (m *Manager) noteError(ctx context.Context, id string, from Origin) error {
	r, err := m.Store.Task(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return m.sessionNoteError(ctx, id, from)
	}
	switch {
	case err != nil:
		return fmt.Errorf("look up task %q: %w", id, err)
	case !r.Origin.acceptsNotesFrom(from):
		return refuse(ErrNotFound, "there is no task or session %q that you could tell something", id)
	case !r.State.Final():
		return refuse(ErrNotFound, "task %s is at its end, or another program works at it; go on with session %s", id, r.SessionID)
	case r.Closed:
		return refuse(ErrNotFound, "task %s has ended (%s), and its session is closed; start a new one", id, r.State)
	}
	return refuse(ErrNotFound, "task %s has ended (%s); to go on, start a task in its session %s", id, r.State, r.SessionID)
}

// sessionNoteError says why nobody hears what is said to a session.
func (m *Manager) sessionNoteError(ctx context.Context, id string, from Origin) error {
	s, err := m.Store.Session(ctx, id)
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return fmt.Errorf("look up session %q: %w", id, err)
	case err != nil, !s.Origin.acceptsNotesFrom(from):
		return refuse(ErrNotFound, "there is no task or session %q that you could tell something", id)
	case s.State == SessionClosed:
		return refuse(ErrNotFound, "session %s is closed; start a new one", id)
	}
	return refuse(ErrNotFound, "nothing runs in session %s; to go on, start a task in it", id)
}

// recordLateNotes keeps what was said too late for the task's backend from being lost:
// it is recorded as a notice before the answer.
func (m *Manager) recordLateNotes(ctx context.Context, j *queuedTask, answer *Step) error {
	m.mu.Lock()
	j.inboxClosed = true
	notes := j.inbox.Drain()
	m.mu.Unlock()
	for _, n := range notes {
		text := n.String()
		if !n.TookOver {
			j.rec.Late = append(j.rec.Late, n.Text)
			if j.rec.Origin.Kind != FromDashboard { // where it is the next task
				text += " " + j.rec.Origin.Locale.T("(too late for this task: ask again)")
			}
		}
		if err := m.recordStep(ctx, j, &Step{N: answer.N, Kind: StepNotice, Label: text, Text: text}); err != nil {
			return err
		}
		answer.N++
	}
	return nil
}

// acceptsNotesFrom reports whether somebody at from may tell a task from o something.
func (o Origin) acceptsNotesFrom(from Origin) bool {
	if (Session{Origin: o}).MayUse(from) {
		return true
	}
	return !o.Private && from.Moderates(o.Guild, o.Channel)
}

// speakerName returns what people call the speaker at o.
func (o Origin) speakerName() string {
	if o.UserName != "" {
		return "@" + strings.TrimPrefix(o.UserName, "@")
	}
	return o.RequesterName()
}
