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

// SnapshotSource names what a snapshot is taken of.
type SnapshotSource struct {
	Frames []*Frame // the main one first, parents before those they embed
	Refs   *RefRegistry
}

// ErrFrameChanged says that the document which a snapshot was taken of gave way to another one meanwhile.
var ErrFrameChanged = errors.New("Frame changed during the capture: the page keeps navigating; retry in a moment")

// frameSnapshotLimit bounds what a frame of another process may take: one that does not answer must not take the page with it.
const frameSnapshotLimit = 3 * time.Second

// TakeSnapshot describes the page and, if it came to its end, makes its refs those of the tab. If the document went away the
// error is [ErrFrameChanged].
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

// snapshotCapture is one snapshot on its way.
type snapshotCapture struct {
	SnapshotSource
	opts   SnapshotOptions
	number uint64
	root   *Frame // holds the document that the snapshot is of
	scope  snapshotScope

	mu     sync.Mutex
	pieces map[*Frame]*outline.Piece
	errs   map[*Frame]error
	owners map[frameOwner]*Frame
}

// frameOwner is a frame element: its ref in the frame that holds it.
type frameOwner struct {
	frame *Frame
	ref   string
}

// snapshotScope is a frame element of the root's process, and the document that it showed when it was found.
type snapshotScope struct {
	Ref      string `json:"ref"`
	Document string `json:"document"`
}

// findScope finds where the snapshot begins.
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
}

// capturePieces asks all processes of the page at once.
func (c *snapshotCapture) capturePieces(ctx context.Context) {
	o := c.opts
	arg := snapshotArg{
		Interactive: o.Interactive, Compact: o.Compact,
		Addresses: o.Addresses, Depth: o.Depth, MaxChars: o.MaxChars, URLs: o.URLs,
	}
	if o.Query != "" || o.After != "" {
		arg.MaxChars = 0 // what is looked for may be anywhere
	}
	var wg sync.WaitGroup
	for _, f := range c.Frames {
		arg := arg
		if f == c.root {
			arg.Selector, arg.Frame, arg.Document = o.Selector, c.scope.Ref, c.scope.Document
			wg.Go(func() { c.capturePiece(ctx, f, arg) })
			continue
		}
		if !isWithin(f, c.root) {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, frameSnapshotLimit)
			defer cancel()
			if ref, err := f.FindOwner(ctx); err == nil {
				c.mu.Lock()
				c.owners[frameOwner{f.Parent(), ref}] = f
				c.mu.Unlock()
			}
			c.capturePiece(ctx, f, arg)
		})
	}
	wg.Wait()
}

func isWithin(f, root *Frame) bool {
	for ; f != nil; f = f.Parent() {
		if f == root {
			return true
		}
	}
	return false
}

// capturePiece takes the piece of one process. What closed shadow roots hold comes with another look, once they are
// open to us; so do elements that only a listener makes clickable, once we have heard of them; we ask beside the first.
func (c *snapshotCapture) capturePiece(ctx context.Context, f *Frame, arg snapshotArg) {
	var p *outline.Piece
	var err error
	var applying sync.WaitGroup
	shown := false // what was heard would be
	if heard, _ := f.QueryListeners(ctx); heard != nil {
		applying.Go(func() { shown, _ = heard.Apply(ctx) }) // without an answer the picture is less whole, but true
	}
	for range MaxShadowDepth {
		p, err = RunScript[*outline.Piece](ctx, f, Script{Fn: "snapshot", Arg: arg, Within: time.Minute})
		if err != nil {
			break
		}
		more := false
		if p.SuspectedShadowHosts > 0 {
			found, err := f.OpenClosedShadows(ctx)
			more = err == nil && found > 0
		}
		applying.Wait()
		if !more && !shown {
			break
		}
		shown = false
	}
	applying.Wait()
	if p == nil || err != nil {
		p = &outline.Piece{Failed: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pieces[f], c.errs[f] = p, err
}

// checkDocument makes sure that the captured document is still there.
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
	same, err := RunScript[bool](ctx, c.root, Script{Fn: "same", Arg: map[string]string{"frame": c.scope.Ref, "document": c.scope.Document}})
	if err == nil && !same {
		err = cdp.ErrDocumentGone
	}
	return err
}

// explainError puts an error into words.
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
