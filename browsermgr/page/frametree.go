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

// FrameTree is the frames of one tab. What happens to them is told on the goroutine that reads the connection, in the order of the events;
// everything else is safe for concurrent use.
type FrameTree struct {
	main  *frame.Frame
	spawn func(func())

	mu           sync.Mutex
	remoteFrames []*frame.Frame // in other processes
	crossOrigin  map[*frame.Frame]*crossOriginFrames
	changed      chan struct{} // closed and replaced when questions were answered, or need no answer any more
}

// NewFrameTree returns the tree of a tab with this main frame. spawn runs something on a goroutine that the tab's connection waits for at its end.
func NewFrameTree(main *frame.Frame, spawn func(func())) *FrameTree {
	return &FrameTree{main: main, spawn: spawn, crossOrigin: map[*frame.Frame]*crossOriginFrames{}, changed: make(chan struct{})}
}

// Add notes a frame that lives in a process of its own.
func (t *FrameTree) Add(f *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remoteFrames = append(t.remoteFrames, f)
}

// Remove notes that the process of a frame is not the tab's any more.
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

// ProcessRoots returns the main frame and those in other processes, which have sessions of their own, parents first.
func (t *FrameTree) ProcessRoots() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.processRootsLocked()
}

func (t *FrameTree) processRootsLocked() []*frame.Frame {
	return append([]*frame.Frame{t.main}, t.remoteFrames...)
}

// Frames returns the frames in all processes, lodgers included, parents first.
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

// FrameOf returns the frame that the document of the frame with this id belongs to, in the process that host is the root of: a lodger, or
// host itself.
func (t *FrameTree) FrameOf(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.crossOrigin[host]; l != nil {
		return l.frameOf(host, id)
	}
	return host
}

// AwaitDiscovery waits until it is known which frames are lodgers, as of now: pages whose frames never rest are not waited for. A process that does
// not say so does not hold up the rest. The error is the cause of the context's end.
func (t *FrameTree) AwaitDiscovery(ctx context.Context) error {
	open := t.openRequests()
	if open == nil {
		return nil
	}
	over := time.NewTimer(frameTreeLimit)
	defer over.Stop()
	for {
		known, changed := t.requestsDone(open)
		if known {
			return nil
		}
		select {
		case <-changed:
		case <-over.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// openRequests returns the questions without an answer: the last one for each process; nil if there are none.
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

// requestsDone says that questions were answered or need no answer any more, or else when that may have changed.
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

// signalChange wakes those who wait. The caller holds t.mu.
func (t *FrameTree) signalChange() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// crossOriginFrames is what is known of the lodgers of one process: frames whose documents live there, but which our scripts cannot enter from
// the documents around them. Chromium gives them no sessions of their own. Its fields belong to the tree's lock.
type crossOriginFrames struct {
	origin    string // of the process' root document as its address tells it; "" if it is not known
	requested int    // counts questions for the frames of the process
	answered  int    // the last of them that need not be waited for any more
	frames    []*frame.Frame
	frameByID map[proto.PageFrameID]*frame.Frame // the lodger that a frame is, or is within
}

// frameTreeLimit bounds finding the lodgers of a process, and the wait for it.
const frameTreeLimit = 3 * time.Second

// crossOriginIn returns the cross-origin frames of a process, creating the record if needed. The caller holds
// t.mu.
func (t *FrameTree) crossOriginIn(host *frame.Frame) *crossOriginFrames {
	l := t.crossOrigin[host]
	if l == nil {
		l = &crossOriginFrames{}
		t.crossOrigin[host] = l
	}
	return l
}

// clear forgets the lodgers: their documents went away.
func (l *crossOriginFrames) clear() {
	for _, f := range l.frames {
		f.ForgetDocument()
	}
	l.frames, l.frameByID, l.answered = nil, nil, l.requested
}

// FrameDocument is what is told of one that a frame has come to show.
type FrameDocument struct {
	Frame    proto.PageFrameID
	URL      string
	Origin   string // as the address tells it
	Restored bool   // it was kept, with its frames, after it was left
}

// Navigated notes that a frame shows another document, in the process that host is the root of.
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

// innerNavigated handles a navigation of a frame below the root. Where all addresses are of one origin, as is
// usual, there is nothing to find out.
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

// inheritsOrigin says that a document mostly has the origin of the one around it.
func inheritsOrigin(address string) bool {
	return address == "" || strings.HasPrefix(address, "about:")
}

// Detached notes that a frame left a process: it is gone, or shows a document of another process.
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

// DiscoverCrossOrigin finds out which frames of a process are lodgers, because that may have changed or was never told.
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

// crossOriginCandidates returns the frames below a root that may be lodgers. Next to one of another origin, those whose addresses do not tell their
// origins are looked at, too.
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

// setCrossOrigin takes over what a process told of its frames. The caller holds t.mu.
func (t *FrameTree) setCrossOrigin(host *frame.Frame, l *crossOriginFrames, tree *proto.PageFrameTree, apart map[proto.PageFrameID]bool) {
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

// frameOf returns the frame that the document of a frame belongs to: a lodger, or the process' own.
func (l *crossOriginFrames) frameOf(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	if f := l.frameByID[id]; f != nil {
		return f
	}
	return host
}
