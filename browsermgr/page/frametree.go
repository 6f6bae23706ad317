package page

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// FrameTree holds the frames of one tab. The methods that report changes are called by the connection's reading
// goroutine, in the order of the events; the others are safe for concurrent use.
//
// Besides the roots of other processes (out-of-process iframes) it knows in-process cross-origin frames: their
// documents are in the process of the surrounding one, but scripts cannot reach them from there. Chromium gives them no
// CDP sessions.
type FrameTree struct {
	main  *frame.Frame
	spawn func(func())

	mu           sync.Mutex
	remoteFrames []*frame.Frame // out-of-process iframes
	crossOrigin  map[*frame.Frame]*crossOriginFrames
	changed      chan struct{} // closed and replaced when discoveries finish or become unnecessary
}

// NewFrameTree returns the tree of a tab with this main frame. spawn runs a function on a goroutine that the tab's
// connection waits for when it ends.
func NewFrameTree(main *frame.Frame, spawn func(func())) *FrameTree {
	return &FrameTree{
		main: main, spawn: spawn, crossOrigin: map[*frame.Frame]*crossOriginFrames{},
		changed: make(chan struct{}),
	}
}

// Add adds an out-of-process iframe.
func (t *FrameTree) Add(f *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remoteFrames = append(t.remoteFrames, f)
}

// Remove removes a frame whose process the tab no longer uses.
func (t *FrameTree) Remove(f *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remoteFrames = slices.DeleteFunc(t.remoteFrames, func(other *frame.Frame) bool { return other == f })
	if l := t.crossOrigin[f]; l != nil {
		l.clear()
		delete(t.crossOrigin, f)
	}
	t.signalChange()
}

// ProcessRoots returns the main frame and the out-of-process iframes, which have CDP sessions, parents first.
func (t *FrameTree) ProcessRoots() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.processRootsLocked()
}

func (t *FrameTree) processRootsLocked() []*frame.Frame {
	return append([]*frame.Frame{t.main}, t.remoteFrames...)
}

// Frames returns the frames of ProcessRoots and the in-process cross-origin frames, parents first.
func (t *FrameTree) Frames() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.processRootsLocked()
	processes := len(all)
	for _, host := range all[:processes] {
		if l := t.crossOrigin[host]; l != nil {
			all = append(all, l.frames...)
		}
	}
	if len(all) > processes {
		slices.SortStableFunc(all, func(a, b *frame.Frame) int { return frameDepth(a) - frameDepth(b) })
	}
	return all
}

func frameDepth(f *frame.Frame) int {
	n := 0
	for f = f.Parent(); f != nil; f = f.Parent() {
		n++
	}
	return n
}

// FrameOf returns the frame whose scripts reach the document of the frame id, in the process whose root is host: an
// in-process cross-origin frame, or host itself.
func (t *FrameTree) FrameOf(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.crossOrigin[host]; l != nil {
		return l.frameOf(host, id)
	}
	return host
}

