package page

import (
	"context"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// lodging is what is known of the lodgers of one process: frames whose documents live there, but which our scripts cannot enter from
// the documents around them. Chromium gives them no sessions of their own. Its fields belong to the tab's lock.
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
func (t *Tab) lodging(host *frame.Frame) *lodging {
	l := t.lodgings[host]
	if l == nil {
		if t.lodgings == nil {
			t.lodgings = map[*frame.Frame]*lodging{}
		}
		l = &lodging{}
		t.lodgings[host] = l
	}
	return l
}

// rootNavigated notes that the root frame of a process shows another document. One that was kept has its frames still.
func (t *Tab) rootNavigated(host *frame.Frame, origin string, restored bool) {
	t.mu.Lock()
	l := t.lodging(host)
	for _, f := range l.lodgers {
		f.Leave()
	}
	l.origin, l.lodgers, l.home, l.told = origin, nil, nil, l.asked
	t.signal()
	t.mu.Unlock()
	if restored {
		t.learn(host)
	}
}

// innerNavigated notes that a frame below the root shows another document. Where all addresses are of one origin, which is the rule,
// there is nothing to find out.
func (t *Tab) innerNavigated(host *frame.Frame, id proto.PageFrameID, address, origin string) {
	t.mu.Lock()
	l := t.lodging(host)
	for _, f := range l.lodgers {
		if f.ID() == id {
			f.Leave()
		}
	}
	find := len(l.lodgers) > 0 || l.told < l.asked || origin != l.origin && !inherits(address)
	t.mu.Unlock()
	if find {
		t.learn(host)
	}
}

// inherits says that a document mostly has the origin of the one around it.
func inherits(address string) bool { return address == "" || strings.HasPrefix(address, "about:") }

// handleDetached notes that a frame left a process: it is gone, or shows a document of another process.
func (t *Tab) handleDetached(host *frame.Frame, ev cdp.Event) {
	var p struct {
		FrameID proto.PageFrameID `json:"frameId"`
	}
	if !ev.Decode(&p) {
		return
	}
	t.mu.Lock()
	l := t.lodging(host)
	find := l.told < l.asked
	l.lodgers = slices.DeleteFunc(l.lodgers, func(f *frame.Frame) bool {
		if f.ID() != p.FrameID {
			return false
		}
		find = true
		f.Leave()
		return true
	})
	t.mu.Unlock()
	if find {
		t.learn(host)
	}
}

// learn finds out which frames of a process are lodgers. It is called on the reading goroutine, which ends before the browser's others
// are waited for.
func (t *Tab) learn(host *frame.Frame) {
	t.mu.Lock()
	l := t.lodging(host)
	l.asked++
	number := l.asked
	t.mu.Unlock()
	call := host.BeginWithin(lodgeLimit, proto.PageGetFrameTree{})
	t.browser.wg.Go(func() {
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
func (t *Tab) lodge(host *frame.Frame, l *lodging, tree *proto.PageFrameTree, apart map[proto.PageFrameID]bool) {
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
	for _, f := range t.frames {
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

// home is the frame that the document with this id belongs to, in the process of a session.
func (t *Tab) home(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lodgings[host]; l != nil {
		return l.around(host, id)
	}
	return host
}

// awaitLodgers waits until it is known which frames of the tab are lodgers. A process that does not say so does not hold up the rest.
func (t *Tab) awaitLodgers(ctx context.Context) error {
	return t.untilWithin(ctx, lodgeLimit, func() bool {
		for _, l := range t.lodgings {
			if l.told < l.asked {
				return false
			}
		}
		return true
	})
}

// allFrames are the tab's frames in all processes, lodgers included, parents first.
func (t *Tab) allFrames() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append([]*frame.Frame{t.main}, t.frames...)
	processes := len(all)
	for _, host := range all[:processes] {
		if l := t.lodgings[host]; l != nil {
			all = append(all, l.lodgers...)
		}
	}
	if len(all) > processes {
		slices.SortStableFunc(all, func(a, b *frame.Frame) int { return depth(a) - depth(b) })
	}
	return all
}

func depth(f *frame.Frame) int {
	n := 0
	for f = f.Parent(); f != nil; f = f.Parent() {
		n++
	}
	return n
}
