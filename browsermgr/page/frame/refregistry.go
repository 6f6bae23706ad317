package frame

import (
	"fmt"
	"sync"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/outline"
)

// RefMode says how the refs of a snapshot are numbered, and how long they hold.
type RefMode int

const (
	// RefModeStable refs are given once for the life of an element: an element has the same one in each snapshot.
	RefModeStable RefMode = iota
	// RefModeUntilNavigation refs are own ones that end when any frame navigates.
	RefModeUntilNavigation
	// RefModeTree refs (ax1, ax2, …) count the nodes of one accessibility tree. They stand beside the others.
	RefModeTree
)

// BoundElement is an element as a snapshot found it: the name that the scripts of a frame's document gave it.
type BoundElement struct {
	Frame         *Frame
	DocumentToken string // of the document's world
	LocalRef      string // ref there; "" if the node is no element
	// Secret says that what the element holds must not be told. Only [Frame.Bind] finds out.
	Secret bool
}

// SeenElements holds what a snapshot showed of a document, to tell later what is new.
type SeenElements struct {
	Document string
	Elements map[string]struct{}
}

// RefSet is what a finished snapshot has to say about refs.
type RefSet struct {
	Mode   RefMode
	Bounds []BoundElement // of RefModeTree, in order
	// Family names the snapshots that are compared with each other; "" for none.
	Family string
	Seen   SeenElements
}

// maxFamilies bounds how many kinds of snapshots of a tab are compared with their predecessors.
const maxFamilies = 16

// RefRegistry says what the refs of a tab mean: those of the snapshot that was published last. The zero value is ready for
// use. It is safe for concurrent use.
type RefRegistry struct {
	mu            sync.Mutex
	lastBegun     uint64
	lastPublished uint64 // number of the capture that was published last
	lastTree      uint64 // the same for accessibility trees
	mode          RefMode
	ended         bool // a frame has navigated since; for RefModeUntilNavigation
	numbers       DocumentNumbers
	treeBounds    []BoundElement
	seen          map[string]SeenElements
}

// BeginCapture gives a capture its number: of two, the one that began later wins, whichever ends first.
func (r *RefRegistry) BeginCapture() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastBegun++
	return r.lastBegun
}

// Publish makes the refs of a capture those of the tab and reports whether that was done: not if a later one was
// published already, or the tab has shown another document since.
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

// Previous returns the elements that the last snapshot of a family showed of the same document; ok is false if
// there was none.
func (r *RefRegistry) Previous(family, document string) (elements map[string]struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, ok := r.seen[family]
	if !ok || seen.Document != document {
		return nil, false
	}
	return seen.Elements, true
}

// DocumentNumber returns the number that own refs show for a document, see [DocumentNumbers.Number].
func (r *RefRegistry) DocumentNumber(f *Frame, token string, local int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.numbers.Number(f, token, local)
}

// Reset forgets everything: the main frame shows another document. Captures that began before are not published.
func (r *RefRegistry) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastPublished, r.lastTree = r.lastBegun, r.lastBegun
	r.mode, r.treeBounds, r.seen, r.ended = RefModeStable, nil, nil, false
	r.numbers = DocumentNumbers{}
}

// FrameNavigated notes that an embedded frame shows another document.
func (r *RefRegistry) FrameNavigated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = r.mode == RefModeUntilNavigation
}

// Find resolves a ref. Whether the element still exists only the page can tell.
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
		return Element{}, fmt.Errorf("%w %s: a frame of the page has navigated since; take a new snapshot", fault.ErrUnknownRef, key)
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
		return Element{}, fmt.Errorf("%w %s: it is no element of the page", fault.ErrUnknownRef, key)
	case b.Frame.DocumentToken() != b.DocumentToken:
		return Element{}, wrongDocumentError(key)
	}
	return Element{Frame: b.Frame, LocalRef: b.LocalRef, GivenRef: key.String()}, nil
}

func wrongDocumentError(key outline.RefKey) error {
	return fmt.Errorf("%w %s: its frame shows another document now; take a new snapshot", fault.ErrUnknownRef, key)
}
