package voice

import (
	"context"
	"sync"
)

// WaitGroupDone waits for wg, or until ctx ends, whose cause it then returns.
func WaitGroupDone(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
