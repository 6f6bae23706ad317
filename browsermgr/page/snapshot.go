package page

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

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions struct {
	// Interactive lists only elements that can be acted on, flat.
	Interactive bool
	// Compact leaves out structure that carries no name.
	Compact bool
	// Depth, if not nil, is the deepest level of indentation shown; 0 is the root level only.
	Depth *int
	// MaxChars limits the text, in UTF-16 units, cut on a whole line and ended by a line that says TRUNCATED; 0 means no
	// limit.
	MaxChars int
	// Selector limits the snapshot to the first element that matches. No match gives an empty snapshot, not an error.
	Selector string
	// URLs appends the addresses of the links.
	URLs bool
	// Timeout bounds the whole; 0 means 20 s. A shorter context wins.
	Timeout time.Duration
}

// Snapshot is the page as text, one node a line, two spaces a level:
//
//   - role "name" [attribute] [ref=e12]: text
type Snapshot struct {
	Text      string
	URL       string
	Title     string
	Truncated bool
	// Status is the HTTP status of the document; 0 if unknown.
	Status int
}

// Ref is one ref of a snapshot.
type Ref = outline.Ref

// Refs lists the refs of the snapshot in order of appearance.
func (s Snapshot) Refs() []Ref { return outline.Refs(s.Text) }

type snapshotArg struct {
	Interactive bool   `json:"interactive"`
	Compact     bool   `json:"compact"`
	Depth       *int   `json:"depth,omitempty"`
	MaxChars    int    `json:"maxChars,omitempty"`
	Selector    string `json:"selector,omitempty"`
	URLs        bool   `json:"urls,omitempty"`
}

// Snapshot describes the page, frames included. Elements keep their refs from one snapshot to the next while the document
// lives. If a dialog is open the error is a *[DialogError].
func (t *Tab) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	limit := opts.Timeout
	if limit <= 0 {
		limit = 20 * time.Second
	}
	var snap Snapshot
	err := t.exclusive(ctx, limit, func(ctx context.Context) error {
		var err error
		snap, err = t.capture(ctx, opts)
		return err
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("snapshot of tab %s: %w", t.id, err)
	}
	return snap, nil
}

var errFrameChanged = errors.New("Frame changed during the capture: the page keeps navigating; retry in a moment") //nolint:staticcheck // matched on

// captureTries is how often a page may navigate under our hands before we say so.
const captureTries = 4

func (t *Tab) capture(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	for try := 0; ; try++ {
		if err := t.awaitParsed(ctx, 3*time.Second); err != nil {
			return Snapshot{}, err
		}
		c := t.gather(ctx, opts)
		err := c.errs[t.main]
		if errors.Is(err, cdp.ErrDocumentGone) && try < captureTries {
			continue
		}
		var no *frame.ScriptError
		switch {
		case errors.Is(err, cdp.ErrDocumentGone):
			return Snapshot{}, errFrameChanged
		case errors.As(err, &no):
			return Snapshot{}, no.Explain(fmt.Sprintf("selector %q", opts.Selector))
		case err != nil:
			return Snapshot{}, err
		}
		return t.compose(c, opts), nil
	}
}

// capture is what the processes of a page say of it.
type capture struct {
	mu     sync.Mutex
	pieces map[*frame.Frame]*outline.Piece
	tokens map[*frame.Frame]string
	errs   map[*frame.Frame]error
	owners map[owner]*frame.Frame
}

// owner is a frame element: its ref in the frame that holds it.
type owner struct {
	frame *frame.Frame
	ref   string
}

// gather asks all processes of the page at once.
func (t *Tab) gather(ctx context.Context, opts SnapshotOptions) *capture {
	arg := snapshotArg{Interactive: opts.Interactive, Compact: opts.Compact, Depth: opts.Depth, MaxChars: opts.MaxChars, URLs: opts.URLs}
	c := &capture{
		pieces: map[*frame.Frame]*outline.Piece{}, tokens: map[*frame.Frame]string{},
		errs: map[*frame.Frame]error{}, owners: map[owner]*frame.Frame{},
	}
	var wg sync.WaitGroup
	for _, f := range t.allFrames() {
		arg := arg
		if f == t.main {
			arg.Selector = opts.Selector
			wg.Go(func() { c.take(ctx, f, arg) })
			continue
		}
		// A frame that does not answer must not take the page with it.
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
			defer cancel()
			if ref, err := f.Place(ctx); err == nil {
				c.mu.Lock()
				c.owners[owner{f.Parent(), ref}] = f
				c.mu.Unlock()
			}
			c.take(ctx, f, arg)
		})
	}
	wg.Wait()
	return c
}

func (c *capture) take(ctx context.Context, f *frame.Frame, arg snapshotArg) {
	p, err := frame.Run[*outline.Piece](ctx, f, frame.Script{Fn: "snapshot", Arg: arg, Within: time.Minute})
	if p == nil {
		p = &outline.Piece{Failed: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pieces[f], c.errs[f], c.tokens[f] = p, err, f.Token()
}

// compose joins the pieces and applies the limits.
func (t *Tab) compose(c *capture, opts SnapshotOptions) Snapshot {
	for f, p := range c.pieces {
		p.Child = func(ref string) *outline.Piece { return c.pieces[c.owners[owner{f, ref}]] }
		if f == t.main && p.Documents == 0 {
			continue // its refs are the page's
		}
		p.Number = func(document int) int {
			if f == t.main && document == 0 {
				return 0
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.numbers.Number(f, c.tokens[f], document)
		}
	}
	empty := "(empty)"
	if opts.Interactive && opts.Selector == "" {
		empty = "(no interactive elements)"
	}
	main := c.pieces[t.main]
	var snap Snapshot
	snap.Text, snap.Truncated = outline.Compose(main, outline.Options{
		Flat: opts.Interactive, Depth: opts.Depth, MaxChars: opts.MaxChars, Empty: empty,
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.title = main.Title
	snap.URL, snap.Title, snap.Status = t.url, t.title, t.load.status
	return snap
}
