package llm

import (
	"context"
	"fmt"
	"time"
)

// ErrorKind sorts failures by what can be done about them.
type ErrorKind string

// The kinds of failure.
const (
	ErrAuth        ErrorKind = "auth"         // the key is missing, wrong or not allowed
	ErrNotFound    ErrorKind = "not_found"    // no such model or endpoint
	ErrRateLimited ErrorKind = "rate_limited" // too many requests, or the quota is spent
	ErrTimeout     ErrorKind = "timeout"      // no answer within the deadline
	ErrUnavailable ErrorKind = "unavailable"  // cannot be reached, or answered 5xx
	ErrRejected    ErrorKind = "rejected"     // the request was refused as invalid
	ErrCutOff      ErrorKind = "cut_off"      // the answer ended in the middle
	ErrMalformed   ErrorKind = "malformed"    // the answer could not be understood
	ErrBudgetSpent ErrorKind = "spent"        // the budget allows no further call; nothing was sent
)

// Error is a failed call of a model. Its text is fit for a person to read: it
// names the model, what went wrong and what to do, and holds no secret.
type Error struct {
	Kind       ErrorKind
	Model      string        // as [Model.Name] gives it
	Status     int           // HTTP status, 0 if there was none
	Message    string        // what happened, in a few words
	Hint       string        // what the person can do; may be empty
	RetryAfter time.Duration // how long the vendor asked to wait; 0 if it did not say
	Err        error         // the cause, for logs; may be nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s: %s", e.Model, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

type retryApprovalKey struct{}

// WithRetryApproval returns a context whose model calls ask again before they are tried
// once more by themselves. The cause is why the previous try failed. An error of again
// ends the call, and is its error. Again is called on the goroutine of the call.
func WithRetryApproval(ctx context.Context, again func(cause error) error) context.Context {
	return context.WithValue(ctx, retryApprovalKey{}, again)
}

// ApproveRetry asks the function of [WithRetryApproval], if there is one, whether a call that failed with
// cause may be tried once more. Models call it before each repeated try.
func ApproveRetry(ctx context.Context, cause error) error {
	again, _ := ctx.Value(retryApprovalKey{}).(func(error) error)
	if again == nil {
		return nil
	}
	return again(cause)
}
