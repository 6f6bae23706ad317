package frametree

import (
	"context"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Tree is the frames of one tab. What happens to them is told on the goroutine that reads the connection, in the order of the events;
// everything else is safe for concurrent use.
type Tree struct {
	main  *frame.Frame
	spawn func(func())

	mu       sync.Mutex
	apart    []*frame.Frame // in other processes
	lodgings map[*frame.Frame]*lodging
	changed  chan struct{} // closed and replaced when questions were answered, or need no answer any more
}

// New is the tree of a tab with this main frame. spawn runs something on a goroutine that the tab's connection waits for at its end.
func New(main *frame.Frame, spawn func(func())) *Tree {
	return &Tree{main: main, spawn: spawn, lodgings: map[*frame.Frame]*lodging{}, changed: make(chan struct{})}
}

// Add notes a frame that lives in a process of its own.
func (t *Tree) Add(f *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.apart = append(t.apart, f)
}

// Remove notes that the process of a frame is not the tab's any more.
func (t *Tree) Remove(f *frame.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.apart = slices.DeleteFunc(t.apart, func(other *frame.Frame) bool { return other == f })
	if l := t.lodgings[f]; l != nil {
		l.clear()
		delete(t.lodgings, f)
	}
	t.signal()
}

// Processes are the main frame and those in other processes, which have sessions of their own, parents first.
func (t *Tree) Processes() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.processes()
}

func (t *Tree) processes() []*frame.Frame { return append([]*frame.Frame{t.main}, t.apart...) }

// All are the frames in all processes, lodgers included, parents first.
func (t *Tree) All() []*frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.processes()
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

// Around is the frame that the document of the frame with this id belongs to, in the process that host is the root of: a lodger, or
// host itself.
func (t *Tree) Around(host *frame.Frame, id proto.PageFrameID) *frame.Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lodgings[host]; l != nil {
		return l.around(host, id)
	}
	return host
}

// Await waits until it is known which frames are lodgers, as of now: pages whose frames never rest are not waited for. A process that does
// not say so does not hold up the rest. The error is the cause of the context's end.
func (t *Tree) Await(ctx context.Context) error {
	open := t.open()
	if open == nil {
		return nil
	}
	over := time.NewTimer(lodgeLimit)
	defer over.Stop()
	for {
		known, changed := t.known(open)
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

// open are the questions without an answer: the last one for each process; nil if there are none.
func (t *Tree) open() map[*lodging]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open map[*lodging]int
	for _, l := range t.lodgings {
		if l.told < l.asked {
			if open == nil {
				open = map[*lodging]int{}
			}
			open[l] = l.asked
		}
	}
	return open
}

// known says that questions were answered or need no answer any more, or else when that may have changed.
func (t *Tree) known(open map[*lodging]int) (bool, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l, number := range open {
		if l.told < number {
			return false, t.changed
		}
	}
	return true, nil
}

// signal wakes those who wait. The caller holds t.mu.
func (t *Tree) signal() {
	close(t.changed)
	t.changed = make(chan struct{})
}
