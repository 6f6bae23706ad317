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

// Manager runs tasks: it lets them wait in a fair line, hands each to the Backend of its session, writes down every
// step before and after it happens, and tells whoever watches. Set the exported fields, then call Open; after that
// all methods are safe for concurrent use.
//
// A task can be stopped through Scopes from the moment it is in line; its
// [cancel.Work] has the task's id. The Manager decides nobody's right to stop.
type Manager struct {
	Store          Store
	Backends       map[string]Backend // by the name of their runtime
	DefaultRuntime string
	Limits         func() Limits // asked whenever it matters, so a change takes effect soon; must not call the Manager
	Policy         Policy        // nil = everybody may, as they want, and nothing is handed over
	Files          FileStore     // of what comes with tasks; nil = nothing does
	Machine        Machine       // nil = there is always room
	Scopes         *cancel.Scopes
	Logger         *slog.Logger     // nil = none
	Now            func() time.Time // nil = time.Now

	loadToken  chan struct{} // holds one token: who takes it may bring sessions in, see [Manager.enter]
	quit       chan struct{} // closed by Close
	wake       chan struct{} // holds a token when there is something to park
	activeRuns sync.WaitGroup
	background sync.WaitGroup // what else was started: the caretaker, pages being closed, backends that do not let go

	mu      sync.Mutex
	closed  bool
	drained chan struct{} // nil before Drain; closed when no task runs any more
	queue   fairQueue
	live    map[string]*liveSession
	held    string         // the shortage for which tasks wait; "" if they wait for none
	toPark  []*liveSession // occupied, for the caretaker to park
	parking int            // these, and those that he is parking

	subMu sync.Mutex
	subs  map[chan Event]struct{}
}

// Machine knows how much the machine can bear.
type Machine interface {
	// Shortage says of what there is too little to start another task: [ShortMemory], or "" if there is enough of all. It
	// is asked often and must not block.
	Shortage() string
}

// ShortMemory is the [Machine.Shortage] of memory.
const ShortMemory = "memory"

// Policy decides who may have what done, and by what. Its errors, sentences for people, are refusals.
type Policy interface {
	// CheckAccess is asked for each task whether somebody may ask for it.
	CheckAccess(o Origin) error
	// SelectProfile decides which browser profile somebody works with. place is whose state it is, unless a profile is
	// shared with them. want is what they asked for, or the one their session has; empty if neither says.
	SelectProfile(o Origin, place Place, want string) (string, error)
	// Route completes a task with its runtime, if it has none, and its model. An empty runtime is the default, an empty
	// model what the backend chooses.
	Route(t Task) (runtime, model string, err error)
	// AllowHandOver is asked whether the rest of a task may be left to another runtime, and with which model. It may
	// take a minute, and ends with its context.
	AllowHandOver(ctx context.Context, s Session, t Task, to HandOverError) (model string, err error)
}

// How long we wait for others at most.
const (
	storeWait = 5 * time.Second       // for the store, when the task's own context may have ended
	closeWait = 15 * time.Second      // for a backend to close a session
	stopGrace = 50 * time.Millisecond // for a backend to let go after a stop, before people are told
	endGrace  = 2 * time.Second       // for a backend to let go after its last step

	storeRetry     = 2 * time.Second // until the end of a task that could not be saved is saved again, doubled each time
	storeRetryMost = time.Minute
)

var errStoreWait = &StoreError{
	Text: fmt.Sprintf("clank's database was not free within %v: another program keeps it locked, or its disk does not "+
		"answer; end that program, or look at the disk", DurationText(storeWait)),
	Err: context.DeadlineExceeded,
}

// Open tidies up after a predecessor that did not end well (its unfinished tasks become interrupted, their sessions
// parked) and starts accepting tasks. A Manager is opened once.
func (m *Manager) Open(ctx context.Context) error {
	m.Logger = cmp.Or(m.Logger, slog.New(slog.DiscardHandler))
	if m.Now == nil {
		m.Now = time.Now
	}
	tasks, parked, err := m.Store.Recover(ctx, "the program ended while it ran", m.Now())
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

// Drain takes no new task from now on, starts none that waits, and returns when those that run have ended, or ctx has.
// waiting is called with their number if there are any.
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

// noteDrained tells [Manager.Drain] when no task runs any more. The lock is held.
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

// Close stops every task with the cause [cancel.ShuttingDown], parks the open sessions and waits until all of it has
// ended, or ctx has; then the error tells what has not.
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
		return fmt.Errorf("close the sessions: a browser does not let go: %w", err)
	}
	return nil
}

// maintain parks what is to be parked or what nobody uses, forgets what is old,
// and looks whether the limits have changed, until Close.
func (m *Manager) maintain(ctx context.Context) {
	var pruned time.Time
	tick := time.NewTimer(m.maintenanceInterval())
	defer tick.Stop()
	room := time.NewTicker(shortageInterval)
	defer room.Stop()
	for {
		select {
		case <-m.quit:
			m.startParking(ctx)
			return
		case <-m.wake:
			m.startParking(ctx)
		case <-room.C:
			m.retryHeld()
		case <-tick.C:
			m.parkIdle()
			if now := m.Now(); now.Sub(pruned) >= time.Hour && !m.prune(ctx, now) {
				pruned = now
			}
			tick.Reset(m.maintenanceInterval())
		}
	}
}

// maintenanceInterval returns how often to look after things: often enough for sessions to be
// parked about when they should.
func (m *Manager) maintenanceInterval() time.Duration {
	const most = 30 * time.Second
	if idle := m.Limits().SessionIdle; idle > 0 {
		return min(max(idle/4, time.Second), most)
	}
	return most
}

// pruneBatch bounds how long one call keeps the store busy.
const pruneBatch = 200

// prune forgets old tasks and reports whether there are more.
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
		m.Logger.Warn("forgetting old tasks failed", "err", err)
		return false
	}
	if n > 0 {
		m.Logger.Info("forgot old tasks", "tasks", n)
	}
	return n == pruneBatch
}

// lockLoading waits for the door. Sessions come into m.live only through it, so who
// holds it and does not find one there reads its last state from the store.
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

// Limits bound what the [Manager] lets happen. A field that is zero does not limit, where it does not say otherwise.
type Limits struct {
	Disabled        bool // accept no new task
	PerHourUser     int  // tasks from Discord to accept of one person within any hour; below 0 = none
	PerHourGuild    int  // the same of one server
	Running         int  // tasks that run at once
	RunningPerGuild int
	RunningPerUser  int
	Queued          int // tasks that wait in line
	QueuedPerGuild  int
	QueuedPerUser   int

	Sessions    int           // sessions that are open (idle or running) at once
	SessionIdle time.Duration // an open session is parked when nothing has used it for so long

	ControlIdle time.Duration // how long a person may hold a page without doing anything; 0 = [DefaultControlIdle]

	MaxSteps    int           // for a task that does not say; also the most one may ask for, unless StepCeiling is higher
	StepCeiling int           // the most steps a task may ask for
	TaskTimeout time.Duration // how long a task may run; waiting in line does not count

	Views     int           // pictures of steps to keep for each task, the newest; 0 = none
	KeepTasks int           // final tasks to keep, the newest
	KeepFor   time.Duration // how long to keep final tasks
}

// maxPrompt is how long a prompt may be, in characters. A longer one is refused: nothing is cut in silence.
const maxPrompt = 8000

// steps returns how many steps a task gets that asked for n.
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