// AwaitDiscovery waits until all discoveries of cross-origin frames begun so far have finished, so that pages whose
// frames keep changing do not block it. It gives up on a process that does not answer. The error is the cause of ctx.
func (t *FrameTree) AwaitDiscovery(ctx context.Context) error {
	open := t.openRequests()
	if open == nil {
		return nil
	}
	over := time.After(frameTreeLimit)
	for {
		known, changed := t.requestsDone(open)
		if known {
			return nil
		}
		select {
		case <-changed:
		case <-over:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// openRequests returns the last unanswered discovery of each process; nil if there is none.
func (t *FrameTree) openRequests() map[*crossOriginFrames]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open map[*crossOriginFrames]int
	for _, l := range t.crossOrigin {
		if l.answered < l.requested {
			if open == nil {
				open = map[*crossOriginFrames]int{}
			}
			open[l] = l.requested
		}
	}
	return open
}

// requestsDone reports whether the discoveries in open have finished, and otherwise returns a channel that is closed
// when that may have changed.
func (t *FrameTree) requestsDone(open map[*crossOriginFrames]int) (bool, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l, number := range open {
		if l.answered < number {
			return false, t.changed
		}
	}
	return true, nil
}

// signalChange wakes waiting goroutines. The caller holds t.mu.
func (t *FrameTree) signalChange() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// crossOriginFrames holds the in-process cross-origin frames of one process. FrameTree.mu guards its fields.
type crossOriginFrames struct {
	origin    string // of the root document, from its URL; "" if unknown
	requested int    // number of discoveries begun
	answered  int    // the last one that is answered or no longer matters
	frames    []*frame.Frame
	frameByID map[proto.PageFrameID]*frame.Frame // the cross-origin frame that a frame is, or is within
}

// frameTreeLimit bounds finding the cross-origin frames of a process, and waiting for that.
const frameTreeLimit = 3 * time.Second

// crossOriginIn returns the cross-origin frames of a process, creating the record if needed. The caller holds t.mu.
func (t *FrameTree) crossOriginIn(host *frame.Frame) *crossOriginFrames {
	l := t.crossOrigin[host]
	if l == nil {
		l = &crossOriginFrames{}
		t.crossOrigin[host] = l
	}
	return l
}

// clear forgets the cross-origin frames, whose documents are gone.
func (l *crossOriginFrames) clear() {
	for _, f := range l.frames {
		f.ForgetDocument()
	}
	l.frames, l.frameByID, l.answered = nil, nil, l.requested
}

// FrameDocument describes a document that a frame now shows.
type FrameDocument struct {
	Frame    proto.PageFrameID
	URL      string
	Origin   string // derived from the URL
	Restored bool   // restored, with its frames, from the back/forward cache
}

// Navigated records that a frame shows another document, in the process whose root is host.
func (t *FrameTree) Navigated(host *frame.Frame, d FrameDocument) {
	if d.Frame == host.ID() {
		t.rootNavigated(host, d)
		return
	}
	t.innerNavigated(host, d)
}

// rootNavigated handles a navigation of the root frame of a process. A restored document still has its frames.
func (t *FrameTree) rootNavigated(host *frame.Frame, d FrameDocument) {
	host.ForgetDocument()
	t.mu.Lock()
	l := t.crossOriginIn(host)
	l.clear()
	l.origin = d.Origin
	t.signalChange()
	t.mu.Unlock()
	if d.Restored {
		t.DiscoverCrossOrigin(host)
	}
}

// innerNavigated handles a navigation of a frame below the root. Usually all URLs have the same origin, so that there
// is nothing to discover.
func (t *FrameTree) innerNavigated(host *frame.Frame, d FrameDocument) {
	t.mu.Lock()
	l := t.crossOriginIn(host)
	for _, f := range l.frames {
		if f.ID() == d.Frame {
			f.ForgetDocument()
		}
	}
	find := len(l.frames) > 0 || l.answered < l.requested || d.Origin != l.origin && !inheritsOrigin(d.URL)
	t.mu.Unlock()
	if find {
		t.DiscoverCrossOrigin(host)
	}
}

// inheritsOrigin reports whether a document with this URL usually has the origin of its parent.
func inheritsOrigin(address string) bool {
	return address == "" || strings.HasPrefix(address, "about:")
}

// Detached records that a frame left a process: it was removed, or shows a document in another process.
func (t *FrameTree) Detached(host *frame.Frame, id proto.PageFrameID) {
	t.mu.Lock()
	l := t.crossOriginIn(host)
	find := l.answered < l.requested
	l.frames = slices.DeleteFunc(l.frames, func(f *frame.Frame) bool {
		if f.ID() != id {
			return false
		}
		find = true
		f.ForgetDocument()
		return true
	})
	t.mu.Unlock()
	if find {
		t.DiscoverCrossOrigin(host)
	}
}

// DiscoverCrossOrigin finds the in-process cross-origin frames of a process, because they may have changed or are not
// known.
func (t *FrameTree) DiscoverCrossOrigin(host *frame.Frame) {
	t.mu.Lock()
	l := t.crossOriginIn(host)
	l.requested++
	number := l.requested
	t.mu.Unlock()
	call := host.BeginWithin(frameTreeLimit, proto.PageGetFrameTree{})
	t.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), frameTreeLimit)
		defer cancel()
		var res proto.PageGetFrameTreeResult
		err := call.Wait(ctx, &res)
		var apart map[proto.PageFrameID]bool
		if err == nil && res.FrameTree != nil {
			apart = frame.CrossOriginFrames(ctx, host.Session, crossOriginCandidates(res.FrameTree, false))
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if number <= l.answered {
			return
		}
		l.answered = number
		if err == nil && res.FrameTree != nil {
			l.origin = res.FrameTree.Frame.SecurityOrigin
			t.setCrossOrigin(host, l, res.FrameTree, apart)
		}
		t.signalChange()
	})
}

// crossOriginCandidates returns the frames below a root that may be cross-origin. If one is, frames whose URLs do not
// determine their origin are included too.
func crossOriginCandidates(tree *proto.PageFrameTree, all bool) []proto.PageFrameID {
	var ids []proto.PageFrameID
	for _, c := range tree.ChildFrames {
		odd := all || c.Frame.SecurityOrigin != tree.Frame.SecurityOrigin || inheritsOrigin(c.Frame.URL)
		if odd {
			ids = append(ids, c.Frame.ID)
		}
		ids = append(ids, crossOriginCandidates(c, odd)...)
	}
	return ids
}

// setCrossOrigin stores the result of a discovery. The caller holds t.mu.
func (t *FrameTree) setCrossOrigin(host *frame.Frame, l *crossOriginFrames, tree *proto.PageFrameTree,
	apart map[proto.PageFrameID]bool,
) {
	known := map[proto.PageFrameID]*frame.Frame{}
	for _, f := range l.frames {
		known[f.ID()] = f
	}
	l.frames, l.frameByID = nil, map[proto.PageFrameID]*frame.Frame{}
	var visit func(tree *proto.PageFrameTree, at *frame.Frame)
	visit = func(tree *proto.PageFrameTree, at *frame.Frame) {
		for _, c := range tree.ChildFrames {
			here, id := at, c.Frame.ID
			if apart[id] {
				if here = known[id]; here == nil {
					here = frame.New(host.Session, string(id), at, string(tree.Frame.ID))
				}
				here.SetParent(at)
				delete(known, id)
				l.frames = append(l.frames, here)
			}
			if here != host {
				l.frameByID[id] = here
			}
			visit(c, here)
		}
	}
	visit(tree, host)
	for _, f := range known {
		f.ForgetDocument()
	}
	for _, f := range t.remoteFrames {
		if f.Parent().Session == host.Session {
			f.SetParent(l.frameOf(host, f.EmbeddedIn()))
		}
	}
}

// frameOf returns the frame that the document of a frame belongs to: a cross-origin one, or host.
func (l *crossOriginFrames) frameOf(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	if f := l.frameByID[id]; f != nil {
		return f
	}
	return host
}
