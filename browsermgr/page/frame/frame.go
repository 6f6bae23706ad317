package frame

import (
	"context"
	"errors"
	"sync"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Frame is a set of documents of a tab that our scripts can reach from one of them, its root: the main frame, an
// out-of-process iframe, or an in-process cross-origin frame (which shares the session of the surrounding frame), each
// with the same-origin frames below it. It survives navigation. It is safe for concurrent use.
type Frame struct {
	*cdp.Session

	target string

	mu            sync.Mutex
	parent        *Frame
	world         *isolatedWorld
	worldLock     worldCreation
	documentCount int // number of documents that are gone
	inputCount    int // number of inputs waited for
	cachedOwner   ownerRef
}

// New returns the frame that a session is attached to, or an in-process cross-origin frame of that session. target is
// the id of its root frame, which equals the CDP target id of an attached one. parent is the Frame whose document
// embeds it, nil for the main frame; embedder is the id of the actual embedding frame, if known.
func New(s *cdp.Session, target string, parent *Frame, embedder string) *Frame {
	return &Frame{
		Session: s, target: target, parent: parent, worldLock: newWorldCreation(),
		cachedOwner: ownerRef{parentFrame: embedder},
	}
}

// ID returns the CDP frame id of the root frame.
func (f *Frame) ID() proto.PageFrameID { return proto.PageFrameID(f.target) }

// Parent returns the frame that embeds this one; nil for the main frame.
func (f *Frame) Parent() *Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parent
}

// SetParent corrects the frame that embeds this one.
func (f *Frame) SetParent(parent *Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parent = parent
}

// EmbeddedIn returns the CDP id of the frame whose document embeds this one; "" if unknown.
func (f *Frame) EmbeddedIn() proto.PageFrameID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return proto.PageFrameID(f.cachedOwner.parentFrame)
}

// DocumentToken identifies the document that our scripts ran in last; "" if there is none.
func (f *Frame) DocumentToken() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.world == nil {
		return ""
	}
	return f.world.token
}

// QuietState is the state of the page after AwaitQuiet.
type QuietState struct {
	Outcome  string `json:"outcome"`  // of tracked input: "hit", "miss", "untold" if scripts cannot tell, "" for none
	Download bool   `json:"download"` // tracked input requested a download, or its target looks like one
	Title    string `json:"title"`    // of the frame's root document

	Rejected *RejectedField `json:"rejected"` // why the input did not send a form
}

// RejectedField is a field that kept the browser from sending its form. Its texts may come from the page.
type RejectedField struct {
	Role string `json:"role"`
	Name string `json:"name"`
	Text string `json:"text"` // what the browser shows beside it; "" if that is not told
}

// AwaitQuiet waits until the page's scripts have finished pending work, and with paint until a frame was drawn. If the
// document goes away meanwhile it returns the zero QuietState without an error.
func (f *Frame) AwaitQuiet(ctx context.Context, paint bool) (QuietState, error) {
	return quietStateOrError(RunScript[QuietState](ctx, f, Script{Fn: "settled", Arg: map[string]bool{"frame": paint}}))
}

func quietStateOrError(calm QuietState, err error) (QuietState, error) {
	if errors.Is(err, cdp.ErrDocumentGone) {
		return QuietState{}, nil
	}
	return calm, err
}

// CancelQuiet ends a wait in the page that is no longer needed.
func (f *Frame) CancelQuiet() {
	f.mu.Lock()
	w := f.world
	f.mu.Unlock()
	if w == nil {
		return
	}
	if text, err := (Script{Fn: "cancelWait"}).expression(w, false); err == nil {
		f.Post(proto.RuntimeEvaluate{Expression: text, ContextID: w.context})
	}
}

// Viewport is the geometry of a document, in CSS pixels.
type Viewport struct {
	Width      float64 `json:"width"`
	Height     float64 `json:"height"`
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	FullWidth  float64 `json:"fullWidth"`
	FullHeight float64 `json:"fullHeight"`
}

// Viewport returns the geometry of the frame's root document.
func (f *Frame) Viewport(ctx context.Context) (Viewport, error) {
	return RunScript[Viewport](ctx, f, Script{Fn: "viewport"})
}

// ScriptLimit returns the time limit for a script that may take limit: slightly less than the time left in ctx, so that
// it can still report what was wrong.
func ScriptLimit(ctx context.Context, limit time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - 50*time.Millisecond; left < limit {
			return max(left, time.Millisecond)
		}
	}
	return limit
}
