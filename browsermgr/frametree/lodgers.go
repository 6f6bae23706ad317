package frametree

import (
	"context"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// lodging is what is known of the lodgers of one process: frames whose documents live there, but which our scripts cannot enter from
// the documents around them. Chromium gives them no sessions of their own. Its fields belong to the tree's lock.
type lodging struct {
	origin  string // of the process' root document as its address tells it; "" if it is not known
	asked   int    // counts questions for the frames of the process
	told    int    // the last of them that need not be waited for any more
	lodgers []*frame.Frame
	home    map[proto.PageFrameID]*frame.Frame // the lodger that a frame is, or is within
}

// lodgeLimit bounds finding the lodgers of a process, and the wait for it.
const lodgeLimit = 3 * time.Second

// lodging is that of a process. The caller holds t.mu.
func (t *Tree) lodging(host *frame.Frame) *lodging {
	l := t.lodgings[host]
	if l == nil {
		l = &lodging{}
		t.lodgings[host] = l
	}
	return l
}

// clear forgets the lodgers: their documents went away.
func (l *lodging) clear() {
	for _, f := range l.lodgers {
		f.Leave()
	}
	l.lodgers, l.home, l.told = nil, nil, l.asked
}

// Document is what is told of one that a frame has come to show.
type Document struct {
	Frame    proto.PageFrameID
	URL      string
	Origin   string // as the address tells it
	Restored bool   // it was kept, with its frames, after it was left
}

// Navigated notes that a frame shows another document, in the process that host is the root of.
func (t *Tree) Navigated(host *frame.Frame, d Document) {
	if d.Frame == host.ID() {
		t.rootNavigated(host, d)
		return
	}
	t.innerNavigated(host, d)
}

// rootNavigated is for the root frame of a process. A document that was kept has its frames still.
func (t *Tree) rootNavigated(host *frame.Frame, d Document) {
	host.Leave()
	t.mu.Lock()
	l := t.lodging(host)
	l.clear()
	l.origin = d.Origin
	t.signal()
	t.mu.Unlock()
	if d.Restored {
		t.Learn(host)
	}
}

// innerNavigated is for a frame below the root. Where all addresses are of one origin, which is the rule, there is nothing to find out.
func (t *Tree) innerNavigated(host *frame.Frame, d Document) {
	t.mu.Lock()
	l := t.lodging(host)
	for _, f := range l.lodgers {
		if f.ID() == d.Frame {
			f.Leave()
		}
	}
	find := len(l.lodgers) > 0 || l.told < l.asked || d.Origin != l.origin && !inherits(d.URL)
	t.mu.Unlock()
	if find {
		t.Learn(host)
	}
}

// inherits says that a document mostly has the origin of the one around it.
func inherits(address string) bool { return address == "" || strings.HasPrefix(address, "about:") }

// Detached notes that a frame left a process: it is gone, or shows a document of another process.
func (t *Tree) Detached(host *frame.Frame, id proto.PageFrameID) {
	t.mu.Lock()
	l := t.lodging(host)
	find := l.told < l.asked
	l.lodgers = slices.DeleteFunc(l.lodgers, func(f *frame.Frame) bool {
		if f.ID() != id {
			return false
		}
		find = true
		f.Leave()
		return true
	})
	t.mu.Unlock()
	if find {
		t.Learn(host)
	}
}

// Learn finds out which frames of a process are lodgers, because that may have changed or was never told.
func (t *Tree) Learn(host *frame.Frame) {
	t.mu.Lock()
	l := t.lodging(host)
	l.asked++
	number := l.asked
	t.mu.Unlock()
	call := host.BeginWithin(lodgeLimit, proto.PageGetFrameTree{})
	t.spawn(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lodgeLimit)
		defer cancel()
		var res proto.PageGetFrameTreeResult
		err := call.Wait(ctx, &res)
		var apart map[proto.PageFrameID]bool
		if err == nil && res.FrameTree != nil {
			apart = frame.Apart(ctx, host.Session, suspects(res.FrameTree, false))
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if number <= l.told {
			return
		}
		l.told = number
		if err == nil && res.FrameTree != nil {
			l.origin = res.FrameTree.Frame.SecurityOrigin
			t.lodge(host, l, res.FrameTree, apart)
		}
		t.signal()
	})
}

// suspects are the frames below a root that may be lodgers. Next to one of another origin, those whose addresses do not tell their
// origins are looked at, too.
func suspects(tree *proto.PageFrameTree, all bool) []proto.PageFrameID {
	var ids []proto.PageFrameID
	for _, c := range tree.ChildFrames {
		odd := all || c.Frame.SecurityOrigin != tree.Frame.SecurityOrigin || inherits(c.Frame.URL)
		if odd {
			ids = append(ids, c.Frame.ID)
		}
		ids = append(ids, suspects(c, odd)...)
	}
	return ids
}

// lodge takes over what a process told of its frames. The caller holds t.mu.
func (t *Tree) lodge(host *frame.Frame, l *lodging, tree *proto.PageFrameTree, apart map[proto.PageFrameID]bool) {
	known := map[proto.PageFrameID]*frame.Frame{}
	for _, f := range l.lodgers {
		known[f.ID()] = f
	}
	l.lodgers, l.home = nil, map[proto.PageFrameID]*frame.Frame{}
	var visit func(tree *proto.PageFrameTree, at *frame.Frame)
	visit = func(tree *proto.PageFrameTree, at *frame.Frame) {
		for _, c := range tree.ChildFrames {
			here, id := at, c.Frame.ID
			if apart[id] {
				if here = known[id]; here == nil {
					here = frame.New(host.Session, string(id), at, string(tree.Frame.ID))
				}
				here.MoveTo(at)
				delete(known, id)
				l.lodgers = append(l.lodgers, here)
			}
			if here != host {
				l.home[id] = here
			}
			visit(c, here)
		}
	}
	visit(tree, host)
	for _, f := range known {
		f.Leave()
	}
	for _, f := range t.apart {
		if f.Parent().Session == host.Session {
			f.MoveTo(l.around(host, f.EmbeddedIn()))
		}
	}
}

// around is the frame that the document of a frame belongs to: a lodger, or the process' own.
func (l *lodging) around(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	if f := l.home[id]; f != nil {
		return f
	}
	return host
}
