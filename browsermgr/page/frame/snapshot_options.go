package frame

import (
	"fmt"
	"time"

	"clank/browsermgr/fault"
)

// RefStyle says how the refs of a snapshot are numbered.
type RefStyle string

// The values of [Refs].
const (
	// RefsOwn gives each element a ref of its own that it keeps from one snapshot to the next: e12, in frames f1e5.
	RefsOwn RefStyle = ""
	// RefsRole numbers the elements of one snapshot e1, e2, … in document order, frames included, and tells those of the
	// same role and name apart with [nth=k].
	RefsRole RefStyle = "role"
	// RefsAria is RefsOwn, but the refs end when any frame of the page navigates. It goes neither with Selector nor Frame.
	RefsAria RefStyle = "aria"
)

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions struct {
	// Refs says how refs are numbered.
	Refs RefStyle
	// Interactive lists only elements that can be acted on, flat.
	Interactive bool
	// Compact leaves out structure that carries no name, and what leads to no ref.
	Compact bool
	// Depth, if not nil, is the deepest level of indentation shown; 0 is the root level only.
	Depth *int
	// MaxChars limits the text, in UTF-16 units, cut on a whole line and ended by a line that says TRUNCATED; 0 means no
	// limit.
	MaxChars int
	// Selector limits the snapshot to what the first element that matches holds, and to itself if it is a control. No match
	// gives an empty snapshot, not an error.
	Selector string
	// Frame limits the snapshot to the document of a frame: a CSS selector of its element in the main document, or its ref.
	// Selector then means an element in there.
	Frame string
	// URLs appends the addresses of the links, at most 100.
	URLs bool
	// Addresses writes below each link where it leads, as a line "/url: …".
	Addresses bool
	// Query keeps only lines that contain all its words, in any case.
	Query string
	// Delta compares with the previous snapshot of the same document and options that was asked for with Delta, marks the
	// refs that are new, and counts them.
	Delta bool
	// Timeout bounds the whole; 0 means 20 s. A shorter context wins.
	Timeout time.Duration
}

// Validate reports options that do not go together, as an error that wraps [fault.ErrInvalid].
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
	case RefsRole:
		return RefModeNumbered
	case RefsAria:
		return RefModeUntilNavigation
	case RefsOwn:
	}
	return RefModeStable
}

// family names the snapshots that this one is compared with.
func (o SnapshotOptions) family() string {
	if !o.Delta {
		return ""
	}
	depth := -1
	if o.Depth != nil {
		depth = *o.Depth
	}
	return fmt.Sprintf("%q %t %t %d %d %q %q %q", o.Refs, o.Interactive, o.Compact, depth, o.MaxChars, o.Selector, o.Frame, o.Query)
}
