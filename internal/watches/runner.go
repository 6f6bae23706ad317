package watches

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"sync"
	"time"
)

const (
	catchUpGap     = 10 * time.Second // between looks that were due before the program started
	maxJitter      = time.Minute
	storeRetry     = time.Minute // after the store failed
	maxSleep       = time.Hour
	checkTimeout   = 2 * time.Minute // of one look
	defaultRecheck = 45 * time.Second
	defaultTotal   = 500
	concurrency    = 2 // pages read at the same time
)

// Limits bound what people may have watched.
type Limits struct {
	PerOwner    int           // active watches of one person; 0 = none, and those that there are rest
	Total       int           // of all people; 0 = 500
	MinInterval time.Duration // the shortest time between two looks
}

// JudgeQuestion is put to a judge: does what w waits for hold now?
type JudgeQuestion struct {
	Reading

	First          bool     // there was no look before
	Added, Removed []string // lines since the last one
}

// Verdict is the answer.
type Verdict struct {
	Met bool
	Why string // a sentence
}

// Host is what a [Runner] asks of the program. Its methods are safe for concurrent use.
type Host interface { //nolint:interfacebloat // one place for all of it
	// Read reads a page without a browser. [ErrNeedsBrowser] is the error of pages that this does not do for.
	Read(ctx context.Context, w Watch) (Reading, error)
	// Browse reads a page with a browser. Where there is none, its error is [ErrNeedsBrowser].
	Browse(ctx context.Context, w Watch) (Reading, error)
	// Judge asks a model whether a condition in words holds. It is asked only when the page has changed.
	Judge(ctx context.Context, w Watch, q JudgeQuestion) (Verdict, error)
	// CheckAllowed is nil if w may be looked at now. Otherwise w rests, and its owner is told of nothing, until a later look.
	CheckAllowed(ctx context.Context, w Watch) error
	// Notify tells the owner of w. It is called again later if it fails.
	Notify(ctx context.Context, w Watch, n Notice) error
	// Limits returns what the operator allows now.
	Limits() Limits
}

// Runner looks at pages when it is time. Set its fields, then call Run; the other methods may be used before, while
// and after it runs, from many goroutines.
type Runner struct {
	Store  Store
	Host   Host
	Logger *slog.Logger // nil is none
	// KeepFor returns how long watches that have ended are kept; 0, as with a nil KeepFor, is for ever.
	KeepFor func() time.Duration

	// RecheckAfter is how long after a change the page is read a second time: 45 seconds. What is different again by
	// then changes by itself.
	RecheckAfter time.Duration

	once  sync.Once
	wake  chan struct{} // something is new in the store
	slots chan struct{} // a place for each page that is read
}

func (r *Runner) initOnce() {
	r.once.Do(func() {
		r.wake, r.slots = make(chan struct{}, 1), make(chan struct{}, concurrency)
	})
}

// wakeRun has Run look at the store again.
func (r *Runner) wakeRun() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run looks at pages until ctx ends, and returns when all that it began has ended. Its error is the cause of ctx.
func (r *Runner) Run(ctx context.Context) error {
	r.initOnce()
	s := &schedule{running: make(map[string]bool), notBefore: make(map[string]time.Time)}
	defer s.work.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.wake:
		case <-timer.C:
		}
		timer.Reset(time.Until(r.startDue(ctx, s)))
	}
}

// schedule is what Run knows of the looks it has begun.
type schedule struct {
	work     sync.WaitGroup
	caughtUp bool
	pruned   time.Time

	mu        sync.Mutex
	running   map[string]bool
	notBefore map[string]time.Time // of what was due when the program started, and of what could not be written down
}

func (s *schedule) tryStart(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] {
		return false
	}
	s.running[id] = true
	return true
}

// finish lets a watch be taken again, after a while if its look could not be written down.
func (s *schedule) finish(id string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
	if failed {
		s.notBefore[id] = time.Now().Add(storeRetry)
	}
}

// startDue starts what is due, and returns when to come back.
func (r *Runner) startDue(ctx context.Context, s *schedule) time.Time {
	now := time.Now()
	next := now.Add(maxSleep)
	if r.Host.Limits().PerOwner == 0 {
		return now.Add(storeRetry) // the settings may change
	}
	list, err := r.Store.Watches(ctx, Query{Active: true})
	if err != nil {
		if ctx.Err() == nil {
			r.logger().ErrorContext(ctx, "watches cannot be read", "error", err)
		}
		return now.Add(storeRetry)
	}
	s.spreadCatchUp(list, now)
	r.prune(ctx, s, now)
	for _, w := range list {
		at := s.dueTime(w)
		switch {
		case at.After(now):
			if at.Before(next) {
				next = at
			}
		case s.tryStart(w.ID):
			s.work.Go(func() {
				defer r.wakeRun()
				err := r.runCheck(ctx, w)
				if err != nil {
					r.logger().ErrorContext(ctx, "watch cannot be written down", "watch", w.ID, "error", err)
				}
				s.finish(w.ID, err != nil)
			})
		}
	}
	return next
}

// prune forgets what ended long ago, once an hour.
func (r *Runner) prune(ctx context.Context, s *schedule, now time.Time) {
	if now.Sub(s.pruned) < time.Hour {
		return
	}
	s.pruned = now
	keep := time.Duration(0)
	if r.KeepFor != nil {
		keep = r.KeepFor()
	}
	if keep == 0 {
		return
	}
	if _, err := r.Store.PruneWatches(ctx, now.Add(-keep)); err != nil && ctx.Err() == nil {
		r.logger().ErrorContext(ctx, "ended watches cannot be forgotten", "error", err)
	}
}

// spreadCatchUp gives what was due before the start its turns, one after the other.
func (s *schedule) spreadCatchUp(list []Watch, now time.Time) {
	if s.caughtUp {
		return
	}
	s.caughtUp = true
	s.mu.Lock()
	defer s.mu.Unlock()
	late := slices.DeleteFunc(slices.Clone(list), func(w Watch) bool { return w.NextCheck.After(now) })
	slices.SortFunc(late, func(a, b Watch) int { return a.NextCheck.Compare(b.NextCheck) })
	for i, w := range late {
		s.notBefore[w.ID] = now.Add(time.Duration(i) * catchUpGap)
	}
}

// dueTime returns when a watch is looked at: when it is time, a little later for some so
// that not all are at the same moment, and earlier if its time is over.
func (s *schedule) dueTime(w Watch) time.Time {
	at := w.NextCheck.Add(checkJitter(w))
	if w.Until.Before(at) {
		at = w.Until
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if later := s.notBefore[w.ID]; later.After(at) {
		return later
	}
	return at
}

// checkJitter returns a delay that is always the same for the same check, so that delays do not add up.
func checkJitter(w Watch) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, w.ID, w.NextCheck.Unix())
	most := min(w.Every/20, maxJitter)
	return time.Duration(h.Sum64()>>1) % (most + 1)
}

// nextCheckTime returns when to look again after a look that ended at now: on the grid that
// began when the watch was made, or later if looks fail.
func nextCheckTime(w Watch, now time.Time) time.Time {
	if w.Failures > 1 {
		return now.Add(min(w.Every<<min(w.Failures-1, 10), max(24*time.Hour, w.Every)))
	}
	next := w.NextCheck
	if late := now.Sub(next); late >= 0 {
		next = next.Add(late - late%w.Every + w.Every)
	}
	return next
}

func (r *Runner) logger() *slog.Logger { return cmp.Or(r.Logger, slog.New(slog.DiscardHandler)) }
