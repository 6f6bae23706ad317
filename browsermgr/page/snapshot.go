package page

import "context"

// SnapshotOptions says what a snapshot shows. The zero value shows the whole page.
type SnapshotOptions struct {
	// Interactive lists only elements that can be acted on, flat.
	Interactive bool
	// Compact leaves out structure that carries no name.
	Compact bool
	// Depth, if not nil, is the deepest level of indentation shown; 0 is the root level only.
	Depth *int
	// MaxChars limits the text, cut on a whole line and ended by a line that says TRUNCATED; 0 means no limit.
	MaxChars int
	// Selector limits the snapshot to the first element that matches. No match gives an empty snapshot, not an error.
	Selector string
	// URLs appends the addresses of the links.
	URLs bool
}

// Snapshot is the page as text, one node a line, two spaces a level:
//
//	- role "name" [attribute] [ref=e12]: text
type Snapshot struct {
	Text      string
	URL       string
	Title     string
	Truncated bool
	// Status is the HTTP status of the document; 0 if unknown.
	Status int
}

// Ref is one ref of a snapshot.
type Ref struct {
	Ref  string
	Role string
	Name string
	Nth  int // position among refs of the same role and name
	Dup  bool
}

// Refs lists the refs of the snapshot in order of appearance.
func (s Snapshot) Refs() []Ref { return nil }

// Snapshot describes the page, frames included. Elements keep their refs from one snapshot to the next while the document
// lives. If a dialog is open the error is a *[DialogError].
func (t *Tab) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	return Snapshot{}, ErrTabGone
}
