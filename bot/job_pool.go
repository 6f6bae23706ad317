package bot

import (
	"context"
	"fmt"
	"sync"
)

// maxShortJobs limits short jobs, such as replies to stop words and buttons, which do not count as work.
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

// Open sets the maximum number of concurrent pieces of work.
func (j *JobPool) Open(most int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.max, j.closed = most, false
}

// Start runs f in a goroutine, as work or as a short job; it reports false if there are too many, or the bot is
// closing.
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

// Close refuses further jobs.
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
