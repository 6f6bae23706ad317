package web

import (
	"context"
	"sync"
)

// maxParsedBytes is how many bytes of pages are parsed at a time, by all readings together. A parsed page takes up to
// twenty times its bytes.
const maxParsedBytes = 32 << 20

var parsing = byteRoom{free: maxParsedBytes}

// byteRoom lets work begin as long as it is not too large together. Work that is larger than the whole has it alone.
type byteRoom struct {
	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when there is more
}

// enter waits for so many bytes. Its error is why ctx has ended.
func (r *byteRoom) enter(ctx context.Context, bytes int64) (leave func(), err error) {
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

func (r *byteRoom) give(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free += bytes
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}
