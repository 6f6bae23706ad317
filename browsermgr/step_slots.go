package browsermgr

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// stepsPerProcessor limits how many steps run at once for each processor. That many keep it busy while some of
	// them wait for the network or the next frame.
	stepsPerProcessor = 6
	// stepSlotLimit is how long a step keeps its slot. A longer one mostly waits for a server or a person, and must
	// not hold up others.
	stepSlotLimit = time.Second
)

// stepSlots limits how many steps run at once, first come, first served. Without a limit all steps share the
// processors, so each takes as long as all of them together, and a large one many times longer than a small one. Its
// methods are safe for concurrent use.
type stepSlots struct {
	mu      sync.Mutex
	taken   int
	waiting []chan struct{} // closed when the slot is theirs
}

// BeginStep waits for a slot among the steps that run at once: an action and what is read of the page around it. The
// caller calls end when the step has ended. A step that takes long loses its slot before that. The error is the cause
// of ctx.
func (m *Manager) BeginStep(ctx context.Context) (end func(), err error) {
	return m.steps.begin(ctx, stepsPerProcessor*runtime.GOMAXPROCS(0))
}

// begin waits for one of limit slots.
func (s *stepSlots) begin(ctx context.Context, limit int) (end func(), err error) {
	s.mu.Lock()
	if s.taken < limit {
		s.taken++
		s.mu.Unlock()
		return s.hold(), nil
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.hold(), nil
	case <-ctx.Done():
		s.leave(turn)
		return nil, context.Cause(ctx)
	}
}

// hold returns a function that gives the slot back. After stepSlotLimit that happens by itself.
func (s *stepSlots) hold() (end func()) {
	pass := sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pass()
	})
	timer := time.AfterFunc(stepSlotLimit, pass)
	return func() {
		timer.Stop()
		pass()
	}
}

// pass gives a slot to the step that has waited longest. The caller holds s.mu.
func (s *stepSlots) pass() {
	if len(s.waiting) == 0 {
		s.taken--
		return
	}
	close(s.waiting[0])
	s.waiting = s.waiting[1:]
}

// leave stops waiting. A slot that was given in the meantime is passed on.
func (s *stepSlots) leave(turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, turn); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		return
	}
	s.pass()
}
