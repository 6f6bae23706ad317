package frame

import "clank/browsermgr/page/outline"

// compose joins the pieces, applies the limits and says what the refs mean.
func (c *snapshotCapture) compose() (Snapshot, RefSet) {
	frames := map[*outline.Piece]*Frame{}
	for f, p := range c.pieces {
		frames[p] = f
		p.Child = func(ref string) *outline.Piece { return c.pieces[c.owners[frameOwner{f, ref}]] }
		if c.opts.Refs == RefsRole || f == c.Frames[0] && p.Documents == 0 {
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
	page := outline.Compose(main, outline.ComposeOptions{Flat: c.opts.Interactive, Numbered: c.opts.Refs == RefsRole, Depth: c.opts.Depth})
	pub := RefSet{Mode: c.opts.mode(), Family: c.opts.family()}
	document := main.Token + " " + main.Document
	before, again := c.Refs.Previous(pub.Family, document)
	empty, reason := c.emptyText(main)
	done := outline.Finish(page, outline.FinishOptions{
		Empty: empty, MaxChars: c.opts.MaxChars, Query: c.opts.Query,
		Compare: c.opts.Delta, Before: before, StableRefs: c.opts.Refs != RefsRole,
	})
	pub.Seen = SeenElements{Document: document, Elements: done.Elements}
	pub.Bounds = make([]BoundElement, len(page.Bounds))
	for i, b := range page.Bounds {
		pub.Bounds[i] = BoundElement{Frame: frames[b.Piece], DocumentToken: b.Piece.Token, LocalRef: b.LocalRef}
	}
	if c.opts.Refs == RefsRole && done.Truncated {
		pub.Bounds = pub.Bounds[:highestRef(done.Text, len(pub.Bounds))]
	}
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
	return snap, pub
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

// highestRef returns the highest numbered ref in a text, at most n: those that were cut off mean nothing.
func highestRef(text string, n int) int {
	highest := 0
	for _, r := range outline.ListRefs(text) {
		if key, err := outline.ParseRef(r.Ref); err == nil && key.Document == 0 {
			highest = max(highest, key.Number)
		}
	}
	return min(highest, n)
}
