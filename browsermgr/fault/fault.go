package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Sentinels for the cases where a caller has to choose what to do next.
var (
	// ErrInvalid says that the request itself was malformed; nothing was done.
	ErrInvalid = errors.New("invalid request")
	// ErrUnknownRef says that a ref names no element of the present document: never issued, gone, or of an earlier
	// page.
	ErrUnknownRef = errors.New("Unknown ref") //nolint:staticcheck // clients of the control API match on this spelling
	// ErrNotInteractable says that an element was found but could not be acted upon in time: covered, disabled, hidden
	// or moving. The text around it names the reason.
	ErrNotInteractable = errors.New("not interactable")
	// ErrUnavailable says that a browser could not be started or reached.
	ErrUnavailable = errors.New("browser unavailable")
)

// Invalidf reports a malformed request, as an error that wraps [ErrInvalid]. The text is for the person who made it.
func Invalidf(format string, args ...any) error {
	return &requestError{text: fmt.Sprintf(format, args...)}
}

type requestError struct{ text string }

func (e *requestError) Error() string { return e.text }
func (e *requestError) Unwrap() error { return ErrInvalid }

// UnknownRef reports a ref that no snapshot of the present page has.
func UnknownRef(ref string) error {
	return fmt.Errorf("%w %s: no snapshot of this page has it; take a new snapshot", ErrUnknownRef, ref)
}

// VanishedRef reports a ref whose element has left the page.
func VanishedRef(ref string) error {
	return fmt.Errorf("%w %s: the element is gone from the page; take a new snapshot", ErrUnknownRef, ref)
}

// TimeLimitError is the cause of a context that ended because a limit of ours was over. It wraps
// context.DeadlineExceeded.
type TimeLimitError struct{ Limit time.Duration }

func (e *TimeLimitError) Error() string { return fmt.Sprintf("not done within %s", e.Limit) }

// Unwrap lets errors.Is find [context.DeadlineExceeded].
func (e *TimeLimitError) Unwrap() error { return context.DeadlineExceeded }
