package bot

import (
	"context"
	"fmt"
	"sync"
)

// maxShortJobs bounds the short things that are done beside the work: answers to
// stop words and buttons.
const maxShortJobs = 256

// JobPool owns every goroutine that the bot starts for a dispatch. The order is Open, Start, Close, Wait.
type JobPool struct {
	mu        sync.Mutex
	closed    bool
	work      int
	shortJobs int
	max       int
	wg        sync.WaitGroup
}

// Open lets most pieces of work start at a time.
func (j *JobPool) Open(most int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.max, j.closed = most, false
}

// Start runs f in a goroutine, as work or as an errand; it reports false if
// there is too much already, or the bot is closing.
func (j *JobPool) Start(errand bool, f func()) bool {
	n, most := &j.work, j.max
	if errand {
		n, most = &j.shortJobs, maxShortJobs
	}
	j.mu.Lock()
	if j.closed || *n >= most {
		j.mu.Unlock()
		return false
	}
	*n++
	j.wg.Add(1)
	j.mu.Unlock()
	go func() {
		defer func() {
			j.mu.Lock()
			*n--
			j.mu.Unlock()
			j.wg.Done()
		}()
		f()
	}()
	return true
}

// Close lets nothing start any more.
func (j *JobPool) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
}

// Wait waits until everything has ended, at most until ctx ends.
func (j *JobPool) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends with the last job; each has its own deadlines
		j.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		j.mu.Lock()
		defer j.mu.Unlock()
		return fmt.Errorf("the bot still has %d pieces of work and %d errands: %w", j.work, j.shortJobs, context.Cause(ctx))
	}
}
