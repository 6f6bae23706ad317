package page

import (
	"context"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Observer is told what Chromium says of the tabs of a browser. Its methods run on the goroutine that reads the
// connection, in the order of the events: they must neither block nor wait for an answer of the browser, but they may
// send requests with Begin and Post.
type Observer interface {
	// Attach returns what a new session of the tab is asked before its page runs: f is the tab's main frame, or a frame
	// of it in another process.
	Attach(t *Tab, f *frame.Frame) []proto.Request
	// Event tells of an event of one of the tab's sessions. Those of the browser itself have neither tab nor frame. Of a
	// dedicated worker only the events of the domains Network and Fetch are told; f stands for the worker then, is not
	// among [Tab.Frames], and runs no scripts of ours.
	Event(t *Tab, f *frame.Frame, ev cdp.Event)
}

// WorkerObserver is an [Observer] that also sets up dedicated workers.
type WorkerObserver interface {
	Observer
	// AttachWorker returns what the session of a new worker of the tab is asked before its script runs.
	AttachWorker(t *Tab, worker *frame.Frame) []proto.Request
}

// RootSession returns the session of the browser itself.
func (b *Browser) RootSession() *cdp.Session { return b.rootSession }

// Browser returns the connection that the tab belongs to.
func (t *Tab) Browser() *Browser { return t.browser }

// MainFrame returns the tab's main frame.
func (t *Tab) MainFrame() *frame.Frame { return t.main }

// ProcessRoots returns the tab's main frame and those in other processes, parents first: each has a session of its own.
func (t *Tab) ProcessRoots() []*frame.Frame { return t.tree.ProcessRoots() }

// Frames returns the frames of [Tab.ProcessRoots] and, within them, frames that are isolated because of another
// origin, parents first.
func (t *Tab) Frames() []*frame.Frame { return t.tree.Frames() }

// RunExclusive runs something in the tab's turn, no longer than limit. Its context also ends when the tab crashes or closes,
// or when a dialog opens; if one is open already, the error is a *[DialogError].
func (t *Tab) RunExclusive(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return t.runInTurn(ctx, limit, do)
}

// RunConcurrently runs something beside the tab's actions, no longer than limit. Its context also ends when the tab crashes or
// closes.
func (t *Tab) RunConcurrently(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel, err := t.watchContext(ctx, limit, false)
	if err != nil {
		return err
	}
	defer cancel()
	if err := t.tree.AwaitDiscovery(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// Locate resolves a ref of a snapshot to its element, or a selector of the main frame if ref is empty.
func (t *Tab) Locate(ref, selector string) (frame.Element, error) { return t.locate(ref, selector) }

// Describe tells the role and the name, at most 80 characters of it, of the element with that ref.
func (t *Tab) Describe(ctx context.Context, ref string) (role, name string, err error) {
	e, err := t.locate(ref, "")
	if err != nil {
		return "", "", err
	}
	d, err := frame.RunScript[struct{ Role, Name string }](ctx, e.Frame, frame.Script{Fn: "describe", Arg: map[string]string{"ref": e.LocalRef}})
	if err != nil {
		return "", "", e.Explain(err)
	}
	return d.Role, d.Name, nil
}
