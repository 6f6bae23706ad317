package agent

import (
	"context"
	"time"

	"clank/llm"
)

// LimitSilence returns a context for a model call that ends with the cause late when no part of the answer has
// arrived for limit. The caller must call the CancelFunc.
func LimitSilence(ctx context.Context, limit time.Duration, late error) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { end(late) })
	return llm.WithProgress(ctx, func() { timer.Reset(limit) }), func() {
		timer.Stop()
		end(nil)
	}
}
