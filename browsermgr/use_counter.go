package browsermgr

import (
	"sync"
	"time"
)

// UseCounter counts the operations that run in a browser, and lets it end once. It is safe for concurrent use.
type UseCounter struct {
	mu     sync.Mutex
	ending chan struct{}
	ended  bool
	count  int
	last   time.Time
}

// NewUseCounter returns a counter for a browser whose use starts now.
func NewUseCounter() *UseCounter { return &UseCounter{ending: make(chan struct{}), last: time.Now()} }

// Acquire begins an operation; false if the browser is ending. The caller ends it with Leave, or with Away.
func (u *UseCounter) Acquire() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false
	}
	u.count++
	return true
}

// Release ends an operation.
func (u *UseCounter) Release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.last = time.Now()
}

// ReleaseUnused ends an operation that only looked: it keeps nobody from being idle.
func (u *UseCounter) ReleaseUnused() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
}

// TryEnd keeps new operations out. It is false if somebody else has begun to end the browser, or if idle is more than zero and
// the browser is in use or was used within that time.
func (u *UseCounter) TryEnd(idle time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || idle > 0 && (u.count > 0 || time.Since(u.last) < idle) {
		return false
	}
	u.ended = true
	close(u.ending)
	return true
}

// Ending returns a channel that is closed when the browser starts to end.
func (u *UseCounter) Ending() <-chan struct{} { return u.ending }
