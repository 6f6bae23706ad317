package agent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"clank/llm"
	"clank/sessions/agent"
)

func TestAnAnswerThatComesSlowlyIsWaitedForAndSilenceIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := errors.New("silence")
		ctx, end := agent.LimitSilence(t.Context(), 30*time.Second, late)
		defer end()
		for range 10 {
			<-time.After(20 * time.Second)
			llm.ReportProgress(ctx)
		}
		begun := time.Now()
		<-ctx.Done()
		if took := time.Since(begun); took != 30*time.Second || !errors.Is(context.Cause(ctx), late) {
			t.Errorf("it ended after %v: %v", took, context.Cause(ctx))
		}
	})
}
