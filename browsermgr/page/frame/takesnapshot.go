package frame

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/outline"
)

// SnapshotSource holds the frames and refs of the tab to capture.
type SnapshotSource struct {
	Frames []*Frame // the main frame first, parents before children
	Refs   *RefRegistry
}

// ErrFrameChanged is returned if the captured document navigated meanwhile.
var ErrFrameChanged = errors.New("Frame changed during the capture: the page keeps navigating; retry in a moment")

// frameSnapshotLimit bounds the capture of an out-of-process frame: one that does not answer must not block the page.
const frameSnapshotLimit = 3 * time.Second

// TakeSnapshot describes the page and, on success, makes its refs those of the tab. If the document is gone the error
// is [ErrFrameChanged].
func TakeSnapshot(ctx context.Context, src SnapshotSource, opts SnapshotOptions) (Snapshot, error) {
	c := &snapshotCapture{
		SnapshotSource: src, opts: opts, number: src.Refs.BeginCapture(),
		pieces: map[*Frame]*outline.Piece{}, errs: map[*Frame]error{}, owners: map[frameOwner]*Frame{},
	}
	if err := c.findScope(ctx); err != nil {
		return Snapshot{}, c.explainError(err)
	}
	c.capturePieces(ctx)
	if err := c.errs[c.root]; err != nil {
		return Snapshot{}, c.explainError(err)
	}
	snap, pub, err := c.compose()
	if err != nil {
		return Snapshot{}, err
	}
	if err := c.checkDocument(ctx); err != nil {
		return Snapshot{}, c.explainError(err)
	}
	src.Refs.Publish(c.number, pub)
	return snap, nil
}

// snapshotCapture is a snapshot in progress.
type snapshotCapture struct {
	SnapshotSource
	opts   SnapshotOptions
	number uint64
	root   *Frame // contains the captured document
	scope  snapshotScope

	mu     sync.Mutex
	pieces map[*Frame]*outline.Piece
	errs   map[*Frame]error
	owners map[frameOwner]*Frame
}

// frameOwner is a frame element: its ref in the frame that contains it.
type frameOwner struct {
	frame *Frame
	ref   string
}

// snapshotScope is a frame element in the root's process, and its document when it was found.
type snapshotScope struct {
	Ref      string `json:"ref"`
	Document string `json:"document"`
}

// findScope finds the document or element to capture.
func (c *snapshotCapture) findScope(ctx context.Context) error {
	c.root = c.Frames[0]
	if c.opts.Frame == "" {
		return nil
	}
	holder, arg := c.root, map[string]string{"selector": c.opts.Frame}
	if _, err := outline.ParseRef(c.opts.Frame); err == nil {
		e, err := c.Refs.Find(c.root, c.opts.Frame)
		if err != nil {
			return err
		}
		holder, arg = e.Frame, map[string]string{"ref": e.LocalRef}
	}
	at, err := RunScript[snapshotScope](ctx, holder, Script{Fn: "frameOf", Arg: arg})
	if no, ok := errors.AsType[*ScriptError](err); ok {
		return no.Explain(fmt.Sprintf("frame %q", c.opts.Frame))
	}
	if err != nil {
		return err
	}
	c.root = holder
	if at.Document != "" {
		c.scope = at
		return nil
	}
	for _, f := range c.Frames {
		if f.Parent() != holder {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, frameSnapshotLimit)
		ref, err := f.FindOwner(ctx)
		cancel()
		if err == nil && ref == at.Ref {
			c.root = f
			return nil
		}
	}
	return fmt.Errorf("frame %q: %w", c.opts.Frame, ErrFrameChanged)
}

type snapshotArg struct {
	Interactive bool   `json:"interactive"`
	Compact     bool   `json:"compact"`
	Addresses   bool   `json:"addresses"`
	Depth       *int   `json:"depth,omitempty"`
	MaxChars    int    `json:"maxChars,omitempty"`
	Selector    string `json:"selector,omitempty"`
	URLs        bool   `json:"urls,omitempty"`
	Frame       string `json:"frame,omitempty"`
	Document    string `json:"document,omitempty"`
	Dragged     bool   `json:"dragged,omitempty"` // see Frame.dragsAround
}

