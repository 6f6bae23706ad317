package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxPendingNotes is how many notes may wait for a task's backend.
const maxPendingNotes = 20

// SendNote sends a message to a queued or running task: its backend reads it before its next model call. id is that
// of the task or of its session; a session's id stands for the task that runs there, or else for the next one. The
// owner of the task and moderators ([Origin.Moderator]) may send notes; to a private task, only its owner. SendNote
// returns the id of the task. Its error wraps one of the sentinels of this package: for a task that has ended it is
// [ErrNotFound], with a text that says how to continue.
//
// Notes are recorded as notices among the steps when the backend reads them.
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

// deliverNote puts a note into the task's inbox, if the task is in memory and accepts notes.
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
		return "", false, nil // nobody else needs to know that it exists
	default:
		return "", false, refuse(ErrNotOwner, "task %s belongs to %s, so only they or a moderator can tell it something",
			j.rec.ID, o.RequesterName())
	}
	if j.inbox.Len() >= maxPendingNotes {
		return "", false, refuse(ErrQueueFull, "%d things that were said to task %s have not been heard yet; wait for its "+
			"next step", maxPendingNotes, j.rec.ID)
	}
	j.inbox.Add(Note{By: from.speakerName(), Text: text, At: time.Now()})
	return j.rec.ID, true, nil
}

// noteRecipient returns the task that id stands for and that accepts notes, or nil. The lock is held.
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

// noteError says why a note to id cannot be delivered.
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
		return refuse(ErrNotFound, "task %s is at its end, or another program works at it; go on with session %s", id,
			r.SessionID)
	case r.Closed:
		return refuse(ErrNotFound, "task %s has ended (%s), and its session is closed; start a new one", id, r.State)
	}
	return refuse(ErrNotFound, "task %s has ended (%s); to go on, start a task in its session %s", id, r.State,
		r.SessionID)
}

// sessionNoteError says why a note to a session cannot be delivered.
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

// recordLateNotes records notes that arrived too late for the task's backend, as a notice before the answer, so that
// they are not lost.
func (m *Manager) recordLateNotes(ctx context.Context, j *queuedTask, answer *Step) error {
	m.mu.Lock()
	j.inboxClosed = true
	notes := j.inbox.Drain()
	m.mu.Unlock()
	for _, n := range notes {
		text := n.String()
		if !n.TookOver {
			j.rec.Late = append(j.rec.Late, n.Text)
			if j.rec.Origin.Kind != FromDashboard { // the dashboard offers them as the next task
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

// acceptsNotesFrom reports whether a person at from may send notes to a task from o.
func (o Origin) acceptsNotesFrom(from Origin) bool {
	if (Session{Origin: o}).MayUse(from) {
		return true
	}
	return !o.Private && from.Moderates(o.Guild, o.Channel)
}

// speakerName returns the display name of the sender of a note.
func (o Origin) speakerName() string {
	if o.UserName != "" {
		return "@" + strings.TrimPrefix(o.UserName, "@")
	}
	return o.RequesterName()
}
