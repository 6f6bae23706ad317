package budget

import (
	"context"
	"time"

	"clank/llm"
)

// timeSlice is the running time that a task reserves at once. If the program ends meanwhile, it counts as spent.
const timeSlice = 30 * time.Second

// startClock charges running time until stop is called, and calls end when the budget is exhausted. It fails if there
// is no time left at the start.
func (w *taskRun) startClock(ctx context.Context, end context.CancelCauseFunc) (stop func(), err error) {
	id, slice, err := w.takeTime(ctx)
	if err != nil {
		return nil, err
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		w.tick(ctx, id, slice, end, quit)
	}()
	return func() { close(quit); <-done }, nil
}

// tick reserves one slice after another until quit is closed or no time is left.
func (w *taskRun) tick(ctx context.Context, id int64, slice time.Duration, end context.CancelCauseFunc,
	quit <-chan struct{},
) {
	for {
		started := time.Now()
		select {
		case <-quit:
			w.enforcer.settle(ctx, id, Amount{Time: min(time.Since(started), slice)}, StateSettled, false)
			return
		case <-time.After(slice):
			w.enforcer.settle(ctx, id, Amount{Time: slice}, StateSettled, false)
		}
		var err error
		if id, slice, err = w.takeTime(ctx); err != nil {
			end(err)
			return
		}
	}
}

// takeTime reserves the next slice, or what is left of it.
func (w *taskRun) takeTime(ctx context.Context) (id int64, slice time.Duration, err error) {
	slice = timeSlice
	left, limited, err := w.enforcer.timeLeft(ctx, w.account)
	if err != nil {
		return 0, 0, err
	}
	if limited && left > 0 {
		slice = min(slice, left)
	}
	id, err = w.enforcer.reserve(ctx, w.account, w.model, Amount{Time: slice}, false)
	return id, slice, err
}

// timeLeft returns the lowest time left under any limit.
func (k *Enforcer) timeLeft(ctx context.Context, a llm.Account) (left time.Duration, limited bool, err error) {
	lines, err := k.Status(ctx, a)
	if err != nil {
		return 0, false, err
	}
	for _, l := range lines {
		if l.Limit.Time <= 0 {
			continue
		}
		rest := l.Limit.Time - l.Spent.Time
		if !limited || rest < left {
			left, limited = rest, true
		}
	}
	return left, limited, nil
}
