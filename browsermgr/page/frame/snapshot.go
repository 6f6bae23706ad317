package frame

import "clank/browsermgr/page/outline"

// Snapshot is a page as text, one node a line, two spaces a level:
//
//   - role "name" [attribute] [ref=e12]: text
type Snapshot struct {
	Text      string
	URL       string
	Title     string
	Truncated bool
	// Status is the HTTP status of the document; 0 if unknown.
	Status int
	// NewElements counts the refs that the previous snapshot did not have; nil for the first one of a document and for
	// snapshots that are not compared.
	NewElements *int
	// Reason says why there is nothing to see; "" if there is something.
	Reason string
}

// Refs lists the refs of the snapshot in order of appearance.
func (s Snapshot) Refs() []outline.Ref { return outline.ListRefs(s.Text) }

// Describe returns the refs by name, and measures the snapshot.
func (s Snapshot) Describe() (map[string]outline.RefInfo, outline.Stats) {
	refs := s.Refs()
	return outline.RefsByName(refs), outline.MeasureText(s.Text, refs)
}
