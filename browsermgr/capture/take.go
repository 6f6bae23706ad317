package capture

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/outline"
)

// Source is what a snapshot is taken of.
type Source struct {
	Frames []*frame.Frame // the main one first, parents before those they embed
	Refs   *frame.Registry
}

// ErrFrameChanged says that the document which a snapshot was taken of gave way to another one meanwhile.
var ErrFrameChanged = errors.New("Frame changed during the capture: the page keeps navigating; retry in a moment") //nolint:staticcheck // matched on

// frameLimit bounds what a frame of another process may take: one that does not answer must not take the page with it.
const frameLimit = 3 * time.Second

// Take describes the page and, if it came to its end, makes its refs those of the tab. If the document went away the
// error is [ErrFrameChanged].
func Take(ctx context.Context, src Source, opts Options) (Snapshot, error) {
	c := &capture{
		Source: src, opts: opts, number: src.Refs.Begin(),
		pieces: map[*frame.Frame]*outline.Piece{}, errs: map[*frame.Frame]error{}, owners: map[owner]*frame.Frame{},
	}
	if err := c.findScope(ctx); err != nil {
		return Snapshot{}, c.explain(err)
	}
	c.gather(ctx)
	if err := c.errs[c.root]; err != nil {
		return Snapshot{}, c.explain(err)
	}
	snap, pub := c.compose()
	if err := c.verify(ctx); err != nil {
		return Snapshot{}, c.explain(err)
	}
	src.Refs.Publish(c.number, pub)
	return snap, nil
}

// capture is one snapshot on its way.
type capture struct {
	Source
	opts   Options
	number uint64
	root   *frame.Frame // holds the document that the snapshot is of
	scope  scope

	mu     sync.Mutex
	pieces map[*frame.Frame]*outline.Piece
	errs   map[*frame.Frame]error
	owners map[owner]*frame.Frame
}

// owner is a frame element: its ref in the frame that holds it.
type owner struct {
	frame *frame.Frame
	ref   string
}

// scope is a frame element of the root's process, and the document that it showed when it was found.
type scope struct {
	Ref      string `json:"ref"`
	Document string `json:"document"`
}

// findScope finds where the snapshot begins.
func (c *capture) findScope(ctx context.Context) error {
	c.root = c.Frames[0]
	if c.opts.Frame == "" {
		return nil
	}
	holder, arg := c.root, map[string]string{"selector": c.opts.Frame}
	if _, err := outline.ParseKey(c.opts.Frame); err == nil {
		e, err := c.Refs.Find(c.root, c.opts.Frame)
		if err != nil {
			return err
		}
		holder, arg = e.Frame, map[string]string{"ref": e.Local}
	}
	at, err := frame.Run[scope](ctx, holder, frame.Script{Fn: "frameOf", Arg: arg})
	if no, ok := errors.AsType[*frame.ScriptError](err); ok {
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
		ctx, cancel := context.WithTimeout(ctx, frameLimit)
		ref, err := f.Place(ctx)
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
	Numbered    bool   `json:"numbered"`
	Addresses   bool   `json:"addresses"`
	Depth       *int   `json:"depth,omitempty"`
	MaxChars    int    `json:"maxChars,omitempty"`
	Selector    string `json:"selector,omitempty"`
	URLs        bool   `json:"urls,omitempty"`
	Frame       string `json:"frame,omitempty"`
	Document    string `json:"document,omitempty"`
}

// gather asks all processes of the page at once.
func (c *capture) gather(ctx context.Context) {
	o := c.opts
	arg := snapshotArg{
		Interactive: o.Interactive, Compact: o.Compact, Numbered: o.Refs == RefsRole,
		Addresses: o.Addresses, Depth: o.Depth, MaxChars: o.MaxChars, URLs: o.URLs,
	}
	if o.Query != "" {
		arg.MaxChars = 0 // what is looked for may be anywhere
	}
	var wg sync.WaitGroup
	for _, f := range c.Frames {
		arg := arg
		if f == c.root {
			arg.Selector, arg.Frame, arg.Document = o.Selector, c.scope.Ref, c.scope.Document
			wg.Go(func() { c.ask(ctx, f, arg) })
			continue
		}
		if !below(f, c.root) {
			continue
		}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, frameLimit)
			defer cancel()
			if ref, err := f.Place(ctx); err == nil {
				c.mu.Lock()
				c.owners[owner{f.Parent(), ref}] = f
				c.mu.Unlock()
			}
			c.ask(ctx, f, arg)
		})
	}
	wg.Wait()
}

func below(f, root *frame.Frame) bool {
	for ; f != nil; f = f.Parent() {
		if f == root {
			return true
		}
	}
	return false
}

// ask takes the piece of one process. What closed shadow roots hold comes with another look, once they are open to us; so do
// elements that only a listener makes clickable, once we have heard of them.
func (c *capture) ask(ctx context.Context, f *frame.Frame, arg snapshotArg) {
	var p *outline.Piece
	var err error
	heard, _ := f.AskListeners(ctx)
	for range frame.ClosedLevels {
		p, err = frame.Run[*outline.Piece](ctx, f, frame.Script{Fn: "snapshot", Arg: arg, Within: time.Minute})
		if err != nil {
			break
		}
		more := false
		if heard != nil {
			more, _ = heard.Heed(ctx) // without an answer the picture is less whole, but true
			heard = nil
		}
		if p.Suspects > 0 {
			found, err := f.OpenClosed(ctx)
			more = more || err == nil && found > 0
		}
		if !more {
			break
		}
	}
	if p == nil || err != nil {
		p = &outline.Piece{Failed: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pieces[f], c.errs[f] = p, err
}

// verify makes sure that the captured document is still there.
func (c *capture) verify(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.root.Token() != c.pieces[c.root].Token {
		return cdp.ErrDocumentGone
	}
	if c.scope.Ref == "" {
		return nil
	}
	same, err := frame.Run[bool](ctx, c.root, frame.Script{Fn: "same", Arg: map[string]string{"frame": c.scope.Ref, "document": c.scope.Document}})
	if err == nil && !same {
		err = cdp.ErrDocumentGone
	}
	return err
}

// explain puts an error into words.
func (c *capture) explain(err error) error {
	if errors.Is(err, cdp.ErrDocumentGone) {
		return ErrFrameChanged
	}
	no, ok := errors.AsType[*frame.ScriptError](err)
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
