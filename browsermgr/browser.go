package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/connect"
	"clank/browsermgr/fault"
	"clank/browsermgr/graphics"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
	"clank/browsermgr/tabset"
	"clank/browsermgr/upkeep"
)

// browser is one running browser with the connection to it.
type browser struct {
	manager        *Manager
	plan           plan.Plan
	process        *chrome.Process // nil if somebody else started it
	executable     chrome.Executable
	conn           *page.Browser
	observers      []page.Observer
	guards         []page.Observer // see Manager.Guard
	proxy          string          // that it was started with
	numbers        *tabset.Numbers
	asked          upkeep.Book // the tabs that were opened on request
	port           int
	headless       bool
	headlessSource string
	graphics       atomic.Pointer[graphics.Info] // nil until it is known

	uses *upkeep.Uses  // ends when it is being ended on purpose
	gone chan struct{} // closed when nothing of it is left
	err  error         // why it is gone; set before gone is closed

	mu      sync.Mutex
	owners  map[string]*Window // by target id; stays when the tab is closed, so that late popups find their window
	windows map[*Window]struct{}
}

// newBrowser is one that still has to be started or joined.
func newBrowser(p *profile, pl plan.Plan) *browser {
	b := &browser{
		manager: p.manager, plan: pl, numbers: &p.numbers,
		uses: upkeep.NewUses(), gone: make(chan struct{}),
		owners: map[string]*Window{}, windows: map[*Window]struct{}{},
	}
	if p.manager.Observe != nil {
		b.observers = p.manager.Observe(b.local())
	}
	if p.manager.Guard != nil {
		b.guards = p.manager.Guard(p.name, b.local())
	}
	return b
}

// local reports whether we start it, on this machine.
func (b *browser) local() bool { return b.plan.Mode == plan.Launched }

// connection is how its connection is made.
func (b *browser) connection() page.Options {
	return page.Options{
		Logger: b.manager.Logger, Sent: b.manager.Sent, FirstTab: b.numbers.Next(),
		Observers: slices.Concat([]page.Observer{b.numbers}, b.guards, b.observers), Clean: b.manager.Clean, Hidden: b.manager.Hidden,
	}
}

// exited is closed when its process has ended; never if it is not ours.
func (b *browser) exited() <-chan struct{} {
	if b.process == nil {
		return nil
	}
	return b.process.Done()
}

func (b *browser) pid() int {
	if b.process == nil {
		return 0
	}
	return b.process.PID
}

// enter begins an operation; false if the browser is ending or has ended.
func (b *browser) enter() bool {
	select {
	case <-b.conn.Done():
		return false
	case <-b.exited():
		return false
	default:
		return b.uses.Enter()
	}
}

// leave ends an operation.
func (b *browser) leave() { b.uses.Leave() }

func (b *browser) isGone() bool {
	select {
	case <-b.gone:
		return true
	default:
		return false
	}
}

// own notes whose tab it is.
func (b *browser) own(w *Window, tab *page.Tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owners[tab.TargetID()] = w
	b.windows[w] = struct{}{}
}

// disown forgets a window that was closed. Popups that its pages have just opened still find it.
func (b *browser) disown(w *Window) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.windows, w)
}

func (b *browser) owner(tab *page.Tab) *Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[tab.TargetID()]
}

func (b *browser) windowCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.windows)
}

// run follows the browser's tabs until it ends, and then sees to it that nothing is left. The Manager waits for it.
func (b *browser) run() {
	events, unsubscribe := b.conn.Events()
	idle, stopIdle := b.idleTicks()
	cleanup := b.plan.Config.Cleanup.Filled()
	sweep := time.NewTicker(cleanup.Every)
	defer sweep.Stop()
	b.manager.wg.Go(b.readGraphics)
	ended := false
	for !ended {
		select {
		case ev, ok := <-events:
			if !ok {
				ended = true
				break
			}
			b.handle(ev)
		case <-idle:
			if !b.kept() && b.uses.End(b.manager.IdleAfter) {
				b.manager.Logger.Info("stopping idle browser", "pid", b.pid())
			}
		case <-sweep.C:
			b.sweep(cleanup)
		case <-b.uses.Ending():
			ended = true
		case <-b.exited():
			ended = true
		}
	}
	stopIdle()
	unsubscribe()
	b.end()
}

// readGraphics asks once; a browser that does not tell has none.
func (b *browser) readGraphics() {
	info, err := graphics.Read(context.Background(), b.conn.Root())
	if err != nil {
		b.manager.Logger.Debug("browser does not tell its graphics", "error", err)
		return
	}
	b.graphics.Store(info)
}

