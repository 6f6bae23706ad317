package fault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors for use with [errors.Is].
var (
	// ErrInvalid is wrapped if the request itself was malformed; nothing was done.
	ErrInvalid = errors.New("invalid request")
	// ErrUnknownRef is wrapped if a ref is not of the present document: it was never issued, its element is gone, or it
	// belongs to an earlier page.
	ErrUnknownRef = errors.New("Unknown ref") //nolint:staticcheck // clients of the control API match on this spelling
	// ErrNotInteractable is wrapped if an element could not be acted upon in time: it was covered, disabled, hidden or
	// moving. The text around it names the reason.
	ErrNotInteractable = errors.New("not interactable")
	// ErrUnavailable is wrapped if a browser could not be started or reached.
	ErrUnavailable = errors.New("browser unavailable")
)

// Invalidf returns an error for a malformed request that wraps [ErrInvalid]. The text is for the person who made the
// request.
func Invalidf(format string, args ...any) error {
	return &requestError{text: fmt.Sprintf(format, args...)}
}

type requestError struct{ text string }

func (e *requestError) Error() string { return e.text }
func (e *requestError) Unwrap() error { return ErrInvalid }

// UnknownRef returns the error for a ref that no snapshot of the present page has.
func UnknownRef(ref string) error {
	return fmt.Errorf("%w %s: no snapshot of this page has it; take a new snapshot", ErrUnknownRef, ref)
}

// VanishedRef returns the error for a ref whose element is no longer in the page.
func VanishedRef(ref string) error {
	return fmt.Errorf("%w %s: the element is gone from the page; take a new snapshot", ErrUnknownRef, ref)
}

// TimeLimitError is the cause of a context that ended because one of our own limits was exceeded. It wraps
// context.DeadlineExceeded.
type TimeLimitError struct {
	Limit time.Duration
	Unmet string // what did not happen in this time; "" if unknown
}

func (e *TimeLimitError) Error() string {
	return fmt.Sprintf("%s within %s", cmp.Or(e.Unmet, "not done"), e.Limit)
}

// Unwrap returns [context.DeadlineExceeded].
func (e *TimeLimitError) Unwrap() error { return context.DeadlineExceeded }
