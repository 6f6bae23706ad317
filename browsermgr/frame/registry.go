package frame

import (
	"fmt"
	"sync"

	"clank/browsermgr/fault"
	"clank/browsermgr/outline"
)

// Mode says how the refs of a snapshot are numbered, and how long they hold.
type Mode int

const (
	// Own refs are given once for the life of an element: an element has the same one in each snapshot.
	Own Mode = iota
	// Numbered refs count the elements of one snapshot in document order.
	Numbered
	// OwnBrief refs are own ones that end when any frame navigates.
	OwnBrief
	// Tree refs (ax1, ax2, …) count the nodes of one accessibility tree. They stand beside the others.
	Tree
)

// Bound is an element as a snapshot found it: the name that the scripts of a frame's document gave it.
type Bound struct {
	Frame *Frame
	Token string // of the document's world
	Local string // ref there; "" if the node is no element
	// Secret says that what the element holds must not be told. Only [Frame.Bind] finds out.
	Secret bool
}

// Seen is what a snapshot showed of a document, to tell later what is new.
type Seen struct {
	Document string
	Elements map[string]struct{}
}

// Publication is what a finished snapshot has to say about refs.
type Publication struct {
	Mode   Mode
	Bounds []Bound // of Numbered and Tree, in order
	// Family names the snapshots that are compared with each other; "" for none.
	Family string
	Seen   Seen
}

// maxFamilies bounds how many kinds of snapshots of a tab are compared with their predecessors.
const maxFamilies = 16

// Registry says what the refs of a tab mean: those of the snapshot that was published last. The zero value is ready for
// use. It is safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	begun   uint64
	shown   uint64 // number of the capture that was published last
	tree    uint64 // the same for accessibility trees
	mode    Mode
	ended   bool // a frame has navigated since; for OwnBrief
	numbers Numbers
	bounds  []Bound
	nodes   []Bound
	seen    map[string]Seen
}

// Begin gives a capture its number: of two, the one that began later wins, whichever ends first.
func (r *Registry) Begin() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	return r.begun
}

// Publish makes the refs of a capture those of the tab and reports whether that was done: not if a later one was
// published already, or the tab has shown another document since.
func (r *Registry) Publish(capture uint64, p Publication) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := &r.shown
	if p.Mode == Tree {
		last = &r.tree
	}
	if capture <= *last {
		return false
	}
	*last = capture
	if p.Mode == Tree {
		r.nodes = p.Bounds
		return true
	}
	r.mode, r.bounds, r.ended = p.Mode, p.Bounds, false
	if p.Family != "" {
		if r.seen == nil || len(r.seen) >= maxFamilies {
			r.seen = map[string]Seen{}
		}
		r.seen[p.Family] = p.Seen
	}
	return true
}

// Previous is what the last snapshot of a family showed of the same document; ok is false if there was none.
func (r *Registry) Previous(family, document string) (elements map[string]struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, ok := r.seen[family]
	if !ok || seen.Document != document {
		return nil, false
	}
	return seen.Elements, true
}

// Number is the number that own refs show for a document, see [Numbers.Number].
func (r *Registry) Number(f *Frame, token string, local int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.numbers.Number(f, token, local)
}

// Reset forgets everything: the main frame shows another document. Captures that began before are not published.
func (r *Registry) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown, r.tree = r.begun, r.begun
	r.mode, r.bounds, r.nodes, r.seen, r.ended = Own, nil, nil, nil, false
	r.numbers = Numbers{}
}

// FrameNavigated notes that an embedded frame shows another document.
func (r *Registry) FrameNavigated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = r.mode == OwnBrief
}

// Find resolves a ref. Whether the element still exists only the page can tell.
func (r *Registry) Find(main *Frame, ref string) (Element, error) {
	key, err := outline.ParseKey(ref)
	if err != nil {
		return Element{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case key.Tree:
		return pick(r.nodes, key)
	case r.mode == Numbered && key.Document == 0:
		return pick(r.bounds, key)
	case r.mode == Numbered:
		return Element{}, fault.NeverIssued(key.String())
	case r.ended:
		return Element{}, fmt.Errorf("%w %s: a frame of the page has navigated since; take a new snapshot", fault.ErrUnknownRef, key)
	}
	return r.numbers.Find(main, ref)
}

func pick(bounds []Bound, key outline.Key) (Element, error) {
	if key.Number > len(bounds) {
		return Element{}, fault.NeverIssued(key.String())
	}
	b := bounds[key.Number-1]
	switch {
	case b.Local == "":
		return Element{}, fmt.Errorf("%w %s: it is no element of the page", fault.ErrUnknownRef, key)
	case b.Frame.Token() != b.Token:
		return Element{}, otherDocument(key)
	}
	return Element{Frame: b.Frame, Local: b.Local, Given: key.String()}, nil
}

func otherDocument(key outline.Key) error {
	return fmt.Errorf("%w %s: its frame shows another document now; take a new snapshot", fault.ErrUnknownRef, key)
}