// capturePieces captures all processes of the page concurrently. Frames that are not captured within half of the time
// left are omitted.
func (c *snapshotCapture) capturePieces(ctx context.Context) {
	o := c.opts
	arg := snapshotArg{
		Interactive: o.Interactive, Compact: o.Compact,
		Addresses: o.Addresses, Depth: o.Depth, MaxChars: o.MaxChars, URLs: o.URLs,
	}
	if o.Query != "" || o.After != "" {
		arg.MaxChars = 0 // the searched text may be anywhere
	}
	rootArg := arg
	rootArg.Selector, rootArg.Frame, rootArg.Document = o.Selector, c.scope.Ref, c.scope.Document
	all, cancel := HalfOf(ctx)
	defer cancel()
	turns := NewTurns()
	answering := map[*Frame]context.Context{} // ends when the frame has failed to answer
	var wg sync.WaitGroup
	for _, f := range c.Frames {
		if !isWithin(f, c.root) {
			continue
		}
		around, ok := answering[f.Parent()]
		if !ok {
			around = all
		}
		own, fail := context.WithCancel(around)
		answering[f] = own //nolint:fatcontext // it ends with that of the frame around it
		wg.Go(func() {
			if f == c.root {
				c.capturePiece(ctx, all, f, rootArg)
			} else {
				c.captureInTurn(own, f, arg, turns)
			}
			if c.failed(f) {
				fail()
			}
		})
	}
	wg.Wait()
}

func (c *snapshotCapture) captureInTurn(ctx context.Context, f *Frame, arg snapshotArg, turns Turns) {
	end, err := turns.Begin(ctx)
	if err != nil {
		return
	}
	defer end()
	ref, err := f.FindOwner(ctx)
	if err != nil {
		return
	}
	c.mu.Lock()
	c.owners[frameOwner{f.Parent(), ref}] = f
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, frameSnapshotLimit)
	defer cancel()
	c.capturePiece(ctx, ctx, f, arg)
}

// failed reports whether a frame was not captured.
func (c *snapshotCapture) failed(f *Frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pieces[f] == nil || c.errs[f] != nil
}

func isWithin(f, root *Frame) bool {
	for ; f != nil; f = f.Parent() {
		if f == root {
			return true
		}
	}
	return false
}

// capturePiece captures one process. The script runs again if it can now reach closed shadow roots, or if a listener
// query, sent before the first run, found more clickable elements. When further ends the first run is enough.
func (c *snapshotCapture) capturePiece(ctx, further context.Context, f *Frame, arg snapshotArg) {
	var p *outline.Piece
	var err error
	var applying sync.WaitGroup
	shown := false // whether a snapshot would show the listeners found
	told := 0      // how many custom elements were asked about
	if heard, _ := f.QueryListeners(ctx); heard != nil {
		applying.Go(func() { shown, _ = heard.Apply(further) }) // without an answer the snapshot is less complete
	}
	for range MaxShadowDepth {
		var now *outline.Piece
		now, err = RunScript[*outline.Piece](ctx, f, Script{Fn: "snapshot", Arg: arg, Within: time.Minute})
		if err != nil {
			break
		}
		p, ctx = now, further
		more := false
		if p.SuspectedShadowHosts > 0 {
			found, err := f.OpenClosedShadows(ctx)
			more = err == nil && found > 0
		}
		applying.Wait()
		if !more && !shown && p.CustomElements != told {
			told = p.CustomElements
			more, _ = f.TellInternals(ctx) // without an answer the snapshot is less complete
		}
		if !more && !shown && p.UnseenOutside {
			arg.Dragged, _ = f.dragsAround(ctx) // as above
			more = arg.Dragged
		}
		if !more && !shown || ctx.Err() != nil {
			break
		}
		shown = false
	}
	applying.Wait()
	switch {
	case p != nil && further.Err() != nil:
		err = nil
	case err != nil:
		p = &outline.Piece{Failed: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pieces[f], c.errs[f] = p, err
}

// checkDocument checks that the captured document is still shown.
func (c *snapshotCapture) checkDocument(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.root.DocumentToken() != c.pieces[c.root].Token {
		return cdp.ErrDocumentGone
	}
	if c.scope.Ref == "" {
		return nil
	}
	same, err := RunScript[bool](ctx, c.root,
		Script{Fn: "same", Arg: map[string]string{"frame": c.scope.Ref, "document": c.scope.Document}})
	if err == nil && !same {
		err = cdp.ErrDocumentGone
	}
	return err
}

// explainError adds an explanation to an error.
func (c *snapshotCapture) explainError(err error) error {
	if errors.Is(err, cdp.ErrDocumentGone) {
		return ErrFrameChanged
	}
	no, ok := errors.AsType[*ScriptError](err)
	switch {
	case !ok:
		return err
	case no.Code == "selector":
		return no.Explain(fmt.Sprintf("selector %q", c.opts.Selector))
	case no.Code == "changed" || no.Code == "gone":
		return ErrFrameChanged
	}
	return err
}
