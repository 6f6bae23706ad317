package sessions

import (
	"errors"
	"fmt"
)

// Why a task or a session was refused. Errors that wrap one of these have a text
// of their own, a sentence for people that also tells the way out.
var (
	ErrBadTask       = errors.New("the task cannot be done as it was asked")
	ErrDisabled      = errors.New("browsing is switched off in the settings")
	ErrNotFound      = errors.New("not found")
	ErrForbidden     = errors.New("not allowed here")
	ErrNotOwner      = errors.New("it belongs to somebody else")
	ErrSessionClosed = errors.New("the session is closed")
	ErrQueueFull     = errors.New("the line is full")
	ErrBudgetSpent   = errors.New("the hour's tasks are used up")
	ErrShuttingDown  = errors.New("the program is shutting down")
)

// refusal is one of the sentinels in the words of its case.
type refusal struct {
	is   error
	text string
}

func refuse(is error, format string, args ...any) error {
	return &refusal{is: is, text: fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.is }
