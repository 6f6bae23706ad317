package watches

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	catchUpGap     = 10 * time.Second // between checks that were due before the program started
	maxJitter      = time.Minute
	storeRetry     = time.Minute // after an error of the store
	maxSleep       = time.Hour
	checkTimeout   = 2 * time.Minute // of one check
	defaultRecheck = 45 * time.Second
	defaultTotal   = 500
	concurrency    = 2 // pages read at the same time
)

// Limits are the limits on watches.
type Limits struct {
	PerOwner    int           // active watches of one person; 0 means none and suspends existing ones
	Total       int           // of all people; 0 means 500
	MinInterval time.Duration // shortest time between two checks
}

// JudgeQuestion is the question to a judge whether the condition of w holds now.
type JudgeQuestion struct {
	Reading

	First          bool     // there was no earlier check
	Added, Removed []string // lines changed since the last check
}

// Verdict is a judge's answer.
type Verdict struct {
	Met bool
	Why string // a sentence
}

// Host connects a [Runner] to the rest of the program. Its methods are safe for concurrent use.
type Host interface { //nolint:interfacebloat // a single interface for everything that it needs
	// Read reads a page without a browser. It returns [ErrNeedsBrowser] if that is not sufficient.
	Read(ctx context.Context, w Watch) (Reading, error)
	// Browse reads a page with a browser. It returns [ErrNeedsBrowser] if there is none.
	Browse(ctx context.Context, w Watch) (Reading, error)
	// Judge asks a model whether a condition in words holds. It is called only after the page has changed.
	Judge(ctx context.Context, w Watch, q JudgeQuestion) (Verdict, error)
	// CheckAllowed returns nil if w may be checked now. Otherwise w is suspended, without notifying its owner, until
	// the next check.
	CheckAllowed(ctx context.Context, w Watch) error
	// Notify sends a notice to the owner of w. If it fails it is called again later.
	Notify(ctx context.Context, w Watch, n Notice) error
	// Limits returns the current limits.
	Limits() Limits
}

// Runner checks pages on schedule. Set its fields, then call Run; the other methods may be called at any time and
// concurrently.
type Runner struct {
	Store  Store
	Host   Host
	Logger *slog.Logger // nil discards
	// KeepFor returns how long ended watches are kept; 0, or a nil KeepFor, means forever.
	KeepFor func() time.Duration

	// RecheckAfter is the delay between a change and the second reading of the page; 0 means 45 seconds. What has
	// changed again by then is considered to change by itself.
	RecheckAfter time.Duration

	once  sync.Once
	wake  chan struct{} // the store has changed
	slots chan struct{} // limits the pages read at the same time
}

func (r *Runner) initOnce() {
	r.once.Do(func() {
		r.wake, r.slots = make(chan struct{}, 1), make(chan struct{}, concurrency)
	})
}

// wakeRun makes Run read the store again.
func (r *Runner) wakeRun() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run checks pages until ctx ends, and returns the cause of ctx after everything it started has ended.
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

// schedule is Run's record of the checks it has started.
type schedule struct {
	work     sync.WaitGroup
	caughtUp bool
	pruned   time.Time

	mu        sync.Mutex
	running   map[string]bool
	notBefore map[string]time.Time // for checks that were due at the start, and for those that could not be stored
}

// checking returns the watches whose checks run.
func (s *schedule) checking() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.running)
}

func (s *schedule) start(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[id] = true
}

// finish lets a watch be checked again, after a delay if its result could not be stored.
func (s *schedule) finish(id string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, id)
	if failed {
		s.notBefore[id] = time.Now().Add(storeRetry)
	}
}

// startDue starts the due checks, and returns when to call it again.
func (r *Runner) startDue(ctx context.Context, s *schedule) time.Time {
	now := time.Now()
	next := now.Add(maxSleep)
	if r.Host.Limits().PerOwner == 0 {
		return now.Add(storeRetry) // the settings may have changed by then
	}
	busy := s.checking() // what the list says of these may be outdated by the time it is there
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
		case !busy[w.ID]: // the end of a check wakes Run
			s.start(w.ID)
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

// prune deletes watches that ended long ago, once an hour.
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

// spreadCatchUp spreads the checks that were due before the start.
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

// dueTime returns when to check a watch: at its scheduled time plus a small delay that spreads the load, or at its
// end if that is earlier.
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

// checkJitter returns a delay that depends only on the check, so that delays do not accumulate.
func checkJitter(w Watch) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, w.ID, w.NextCheck.Unix())
	most := min(w.Every/20, maxJitter)
	return time.Duration(h.Sum64()>>1) % (most + 1)
}

// nextCheckTime returns the time of the next check after one that ended at now: a multiple of the interval since the
// watch was created, or later after failures.
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
