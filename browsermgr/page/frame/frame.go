package frame

import (
	"context"
	"errors"
	"sync"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Frame is the documents of a tab that our scripts reach from one of them: its main frame, a frame of another process, or one
// that another origin keeps apart in the process of the frame around it (a lodger, which shares that one's session), each with
// the frames of the same origin below it. It outlives navigation. It is safe for concurrent use.
type Frame struct {
	*cdp.Session

	target string

	mu            sync.Mutex
	parent        *Frame
	world         *isolatedWorld
	worldLock     worldCreation
	documentCount int // counts the documents that went away
	inputCount    int // counts input that was waited for
	cachedOwner   ownerRef
}

// New returns the frame that a session is attached to, or a lodger of that session. target is the id of its root frame, which is the
// CDP target id of the former. parent is the frame whose document embeds it, nil for the main one; embedder is the id of the very frame in there, if
// known.
func New(s *cdp.Session, target string, parent *Frame, embedder string) *Frame {
	return &Frame{Session: s, target: target, parent: parent, worldLock: newWorldCreation(), cachedOwner: ownerRef{parentFrame: embedder}}
}

// ID returns the protocol's id of the root frame.
func (f *Frame) ID() proto.PageFrameID { return proto.PageFrameID(f.target) }

// Parent returns the frame that embeds this one, or nil.
func (f *Frame) Parent() *Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parent
}

// SetParent says that the document around the frame is one of another Frame than was thought.
func (f *Frame) SetParent(parent *Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parent = parent
}

// EmbeddedIn returns the protocol's id of the very frame whose document embeds this one; "" if it is not known.
func (f *Frame) EmbeddedIn() proto.PageFrameID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return proto.PageFrameID(f.cachedOwner.parentFrame)
}

// DocumentToken names the document whose scripts ran last; "" if there is none.
func (f *Frame) DocumentToken() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.world == nil {
		return ""
	}
	return f.world.token
}

// QuietState is how Quiet found the page.
type QuietState struct {
	Outcome  string `json:"outcome"`  // whether guarded input reached its target: "hit", "miss", "untold" where scripts cannot tell, or "" if none came
	Download bool   `json:"download"` // guarded input asked for a download, or was on what promises one
	Title    string `json:"title"`    // of the frame's root document
}

// AwaitQuiet lets the page's scripts finish what they were about to do, and with paint waits for a frame to be drawn. A
// document that goes away meanwhile is fine: the zero Calm.
func (f *Frame) AwaitQuiet(ctx context.Context, paint bool) (QuietState, error) {
	return quietStateOrError(RunScript[QuietState](ctx, f, Script{Fn: "settled", Arg: map[string]bool{"frame": paint}}))
}

func quietStateOrError(calm QuietState, err error) (QuietState, error) {
	if errors.Is(err, cdp.ErrDocumentGone) {
		return QuietState{}, nil
	}
	return calm, err
}

// CancelQuiet ends a wait in the page that nobody is interested in any more.
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

// Viewport asks for the geometry of the frame's root document.
func (f *Frame) Viewport(ctx context.Context) (Viewport, error) {
	return RunScript[Viewport](ctx, f, Script{Fn: "viewport"})
}

// ScriptLimit returns the time a script has for something that may take limit: a little less than what is left of ctx, so that
// it can still say what was wrong.
func ScriptLimit(ctx context.Context, limit time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - 50*time.Millisecond; left < limit {
			return max(left, time.Millisecond)
		}
	}
	return limit
}
