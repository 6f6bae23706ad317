package talk

import (
	"context"
	"sync"
)

// maxOffered is how much may wait before sound is dropped: some seconds of several people.
const maxOffered = 2048

// inbox holds what the goroutines of a call have for its loop, in order. Nobody who puts something in waits.
type inbox struct {
	wake chan struct{} // holds one while something waits

	mu    sync.Mutex
	queue []func(context.Context)
}

func newInbox() inbox { return inbox{wake: make(chan struct{}, 1)} }

func (b *inbox) put(f func(context.Context)) {
	b.mu.Lock()
	b.queue = append(b.queue, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// offer is put for what may be lost.
func (b *inbox) offer(f func(context.Context)) {
	b.mu.Lock()
	full := len(b.queue) >= maxOffered
	b.mu.Unlock()
	if !full {
		b.put(f)
	}
}

func (b *inbox) take() []func(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queue
	b.queue = nil
	return q
}
