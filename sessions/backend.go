package sessions

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Approver asks people for approval. The program that wires a [Backend] implements it.
type Approver interface {
	// Ask returns the decision in a few words ("allowed by @ada"; "" if nobody had to be asked), or an error whose
	// text says who or what refused. It may take a minute. ctx ends with the task.
	Ask(ctx context.Context, s Session, t Task, q Question) (decision string, err error)
}

// Question describes what an action is about to cause.
type Question struct {
	Classes    []string // such as "buy" and "submit", the most serious first; never empty
	Text       string   // in our own words
	Detail     string   // in the words of a page or a model: untrusted
	Origin     string   // of the page
	TargetHost string   // the host that the action contacts, if not the page's
	Literal    bool     // the prompt asks for exactly this; [Task.Typed] says whether a person typed the prompt
}

// Note is a message to a running task.
type Note struct {
	By       string // display name of the sender
	Text     string
	TookOver bool // no message: By has controlled the page meanwhile
	At       time.Time
}

// String returns the note for people: "@ada says: the red one".
func (n Note) String() string {
	if n.TookOver {
		return n.By + " has worked the page; what is open there now may be something else"
	}
	return n.By + " says: " + n.Text
}

// Inbox holds messages for a running task until its [Backend] drains it before the next model call. Its methods are
// safe for concurrent use; a nil Inbox is always empty.
type Inbox struct {
	mu    sync.Mutex
	notes []Note
}

// Add adds a note.
func (i *Inbox) Add(n Note) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.notes = append(i.notes, n)
}

// Len returns the number of notes in the inbox.
func (i *Inbox) Len() int {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.notes)
}

// TookOver reports whether a person has controlled the page and the backend has not read that yet. Actions that its
// model chose before must not be executed then.
func (i *Inbox) TookOver() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.notes, func(n Note) bool { return n.TookOver })
}

// DrainTakeOvers removes and returns only the notes about taking control.
func (i *Inbox) DrainTakeOvers() (notes []Note) {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.notes = slices.DeleteFunc(i.notes, func(n Note) bool {
		if n.TookOver {
			notes = append(notes, n)
		}
		return n.TookOver
	})
	return notes
}

// Drain removes and returns all notes, oldest first.
func (i *Inbox) Drain() []Note {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	notes := i.notes
	i.notes = nil
	return notes
}

// HandOverError ends the steps of a [Backend] that leaves the rest of its task to another runtime. The Manager
// continues with that runtime, on the same page.
type HandOverError struct {
	Runtime string // the runtime to continue with
	Summary string // for the next model: what was done, what is left
}

func (e *HandOverError) Error() string { return "handed over to " + e.Runtime + ": " + e.Summary }
