package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/cancel"
)

// Manager runs tasks: it keeps them in a fair queue, hands each to the Backend of its session, stores every step
// before and after it happens, and publishes it to watchers. Set the exported fields, then call Open; after that all
// methods are safe for concurrent use.
//
// A task can be stopped through Scopes once it is queued; its [cancel.Work] has the task's id. The Manager does not
// decide who may stop what.
type Manager struct {
	Store          Store
	Backends       map[string]Backend // by runtime name
	DefaultRuntime string
	Limits         func() Limits // called whenever a limit matters, so changes take effect soon; must not call the Manager
	Policy         Policy        // nil = everything is allowed except hand-overs
	Files          FileStore     // for attachments; nil = tasks cannot have any
	Machine        Machine       // nil = there is always enough memory
	Scopes         *cancel.Scopes
	Logger         *slog.Logger // nil = none

	loadToken  chan struct{} // holds one token; its holder may load sessions, see [Manager.lockLoading]
	quit       chan struct{} // closed by Close
	wake       chan struct{} // holds a token while there are sessions to park
	activeRuns sync.WaitGroup
	// goroutines other than runs: maintenance, closing pages, backends that have not released their session
	background sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	drained chan struct{} // nil before Drain; closed when no task runs any more
	queue   fairQueue
	live    map[string]*liveSession
	held    string         // the resource that queued tasks wait for; "" if none
	toPark  []*liveSession // claimed, for maintain to park
	parking int            // sessions in toPark and those being parked

	subMu sync.Mutex
	subs  map[chan Event]struct{}
}

// Machine reports the free resources of the machine.
type Machine interface {
	// Shortage returns the resource that does not suffice to start another task: [ShortMemory], or "" if there is
	// enough of everything. It is called often and must not block.
	Shortage() string
}

// ShortMemory is the [Machine.Shortage] for memory.
const ShortMemory = "memory"

// Policy decides who may run tasks, with which browser profile and with which runtime. Its errors are sentences for
// people.
type Policy interface {
	// CheckAccess returns an error if tasks from o are not allowed. It is called for each task.
	CheckAccess(o Origin) error
	// SelectProfile returns the browser profile for o. place is whose browser state to use unless a profile is shared
	// with the person. want is the profile that they asked for or that their session has; empty if neither.
	SelectProfile(o Origin, place Place, want string) (string, error)
	// Route chooses the runtime of a task, if it has none, and its model. An empty runtime means the default, an
	// empty model lets the backend choose.
	Route(t Task) (runtime, model string, err error)
	// AllowHandOver decides whether another runtime may take over the rest of a task, and with which model. It may
	// take a minute and obeys ctx.
	AllowHandOver(ctx context.Context, s Session, t Task, to HandOverError) (model string, err error)
}

// How long to wait at most.
const (
	storeWait = 5 * time.Second       // for the store, even if the task's context has ended
	closeWait = 15 * time.Second      // for a backend to close a session
	stopGrace = 50 * time.Millisecond // for a backend to release its session after a stop, before the stop is reported
	endGrace  = 2 * time.Second       // for a backend to release its session after its last step

	storeRetry     = 2 * time.Second // before the first retry of saving the end of a task; doubled each time
	storeRetryMost = time.Minute
)

var errStoreWait = &StoreError{
	Text: fmt.Sprintf("clank's database was not free within %v: another program keeps it locked, or its disk does not "+
		"answer; end that program, or look at the disk", DurationText(storeWait)),
	Err: context.DeadlineExceeded,
}

// Open cleans up after a predecessor that was not shut down properly (its unfinished tasks become interrupted, their
// sessions parked) and starts accepting tasks. A Manager can be opened once.
func (m *Manager) Open(ctx context.Context) error {
	m.Logger = cmp.Or(m.Logger, slog.New(slog.DiscardHandler))
	tasks, parked, err := m.Store.Recover(ctx, "the program ended while it ran", time.Now())
	if err != nil {
		return fmt.Errorf("tidy up after the last run: %w", err)
	}
	if tasks+parked > 0 {
		m.Logger.Info("tidied up after the last run", "tasks", tasks, "sessions", parked)
	}
	m.loadToken = make(chan struct{}, 1)
	m.loadToken <- struct{}{}
	m.quit = make(chan struct{})
	m.wake = make(chan struct{}, 1)
	m.live = make(map[string]*liveSession)
	background := context.WithoutCancel(ctx)
	m.background.Go(func() { m.maintain(background) })
	return nil
}

// Drain refuses new tasks, starts none of those in the queue, and returns when the running ones have ended, or ctx
// has. If any are running, it calls waiting with their number.
func (m *Manager) Drain(ctx context.Context, waiting func(running int)) {
	m.mu.Lock()
	if m.drained != nil || m.live == nil {
		m.mu.Unlock()
		return
	}
	m.drained = make(chan struct{})
	running := m.queue.running
	m.noteDrained()
	m.mu.Unlock()
	if running == 0 {
		return
	}
	waiting(running)
	select {
	case <-m.drained:
	case <-ctx.Done():
	}
}

