package page

import (
	"context"
	"slices"
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
