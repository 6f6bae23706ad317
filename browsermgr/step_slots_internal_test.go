package browsermgr

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stepAskers are steps that ask for one of limit slots.
type stepAskers struct {
	limit int
	slots stepSlots

	mu    sync.Mutex
	names []string // of those that got one, in order
}

// ask asks for a slot and keeps it for a while on the bubble's clock. The channel receives the error that ends the
// wait.
func (a *stepAskers) ask(ctx context.Context, name string, keep time.Duration) <-chan error {
	failed := make(chan error, 1)
	go func() {
		end, err := a.slots.begin(ctx, a.limit)
		if err != nil {
			failed <- err
			return
		}
		a.mu.Lock()
		a.names = append(a.names, name)
		a.mu.Unlock()
		<-time.After(keep)
		end()
	}()
	synctest.Wait()
	return failed
}

// expect fails the test unless, after a while, exactly these have got a slot and so many are taken.
func (a *stepAskers) expect(t *testing.T, after time.Duration, names string, taken int) {
	t.Helper()
	<-time.After(after)
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slots.mu.Lock()
	defer a.slots.mu.Unlock()
	if got := strings.Join(a.names, " "); got != names || a.slots.taken != taken {
		t.Errorf("%s got a slot and %d are taken, want %s and %d", got, a.slots.taken, names, taken)
	}
}

func TestStepsBeginInTheOrderOfTheirRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stepAskers{limit: 2}
		a.ask(t.Context(), "Ada", 20*time.Millisecond)
		a.ask(t.Context(), "Bob", 40*time.Millisecond)
		a.ask(t.Context(), "Cyd", 60*time.Millisecond)
		a.ask(t.Context(), "Dan", 5*time.Millisecond)
		a.expect(t, 10*time.Millisecond, "Ada Bob", 2)
		a.expect(t, 20*time.Millisecond, "Ada Bob Cyd", 2)
		a.expect(t, 11*time.Millisecond, "Ada Bob Cyd Dan", 2)
		a.expect(t, time.Minute, "Ada Bob Cyd Dan", 0)
	})
}

func TestALongStepLosesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stepAskers{limit: 1}
		a.ask(t.Context(), "Ada", time.Minute)
		a.ask(t.Context(), "Bob", time.Millisecond)
		a.expect(t, stepSlotLimit-time.Millisecond, "Ada", 1)
		a.expect(t, time.Millisecond, "Ada Bob", 1)
		a.expect(t, 2*time.Minute, "Ada Bob", 0)
	})
}

func TestAStepStoppedWhileItWaitsTakesNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &stepAskers{limit: 1}
		ctx, stop := context.WithCancelCause(t.Context())
		a.ask(t.Context(), "Ada", 20*time.Millisecond)
		failed := a.ask(ctx, "Bob", 20*time.Millisecond)
		a.ask(t.Context(), "Cyd", 20*time.Millisecond)
		stopped := errors.New("stopped by Cyd")
		stop(stopped)
		if err := <-failed; !errors.Is(err, stopped) {
			t.Errorf("the wait ends with %v, want %v", err, stopped)
		}
		a.expect(t, 25*time.Millisecond, "Ada Cyd", 1)
		a.expect(t, time.Minute, "Ada Cyd", 0)
	})
}

func TestASlotGivenToAStoppedStepGoesToTheNext(t *testing.T) {
	t.Parallel()
	given, next := make(chan struct{}), make(chan struct{})
	s := stepSlots{taken: 1, waiting: []chan struct{}{next}}
	s.leave(given) // which does not wait any more
	select {
	case <-next:
	default:
		t.Error("the slot is lost")
	}
	if s.taken != 1 {
		t.Errorf("%d slots are taken, want 1", s.taken)
	}
}