// kept reports whether somebody has left pages open that no window and no rule closes.
func (b *browser) kept() bool {
	for _, tab := range b.conn.Tabs() {
		owner, noted := b.asked.Owner(tab.TargetID())
		if noted && owner == "" && tab.URL() != "about:blank" {
			return true
		}
	}
	return false
}

// idleTicks ticks often enough to notice idleness soon after it is due.
func (b *browser) idleTicks() (ticks <-chan time.Time, stop func()) {
	if b.manager.IdleAfter <= 0 || b.plan.Mode != plan.Launched {
		return nil, func() {}
	}
	ticker := time.NewTicker(max(b.manager.IdleAfter/4, time.Millisecond))
	return ticker.C, ticker.Stop
}

// end closes the connection, waits for the process and tells why it is gone.
func (b *browser) end() {
	crashed := b.uses.End(0)
	if !crashed && b.plan.Mode != plan.Launched {
		b.takeBack()
	}
	if !crashed && b.plan.Mode == plan.Joined {
		b.closeOurs()
	}
	_ = b.conn.Close()
	if b.process != nil {
		b.endProcess(crashed)
	}
	b.closeObservers()
	b.err = b.reason(crashed)
	if crashed {
		b.manager.Logger.Warn("browser is gone", "error", b.err, "pid", b.pid())
	}
	close(b.gone)
}

// takeBackLimit bounds putting a browser back as it was found.
const takeBackLimit = 5 * time.Second

func (b *browser) takeBack() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), takeBackLimit, &fault.LimitError{Limit: takeBackLimit})
	defer cancel()
	if err := connect.TakeBack(ctx, b.observers); err != nil {
		b.manager.Logger.Warn("leave a browser as it was found", "error", err)
	}
}

func (b *browser) closeObservers() {
	if err := connect.CloseObservers(slices.Concat(b.observers, b.guards)); err != nil {
		b.manager.Logger.Warn("clear up after a browser", "error", err)
	}
}

// exitGrace is how long a process whose connection was lost may take to tell how it ended.
const exitGrace = 5 * time.Second

func (b *browser) endProcess(crashed bool) {
	if crashed {
		// The connection is lost. Mostly the process is gone or going; give it the time to tell how.
		timer := time.NewTimer(exitGrace)
		select {
		case <-b.process.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	// If it still runs it is of no use without a connection. Close hurries this along with a context of its own.
	if err := b.process.Stop(context.Background()); err != nil {
		b.manager.Logger.Warn("stop browser", "error", err)
	}
}

func (b *browser) reason(crashed bool) error {
	if !crashed {
		return errStopped
	}
	if b.process == nil {
		return errors.New("the connection to the browser was lost")
	}
	if err := b.process.Err(); err != nil {
		return err
	}
	return errors.New("the connection to the browser was lost, and it was ended")
}

var errStopped = errors.New("the browser was stopped")

// stop ends the browser and returns when nothing of it is left.
func (b *browser) stop(ctx context.Context) error {
	b.uses.End(0)
	if b.process != nil {
		if err := b.process.Stop(ctx); err != nil {
			return err
		}
	}
	<-b.gone
	return nil
}

// handle takes note of what happened to a tab.
func (b *browser) handle(ev page.Event) {
	switch ev.Kind {
	case page.TabOpened:
		opener := ev.Tab.Opener()
		if opener == nil {
			return
		}
		b.asked.Inherit(ev.Tab.TargetID(), opener.TargetID())
		if w := b.owner(opener); w != nil {
			w.adopt(b, ev.Tab)
		}
	case page.TabClosed:
		b.asked.Forget(ev.Tab.TargetID())
		if w := b.owner(ev.Tab); w != nil {
			w.drop(ev.Tab)
		}
	case page.TabChanged, page.TabCrashed: // a tab knows its own address, and whether it lives
	}
}

// lost turns the failure of an operation whose browser is gone into what a person can act upon.
func (b *browser) lost(ctx context.Context, err error) error {
	timer := time.NewTimer(3 * time.Second)
	defer timer.Stop()
	select {
	case <-b.gone:
	case <-ctx.Done():
		return err
	case <-timer.C:
		return err
	}
	select {
	case <-b.manager.closed:
		return ErrClosed
	default:
		return fmt.Errorf("%w; the page is reopened on the next step", b.err)
	}
}
