package web

import (
	"context"
	"sync"
)

// maxParsedBytes is the number of bytes of pages that are parsed at the same time, by all readers. A parsed page
// takes up to twenty times its size.
const maxParsedBytes = 32 << 20

var parsing = byteLimiter{free: maxParsedBytes}

// byteLimiter limits the total size of concurrent work. Work larger than the limit runs alone.
type byteLimiter struct {
	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when space is released
}

// enter waits until bytes are available. It fails only when ctx ends, with the cause.
func (r *byteLimiter) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	bytes = min(bytes, maxParsedBytes)
	for {
		r.mu.Lock()
		if bytes <= r.free {
			r.free -= bytes
			r.mu.Unlock()
			return func() { r.give(bytes) }, nil
		}
		if r.freed == nil {
			r.freed = make(chan struct{})
		}
		freed := r.freed
		r.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (r *byteLimiter) give(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += bytes
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}
