package sessions

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Approver asks people whether something may be done. It is implemented by the program that wires a [Backend].
type Approver interface {
	// Ask returns what was decided, in a few words ("allowed by @ada"; "" if nobody had to be asked), or an error
	// whose text says who or what said no. It may take a minute. ctx ends with the task.
	Ask(ctx context.Context, s Session, t Task, q Question) (decision string, err error)
}

// Question tells people what an action is about to set off.
type Question struct {
	Classes    []string // such as "buy" and "submit", the weightiest first; never empty
	Text       string   // in our words
	Detail     string   // in the words of a page or a model: untrusted
	Origin     string   // of the page
	TargetHost string   // the host it leads to, if that is another one
	Literal    bool     // it is what the task's prompt says, word for word; whether a person typed that is [Task.Typed]
}

// Note is something said to a task that runs.
type Note struct {
	By       string // who said it, as people read it
	Text     string
	TookOver bool // nothing was said: By has worked the page meanwhile
	At       time.Time
}

// String returns the note as people read it: "@ada says: the red one".
func (n Note) String() string {
	if n.TookOver {
		return n.By + " has worked the page; what is open there now may be something else"
	}
	return n.By + " says: " + n.Text
}

// Inbox holds what was said to a running task until its [Backend] takes it before its next question to the model. Its
// methods are safe for concurrent use; a nil Inbox is always empty.
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

// Len returns how many notes were not yet taken.
func (i *Inbox) Len() int {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.notes)
}

// TookOver reports whether somebody has worked the page and the backend does not know it yet. What its model has decided
// before must not be done then.
func (i *Inbox) TookOver() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.ContainsFunc(i.notes, func(n Note) bool { return n.TookOver })
}

// DrainTakeOvers returns, of what was not yet taken, the take-overs.
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

// Drain returns what was not yet taken, in the order in which it was said.
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

// HandOverError ends the steps of a [Backend] that leaves the rest of its task
// to another runtime. The Manager goes on with that one, on the same page.
type HandOverError struct {
	Runtime string // to which
	Summary string // what the next mind should know: what was done, what is left
}

func (e *HandOverError) Error() string { return "handed over to " + e.Runtime + ": " + e.Summary }