// noteDrained unblocks [Manager.Drain] when no task runs any more. The lock is held.
func (m *Manager) noteDrained() {
	if m.drained == nil || m.queue.running > 0 {
		return
	}
	select {
	case <-m.drained:
	default:
		close(m.drained)
	}
}

// Close stops every task with the cause [cancel.ShuttingDown], parks the open sessions and waits until everything has
// ended. If ctx ends first, the error says what has not ended.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	if m.closed || m.live == nil {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	close(m.quit)
	for _, l := range m.live {
		l.stopAll(&cancel.Cause{Reason: cancel.ShuttingDown})
		l.endControl(ErrShuttingDown)
	}
	m.mu.Unlock()

	if err := cancel.WaitFor(ctx, &m.activeRuns); err != nil {
		return fmt.Errorf("close the sessions: tasks are still running: %w", err)
	}
	m.mu.Lock()
	for _, l := range m.live {
		m.background.Go(func() { m.closeWhenFree(context.WithoutCancel(ctx), l, SessionParked) })
	}
	m.mu.Unlock()
	if err := cancel.WaitFor(ctx, &m.background); err != nil {
		return fmt.Errorf("close the sessions: a browser has not closed in time: %w", err)
	}
	return nil
}

// maintain parks idle sessions, deletes old tasks and applies changed limits, until Close.
func (m *Manager) maintain(ctx context.Context) {
	var pruned time.Time
	tick := time.NewTimer(m.maintenanceInterval())
	defer tick.Stop()
	room := time.Tick(shortageInterval)
	for {
		select {
		case <-m.quit:
			m.startParking(ctx)
			return
		case <-m.wake:
			m.startParking(ctx)
		case <-room:
			m.retryHeld()
		case <-tick.C:
			m.parkIdle()
			if now := time.Now(); now.Sub(pruned) >= time.Hour && !m.prune(ctx, now) {
				pruned = now
			}
			tick.Reset(m.maintenanceInterval())
		}
	}
}

// maintenanceInterval returns how often to run maintenance: often enough to park sessions about on time.
func (m *Manager) maintenanceInterval() time.Duration {
	const most = 30 * time.Second
	if idle := m.Limits().SessionIdle; idle > 0 {
		return min(max(idle/4, time.Second), most)
	}
	return most
}

// pruneBatch limits how long one call keeps the store busy.
const pruneBatch = 200

// prune deletes old tasks and reports whether there are more.
func (m *Manager) prune(ctx context.Context, now time.Time) (more bool) {
	lim := m.Limits()
	if lim.KeepFor <= 0 && lim.KeepTasks <= 0 {
		return false
	}
	var before time.Time
	if lim.KeepFor > 0 {
		before = now.Add(-lim.KeepFor)
	}
	ctx, done := context.WithTimeout(ctx, storeWait)
	defer done()
	n, err := m.Store.Prune(ctx, before, lim.KeepTasks, pruneBatch)
	if err != nil {
		m.Logger.Warn("deleting old tasks failed", "err", err)
		return false
	}
	if n > 0 {
		m.Logger.Info("deleted old tasks", "tasks", n)
	}
	return n == pruneBatch
}

// lockLoading takes the lock for loading sessions. Sessions enter m.live only under it, so a holder that does not
// find one there can read its latest state from the store.
func (m *Manager) lockLoading(ctx context.Context) error {
	if m.loadToken == nil {
		return errors.New("the session manager is not open")
	}
	select {
	case <-m.loadToken:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Manager) unlockLoading() { m.loadToken <- struct{}{} }

// Limits limit what the [Manager] runs and stores. Zero means unlimited unless noted otherwise.
type Limits struct {
	Disabled        bool // accept no new task
	PerHourUser     int  // tasks from Discord per person within any hour; below 0 = none allowed
	PerHourGuild    int  // the same per server
	Running         int  // tasks running at once
	RunningPerGuild int
	RunningPerUser  int
	Queued          int // tasks waiting in the queue
	QueuedPerGuild  int
	QueuedPerUser   int

	Sessions    int           // sessions open (idle or running) at once
	SessionIdle time.Duration // an open session is parked after being idle for this long

	ControlIdle time.Duration // how long a person may control a page without input; 0 = [DefaultControlIdle]

	// for tasks that do not set their own; also the most they may set, unless StepCeiling is higher
	MaxSteps    int
	StepCeiling int           // the most steps that a task may ask for
	TaskTimeout time.Duration // running time of a task; time in the queue does not count

	Views     int           // step screenshots to keep per task, the newest; 0 = none
	KeepTasks int           // final tasks to keep, the newest
	KeepFor   time.Duration // how long to keep final tasks
}

// maxPrompt is the longest prompt, in characters. Longer ones are refused, not truncated.
const maxPrompt = 8000

// steps returns the step limit of a task that asked for n.
func (l Limits) steps(n int) int {
	most := max(l.MaxSteps, l.StepCeiling)
	if n <= 0 {
		return l.MaxSteps
	}
	if most <= 0 {
		return n
	}
	return min(n, most)
}
