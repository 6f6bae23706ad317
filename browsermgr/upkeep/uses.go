package upkeep

import (
	"sync"
	"time"
)

// Uses counts the operations that run in a browser, and lets it end once. It is safe for concurrent use.
type Uses struct {
	mu     sync.Mutex
	ending chan struct{}
	ended  bool
	count  int
	last   time.Time
}

// NewUses is for a browser that is used from now on.
func NewUses() *Uses { return &Uses{ending: make(chan struct{}), last: time.Now()} }

// Enter begins an operation; false if the browser is ending. The caller ends it with Leave, or with Away.
func (u *Uses) Enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false
	}
	u.count++
	return true
}

// Leave ends an operation.
func (u *Uses) Leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
	u.last = time.Now()
}

// Away ends an operation that only looked: it keeps nobody from being idle.
func (u *Uses) Away() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count--
}

// End keeps new operations out. It is false if somebody else has begun to end the browser, or if idle is more than zero and
// the browser is in use or was used within that time.
func (u *Uses) End(idle time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended || idle > 0 && (u.count > 0 || time.Since(u.last) < idle) {
		return false
	}
	u.ended = true
	close(u.ending)
	return true
}

// Ending is closed when the browser is being ended.
func (u *Uses) Ending() <-chan struct{} { return u.ending }
