package page

import (
	"context"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Observer receives the CDP events of a browser's tabs. Its methods run on the connection's reading goroutine, in the
// order of the events: they must neither block nor wait for an answer of the browser, but may send requests with Begin
// and Post.
type Observer interface {
	// Attach returns requests to send in a new session of the tab before its page runs. f is the tab's main frame, or
	// an out-of-process iframe in it.
	Attach(t *Tab, f *frame.Frame) []proto.Request
	// Event handles an event of one of the tab's sessions. Events of the browser session have neither tab nor frame. Of
	// a dedicated worker, only events of the domains Network and Fetch are passed on; f stands for the worker then, is
	// not in [Tab.Frames], and cannot run our scripts.
	Event(t *Tab, f *frame.Frame, ev cdp.Event)
}

// WorkerObserver is an [Observer] that also sets up dedicated workers.
type WorkerObserver interface {
	Observer
	// AttachWorker returns requests to send in the session of a new worker before its script runs.
	AttachWorker(t *Tab, worker *frame.Frame) []proto.Request
}

// RootSession returns the CDP session of the browser itself.
func (b *Browser) RootSession() *cdp.Session { return b.rootSession }

// Branch lets another client share the connection; see [cdp.Conn.Branch].
func (b *Browser) Branch(ctx context.Context, target string, deliver func(message []byte)) (*cdp.Branch, error) {
	return b.conn.Branch(ctx, target, deliver)
}

// Browser returns the tab's connection.
func (t *Tab) Browser() *Browser { return t.browser }

// MainFrame returns the tab's main frame.
func (t *Tab) MainFrame() *frame.Frame { return t.main }

// ProcessRoots returns the tab's main frame and its out-of-process iframes, parents first. Each has its own CDP
// session.
func (t *Tab) ProcessRoots() []*frame.Frame { return t.tree.ProcessRoots() }

// Frames returns the frames of [Tab.ProcessRoots] and, within them, in-process cross-origin frames, parents first.
func (t *Tab) Frames() []*frame.Frame { return t.tree.Frames() }

// RunExclusive runs do as the tab's current action, for at most limit. Its context also ends when the tab crashes or
// closes, or when a dialog opens; if one is already open, the error is a *[DialogError].
func (t *Tab) RunExclusive(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	_, err := t.runWithBaseline(ctx, limit, func(ctx context.Context, _ actionBaseline) error { return do(ctx) })
	return err
}

// RunConcurrently runs do alongside the tab's actions, for at most limit. Its context also ends when the tab crashes or
// closes.
func (t *Tab) RunConcurrently(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return t.runBeside(ctx, limit, false, do)
}

// RunUntilDialog is [Tab.RunConcurrently] for operations that an open dialog blocks. Its context also ends when one
// opens; if one is already open, the error is a *[DialogError].
func (t *Tab) RunUntilDialog(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return t.runBeside(ctx, limit, true, do)
}

func (t *Tab) runBeside(ctx context.Context, limit time.Duration, dialogs bool, do func(context.Context) error) error {
	ctx, cancel, err := t.watchContext(ctx, limit, dialogs)
	if err != nil {
		return err
	}
	defer cancel()
	if err := t.tree.AwaitDiscovery(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// Locate resolves a ref of a snapshot to its element, or a selector in the main frame if ref is empty.
func (t *Tab) Locate(ref, selector string) (frame.Element, error) { return t.locate(ref, selector) }

// Describe returns the role and the name, at most 80 characters, of the element with that ref.
func (t *Tab) Describe(ctx context.Context, ref string) (role, name string, err error) {
	e, err := t.locate(ref, "")
	if err != nil {
		return "", "", err
	}
	d, err := frame.RunScript[struct {
		Role, Name string
	}](ctx, e.Frame, frame.Script{Fn: "describe", Arg: map[string]string{"ref": e.LocalRef}})
	if err != nil {
		return "", "", e.Explain(err)
	}
	return d.Role, d.Name, nil
}

// Events returns the events of tabs from now on, oldest first, until stop is called or the connection ends, which
// closes the channel. Events are queued without bound, so a slow reader delays nobody. stop waits until the channel is
// closed and may be called more than once.
func (b *Browser) Events() (events <-chan Event, stop func()) {
	f := NewEventQueue[Event]()
	out := make(chan Event)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out, func() {}
	}
	b.queues[f] = struct{}{}
	finished := make(chan struct{})
	b.wg.Go(func() {
		defer close(finished)
		defer close(out)
		f.Deliver(out, b.conn.Done())
	})
	return out, func() {
		b.mu.Lock()
		delete(b.queues, f)
		b.mu.Unlock()
		f.Stop()
		<-finished
	}
}

func (b *Browser) publish(kind EventKind, t *Tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.queues {
		f.Add(Event{Kind: kind, Tab: t})
	}
}

// EventQueue is an unbounded FIFO queue of events. Make one with [NewEventQueue]. It is safe for concurrent use.
type EventQueue[T any] struct {
	mu      sync.Mutex
	queue   []T
	ended   bool
	wake    chan struct{}
	quit    chan struct{}
	stopped sync.Once
}

// NewEventQueue returns an empty queue.
func NewEventQueue[T any]() *EventQueue[T] {
	return &EventQueue[T]{wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

// Deliver sends events to out until the queue has been emptied after [EventQueue.End], Stop is called, or gone is
// closed while the reader is not receiving. It does not close out.
func (f *EventQueue[T]) Deliver(out chan<- T, gone <-chan struct{}) {
	for {
		f.mu.Lock()
		batch, ended := f.queue, f.ended
		f.queue = nil
		f.mu.Unlock()
		for _, ev := range batch {
			select {
			case out <- ev:
			case <-f.quit:
				return
			case <-gone: // nobody may be reading any more
				return
			}
		}
		if ended { // nothing was queued since
			return
		}
		select {
		case <-f.wake:
		case <-f.quit:
			return
		}
	}
}

// Add queues an event. It never blocks.
func (f *EventQueue[T]) Add(ev T) {
	f.mu.Lock()
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	f.signalWake()
}

// End says that no more events follow. Queued events are still delivered.
func (f *EventQueue[T]) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.signalWake()
}

// Stop ends delivery. It may be called more than once.
func (f *EventQueue[T]) Stop() { f.stopped.Do(func() { close(f.quit) }) }

func (f *EventQueue[T]) signalWake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
