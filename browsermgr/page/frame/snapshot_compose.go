package frame

import (
	"fmt"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"
)

// compose joins the pieces, applies the limits and says what the refs mean.
func (c *snapshotCapture) compose() (Snapshot, RefSet, error) {
	for f, p := range c.pieces {
		p.Child = func(ref string) *outline.Piece { return c.pieces[c.owners[frameOwner{f, ref}]] }
		if f == c.Frames[0] && p.Documents == 0 {
			continue // its refs are the page's
		}
		p.Number = func(document int) int {
			if f == c.Frames[0] && document == 0 {
				return 0
			}
			return c.Refs.DocumentNumber(f, p.Token, document)
		}
	}
	main := c.pieces[c.root]
	page := outline.Compose(main, outline.ComposeOptions{Flat: c.opts.Interactive, Depth: c.opts.Depth})
	pub := RefSet{Mode: c.opts.mode(), Family: c.opts.family()}
	document := main.Token + " " + main.Document
	before, again := c.Refs.Previous(pub.Family, document)
	empty, reason := c.emptyText(main)
	done := outline.Finish(page, outline.FinishOptions{
		Empty: empty, MaxChars: c.opts.MaxChars, Query: c.opts.Query, After: c.opts.After,
		Flat: c.opts.Interactive, Nth: c.opts.Refs == RefsRole,
		Compare: c.opts.Delta, Before: before, StableRefs: c.opts.Refs != RefsRole,
	})
	if done.Missing {
		return Snapshot{}, pub, fmt.Errorf("%w %s: no line of this snapshot has it; take it without after", fault.ErrUnknownRef, c.opts.After)
	}
	pub.Seen = SeenElements{Document: document, Elements: done.Elements}
	snap := Snapshot{Text: done.Text, Truncated: done.Truncated}
	if c.root == c.Frames[0] {
		snap.Title = main.Title
	}
	if page.Text == "" {
		snap.Reason = reason
	}
	if again {
		snap.NewElements = &done.New
	}
	return snap, pub, nil
}

// emptyText returns the text of a snapshot without a line, and the reason.
func (c *snapshotCapture) emptyText(main *outline.Piece) (text, reason string) {
	switch {
	case !main.Found && c.opts.Selector != "":
		return "(empty)", "no element matches the selector"
	case c.opts.Interactive:
		return "(no interactive elements)", "no interactive elements"
	case c.opts.Selector != "":
		return "(empty)", "the selected element shows nothing"
	}
	return "(empty)", "the page is empty"
}
