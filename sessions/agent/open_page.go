package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/sessions"
)

var errOpenedLate = errors.New("the browser did not open in time")

// OpenPage opens the page that is wanted, or, if that cannot be opened any
// more, an empty one; lost says why not. It takes at most limit.
func OpenPage(
	ctx context.Context, limit time.Duration, b sessions.Browser, want sessions.PageRequest,
) (p sessions.Page, restored bool, lost, err error) {
	if ctx.Err() != nil {
		return nil, false, nil, context.Cause(ctx)
	}
	opening, cancel := context.WithTimeoutCause(ctx, limit, errOpenedLate)
	defer cancel()
	p, restored, err = b.Open(opening, want)
	if err != nil && want.URL != "" && opening.Err() == nil {
		lost = err
		want.URL = ""
		p, restored, err = b.Open(opening, want)
	}
	if err != nil {
		return nil, false, nil, ContextError(ctx, fmt.Errorf("open the browser: %w", ContextError(opening, err)))
	}
	return p, restored || lost != nil, lost, nil
}

// ReopenedNotice returns the notice about a page that had been closed; lost is the reason if it could not be
// reopened at that address.
func ReopenedNotice(at string, lost error) string {
	if lost != nil {
		return fmt.Sprintf("the page had been closed and could not be opened again at %s (%v); the browser starts empty", at, lost)
	}
	return fmt.Sprintf("the page had been closed and was opened again at %s; what was entered on it may be lost", at)
}
