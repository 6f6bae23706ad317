package agent

import (
	"context"
	"time"

	"clank/llm"
)

// LimitSilence returns a context for a call of a model that ends, with the cause late, when nothing of the answer has
// come for so long.
func LimitSilence(ctx context.Context, limit time.Duration, late error) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { end(late) })
	return llm.WithProgress(ctx, func() { timer.Reset(limit) }), func() {
		timer.Stop()
		end(nil)
	}
}
