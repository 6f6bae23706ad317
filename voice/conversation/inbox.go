package conversation

import (
	"context"
	"sync"
)

// maxOffered is how much may wait before what is only offered is dropped: some seconds of sound of several people.
const maxOffered = 2048

// Inbox holds what goroutines have for one that owns the state they concern, in order. Its methods are safe for concurrent use.
type Inbox struct {
	wake chan struct{} // holds one while something waits

	mu    sync.Mutex
	queue []func(context.Context)
}

// NewInbox makes an empty one.
func NewInbox() *Inbox { return &Inbox{wake: make(chan struct{}, 1)} }

// Wake yields when something was put in since the last Take.
func (b *Inbox) Wake() <-chan struct{} { return b.wake }

// Put has f done in its turn.
func (b *Inbox) Put(f func(context.Context)) {
	b.mu.Lock()
	b.queue = append(b.queue, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Offer puts f in the inbox as Put does, but may drop it.
func (b *Inbox) Offer(f func(context.Context)) {
	b.mu.Lock()
	full := len(b.queue) >= maxOffered
	b.mu.Unlock()
	if !full {
		b.Put(f)
	}
}

// Drain takes out all that is there, for the owner to do.
func (b *Inbox) Drain() []func(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queue
	b.queue = nil
	return q
}
