package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/dashboard/wire"
	"clank/sessions"
)

const (
	feedKept    = 1024 // frames that a reader who was away can still have, at most
	feedBytes   = 8 << 20
	readerBound = 256 // frames that a slow reader may be behind
)

// frame is something that happened, ready to be sent.
type frame struct {
	id    string // "epoch-number": where a reader that was away goes on
	event string // name of the server-sent event
	task  string
	kind  sessions.OriginKind
	final bool // the last one of its task
	data  []byte
}

// feed passes on what happens to many readers. It never waits for one: who
// falls too far behind is let go, comes back, and gets what it missed.
type feed struct {
	subscribe func() (<-chan sessions.Event, func())
	events    <-chan sessions.Event // of the subscription under way
	endEvents func()

	mu      sync.Mutex
	epoch   string // changes when something may have been missed
	next    int    // number of the next frame
	frames  []frame
	size    int // bytes in frames
	readers map[chan frame]struct{}
}

// newFeed begins to listen, so that nothing is missed from now on.
func newFeed(subscribe func() (<-chan sessions.Event, func())) *feed {
	f := &feed{subscribe: subscribe, epoch: rand.Text()[:8], readers: make(map[chan frame]struct{})}
	f.events, f.endEvents = subscribe()
	return f
}

// run passes events on until ctx ends; then it lets all readers go.
func (f *feed) run(ctx context.Context) {
	defer f.reset()
	defer func() { f.endEvents() }()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, ok := <-f.events:
			if ok {
				f.publish(ev)
				continue
			}
		}
		// We fell behind, or the Manager is closing.
		f.endEvents()
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		f.events, f.endEvents = f.subscribe()
		f.reset()
	}
}

// reset lets all readers go and makes them read the state anew.
func (f *feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch, f.frames, f.size = rand.Text()[:8], nil, 0
	for ch := range f.readers {
		delete(f.readers, ch)
		close(ch)
	}
}

func (f *feed) publish(ev sessions.Event) {
	fr := frame{event: "task", task: ev.Record.ID, kind: ev.Record.Origin.Kind, final: ev.Record.State.Final()}
	if ev.Step == nil {
		fr.data, _ = json.Marshal(light(ev.Record)) // strings, numbers and times always marshal
	} else {
		step := wire.StepEvent{TaskID: ev.Record.ID, Step: lightStep(ev.Record, *ev.Step)}
		if !json.Valid(step.Step.Input) { // nothing a model says may keep a step from being told
			step.Step.Input = nil
		}
		fr.event, fr.final = "step", false
		fr.data, _ = json.Marshal(step)
	}
	f.send(fr)
}

// send hands a frame to all readers.
func (f *feed) send(fr frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fr.id = f.epoch + "-" + strconv.Itoa(f.next)
	f.next++
	f.keep(fr)
	for ch := range f.readers {
		select {
		case ch <- fr:
		default:
			delete(f.readers, ch)
			close(ch)
		}
	}
}

// keep remembers fr, and forgets the oldest frames where there are too many. The
// lock is held.
func (f *feed) keep(fr frame) {
	f.frames = append(f.frames, fr)
	f.size += len(fr.data)
	for len(f.frames) > feedKept || f.size > feedBytes && len(f.frames) > 1 {
		f.size -= len(f.frames[0].data)
		f.frames[0].data = nil
		f.frames = f.frames[1:]
	}
}

// read begins to read after the frame with the given id. missed holds what came
// since; whole is false where that is not known, and the reader needs the state
// anew, which is then at least as new as the frame with the id at. The channel
// is closed when the reader is let go; leave ends it.
func (f *feed) read(after string) (missed []frame, whole bool, at string, ch chan frame, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed, whole = f.since(after)
	ch = make(chan frame, readerBound)
	f.readers[ch] = struct{}{}
	return missed, whole, f.epoch + "-" + strconv.Itoa(f.next-1), ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, ch)
	}
}

// since returns the frames after the one with the given id, and whether none is
// missing. The lock is held.
func (f *feed) since(after string) ([]frame, bool) {
	epoch, number, ok := strings.Cut(after, "-")
	n, err := strconv.Atoi(number)
	oldest := f.next - len(f.frames)
	if !ok || err != nil || epoch != f.epoch || n < oldest-1 || n >= f.next {
		return nil, false
	}
	return append([]frame(nil), f.frames[n+1-oldest:]...), true
}
