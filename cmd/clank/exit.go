package main

import "fmt"

// Exit codes. A shell expects 130 after an interrupt; 124 is that of timeout(1).
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitLimited      = 3 // a task ended at a limit
	exitNotListening = 3 // nobody listens where a server was named
	exitDiffers      = 4 // a replay came out otherwise than the record
	exitNotFound     = 4 // no such tab, profile or ref
	exitRefused      = 5 // by the policy, or for the lack of the right secret
	exitTimeout      = 124
	exitStopped      = 130
)

// usageError says that a command was used wrongly.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

// Unwrap returns what was wrong.
func (e *usageError) Unwrap() error { return e.cause }

// usagef makes a [usageError] as [fmt.Errorf] would.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitError ends the program with Code. What there was to say has been said if
// Err is nil.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *exitError) Unwrap() error { return e.Err }
