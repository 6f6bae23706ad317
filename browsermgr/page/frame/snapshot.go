package frame

import (
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"
)

// Snapshot is a page as text, one node per line, indented by two spaces per level:
//
//   - role "name" [attribute] [ref=e12]: text
type Snapshot struct {
	Text      string
	URL       string
	Title     string
	Truncated bool
	// Status is the HTTP status of the document; 0 if unknown.
	Status int
	// NewElements counts the refs that the previous snapshot did not have; nil for the first one of a document and
	// without Delta.
	NewElements *int
	// Reason says why the snapshot is empty; "" if it is not.
	Reason string
}

// Refs lists the refs of the snapshot in order of appearance.
func (s Snapshot) Refs() []outline.Ref { return outline.ListRefs(s.Text) }

// Describe returns the refs by name, and statistics of the snapshot.
func (s Snapshot) Describe() (map[string]outline.RefInfo, outline.Stats) {
	refs := s.Refs()
	return outline.RefsByName(refs), outline.MeasureText(s.Text, refs)
}

// RefStyle says how a snapshot numbers its refs.
type RefStyle string

// Values of RefStyle.
const (
	// RefsOwn gives each element a ref that it keeps in later snapshots: e12, in frames f1e5.
	RefsOwn RefStyle = ""
	// RefsRole is RefsOwn, and distinguishes elements of the same role and name with [nth=k].
	RefsRole RefStyle = "role"
	// RefsAria is RefsOwn, but the refs expire when any frame of the page navigates. It cannot be combined with
	// Selector or Frame.
	RefsAria RefStyle = "aria"
)

// SnapshotOptions configures a snapshot. The zero value shows the whole page.
type SnapshotOptions struct {
	// Refs says how refs are numbered.
	Refs RefStyle
	// Interactive lists only elements that can be acted on, without nesting.
	Interactive bool
	// Compact omits unnamed structure, and whatever contains no ref.
	Compact bool
	// Depth, if not nil, is the maximum indentation level; 0 is the root level only.
	Depth *int
	// MaxChars limits the text, in UTF-16 units. It is cut after a whole line, and a line with TRUNCATED is added; 0
	// means no limit.
	MaxChars int
	// Selector limits the snapshot to the contents of the first matching element, or to the element if it is a control.
	// No match gives an empty snapshot, not an error.
	Selector string
	// Frame limits the snapshot to the document of a frame, given as a CSS selector of its element in the main
	// document, or its ref. Selector then applies to that document.
	Frame string
	// URLs appends the addresses of the links, at most 100.
	URLs bool
	// Addresses adds a line "/url: …" below each link.
	Addresses bool
	// Query keeps only lines that contain all its words, ignoring case.
	Query string
	// After shows what follows the element with this ref in document order, to continue a truncated or folded snapshot.
	After string
	// Delta compares with the previous snapshot of the same document and options that had Delta set, and marks and
	// counts new refs.
	Delta bool
	// Timeout bounds the snapshot; 0 means 20 s. An earlier deadline of the context applies.
	Timeout time.Duration
}

// Validate returns an error that wraps [fault.ErrInvalid] if options cannot be combined.
func (o SnapshotOptions) Validate() error {
	switch {
	case o.Refs != RefsOwn && o.Refs != RefsRole && o.Refs != RefsAria:
		return fault.Invalidf("refs %q: use role or aria", o.Refs)
	case o.Refs == RefsAria && (o.Selector != "" || o.Frame != ""):
		return fault.Invalidf("refs=aria does not support selector or frame: use refs=role")
	case o.Depth != nil && *o.Depth < 0:
		return fault.Invalidf("depth must be a non-negative integer.")
	}
	return nil
}

func (o SnapshotOptions) mode() RefMode {
	switch o.Refs {
	case RefsAria:
		return RefModeUntilNavigation
	case RefsOwn, RefsRole:
	}
	return RefModeStable
}

// family identifies the snapshots that this one is compared with.
func (o SnapshotOptions) family() string {
	if !o.Delta {
		return ""
	}
	depth := -1
	if o.Depth != nil {
		depth = *o.Depth
	}
	return fmt.Sprintf("%q %t %t %d %d %q %q %q %q", o.Refs, o.Interactive, o.Compact, depth, o.MaxChars, o.Selector,
		o.Frame, o.Query, o.After)
}

// compose joins the pieces, applies the limits and returns the meaning of the refs.
func (c *snapshotCapture) compose() (Snapshot, RefSet, error) {
	for f, p := range c.pieces {
		p.Child = func(ref string) *outline.Piece { return c.pieces[c.owners[frameOwner{f, ref}]] }
		if f == c.Frames[0] && p.Documents == 0 {
			continue // its refs belong to the page
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
		return Snapshot{}, pub, fmt.Errorf("%w %s: no line of this snapshot has it; take one of the whole page",
			fault.ErrUnknownRef, c.opts.After)
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

// emptyText returns the text and reason of a snapshot without lines.
func (c *snapshotCapture) emptyText(main *outline.Piece) (text, reason string) {
	switch {
	case !main.Found && c.opts.Selector != "":
		return "(empty)", "no element matches the selector"
	case main.PDF:
		const pdf = "a PDF, of which snapshots show nothing: take a screenshot, or download the link that led to it"
		return "(" + pdf + ")", pdf
	case c.opts.Interactive:
		return "(no interactive elements)", "no interactive elements"
	case c.opts.Selector != "":
		return "(empty)", "the selected element shows nothing"
	}
	return "(empty)", "the page is empty"
}
