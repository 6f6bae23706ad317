package frame

import (
	"fmt"
	"sync"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"
)

// RefMode says how the refs of a snapshot are numbered, and how long they are valid.
type RefMode int

const (
	// RefModeStable refs are assigned for the life of an element, which keeps its ref in each snapshot.
	RefModeStable RefMode = iota
	// RefModeUntilNavigation refs are like stable ones, but expire when any frame navigates.
	RefModeUntilNavigation
	// RefModeTree refs (ax1, ax2, …) number the nodes of one accessibility tree. They do not replace the others.
	RefModeTree
)

// BoundElement is an element found by a snapshot, named as by the scripts of its frame's document.
type BoundElement struct {
	Frame         *Frame
	DocumentToken string // of the document's world
	LocalRef      string // ref in that document; "" if the node is not an element
	// Secret reports that the element's value must not be disclosed. Only [Frame.Bind] sets it.
	Secret bool
}

// SeenElements holds the elements of a document that a snapshot showed, to find new ones later.
type SeenElements struct {
	Document string
	Elements map[string]struct{}
}

// RefSet holds the refs of a finished snapshot.
type RefSet struct {
	Mode   RefMode
	Bounds []BoundElement // for RefModeTree, in order
	// Family identifies snapshots that are compared with each other; "" for none.
	Family string
	Seen   SeenElements
}

// maxFamilies bounds the families of snapshots kept for a tab.
const maxFamilies = 16

// RefRegistry resolves the refs of a tab: those of the last published snapshot. The zero value is ready for use. It is
// safe for concurrent use.
type RefRegistry struct {
	mu            sync.Mutex
	lastBegun     uint64
	lastPublished uint64 // number of the last published capture
	lastTree      uint64 // the same for accessibility trees
	mode          RefMode
	ended         bool // a frame has navigated since; for RefModeUntilNavigation
	numbers       DocumentNumbers
	treeBounds    []BoundElement
	seen          map[string]SeenElements
}

// BeginCapture returns the number of a new capture: of two captures the one that began later wins, even if it ends
// first.
func (r *RefRegistry) BeginCapture() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastBegun++
	return r.lastBegun
}

// Publish makes the refs of a capture those of the tab and returns true, unless a later capture was published already
// or the tab has navigated since.
func (r *RefRegistry) Publish(capture uint64, p RefSet) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := &r.lastPublished
	if p.Mode == RefModeTree {
		last = &r.lastTree
	}
	if capture <= *last {
		return false
	}
	*last = capture
	if p.Mode == RefModeTree {
		r.treeBounds = p.Bounds
		return true
	}
	r.mode, r.ended = p.Mode, false
	if p.Family != "" {
		if r.seen == nil || len(r.seen) >= maxFamilies {
			r.seen = map[string]SeenElements{}
		}
		r.seen[p.Family] = p.Seen
	}
	return true
}

// Previous returns the elements that the last snapshot of a family showed of the same document; ok is false if there
// was none.
func (r *RefRegistry) Previous(family, document string) (elements map[string]struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, ok := r.seen[family]
	if !ok || seen.Document != document {
		return nil, false
	}
	return seen.Elements, true
}

// DocumentNumber returns the number of a document in refs; see [DocumentNumbers.Number].
func (r *RefRegistry) DocumentNumber(f *Frame, token string, local int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.numbers.Number(f, token, local)
}

// Reset drops everything because the main frame navigated. Captures that began earlier are not published.
func (r *RefRegistry) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastPublished, r.lastTree = r.lastBegun, r.lastBegun
	r.mode, r.treeBounds, r.seen, r.ended = RefModeStable, nil, nil, false
	r.numbers = DocumentNumbers{}
}

// FrameNavigated records that a subframe navigated.
func (r *RefRegistry) FrameNavigated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = r.mode == RefModeUntilNavigation
}

// Find resolves a ref. Whether the element still exists is only known to the page.
func (r *RefRegistry) Find(main *Frame, ref string) (Element, error) {
	key, err := outline.ParseRef(ref)
	if err != nil {
		return Element{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case key.InTree:
		return findBound(r.treeBounds, key)
	case r.ended:
		return Element{}, fmt.Errorf("%w %s: a frame of the page has navigated since; take a new snapshot",
			fault.ErrUnknownRef, key)
	}
	return r.numbers.Find(main, ref)
}

func findBound(bounds []BoundElement, key outline.RefKey) (Element, error) {
	if key.Number > len(bounds) {
		return Element{}, fault.UnknownRef(key.String())
	}
	b := bounds[key.Number-1]
	switch {
	case b.LocalRef == "":
		return Element{}, fmt.Errorf("%w %s: it is not an element of the page", fault.ErrUnknownRef, key)
	case b.Frame.DocumentToken() != b.DocumentToken:
		return Element{}, wrongDocumentError(key)
	}
	return Element{Frame: b.Frame, LocalRef: b.LocalRef, GivenRef: key.String()}, nil
}

func wrongDocumentError(key outline.RefKey) error {
	return fmt.Errorf("%w %s: its frame shows another document now; take a new snapshot", fault.ErrUnknownRef, key)
}
