package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
)

const (
	maxFeedEvents    = 1024 // frames that a reader who was away can still have, at most
	maxFeedBytes     = 8 << 20
	maxReaderBacklog = 256 // frames that a slow reader may be behind
)

// feedEvent is something that happened, ready to be sent.
type feedEvent struct {
	id     string // "epoch-number": where a reader that was away goes on
	event  string // name of the server-sent event
	task   string
	origin sessions.Origin // where its task was asked for
	final  bool            // the last one of its task
	data   []byte          // for those who may read what the task is about
	others []byte          // for all others; nil = everybody may who sees the task
}

// readableBy reports whether v, who sees the task, may read what it is about.
func (f feedEvent) readableBy(v visitor) bool { return f.others == nil || v.mayRead(f.origin) }

// dataFor returns what v is sent.
func (f feedEvent) dataFor(v visitor) []byte {
	if f.readableBy(v) {
		return f.data
	}
	return f.others
}

// eventFeed passes on what happens to many readers. It never waits for one: who
// falls too far behind is let go, comes back, and gets what it missed.
type eventFeed struct {
	subscribe func() (<-chan sessions.Event, func())
	events    <-chan sessions.Event // of the subscription under way
	endEvents func()

	mu      sync.Mutex
	epoch   string // changes when something may have been missed
	next    int    // number of the next frame
	frames  []feedEvent
	size    int // bytes in frames
	readers map[chan feedEvent]struct{}
}

// newEventFeed begins to listen, so that nothing is missed from now on.
func newEventFeed(subscribe func() (<-chan sessions.Event, func())) *eventFeed {
	f := &eventFeed{subscribe: subscribe, epoch: rand.Text()[:8], readers: make(map[chan feedEvent]struct{})}
	f.events, f.endEvents = subscribe()
	return f
}

// run passes events on until ctx ends; then it lets all readers go.
func (f *eventFeed) run(ctx context.Context) {
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
func (f *eventFeed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch, f.frames, f.size = rand.Text()[:8], nil, 0
	for ch := range f.readers {
		delete(f.readers, ch)
		close(ch)
	}
}

func (f *eventFeed) publish(ev sessions.Event) {
	rec := ev.Record
	fr := feedEvent{event: "task", task: rec.ID, origin: rec.Origin, final: rec.State.Final(), data: encodeEvent(ev, true)}
	if ev.Step != nil {
		fr.event, fr.final = "step", false
	}
	if rec.Origin.Private {
		fr.others = encodeEvent(ev, false)
	}
	f.send(fr)
}

// encodeEvent returns what readers are sent of an event. Strings, numbers and times always marshal.
func encodeEvent(ev sessions.Event, mayRead bool) []byte {
	if ev.Step == nil {
		data, _ := json.Marshal(shownRecord(ev.Record, mayRead))
		return data
	}
	step := api.StepEvent{TaskID: ev.Record.ID, Step: shownStep(*ev.Step, mayRead)}
	if !json.Valid(step.Step.Input) { // nothing a model says may keep a step from being told
		step.Step.Input = nil
	}
	data, _ := json.Marshal(step)
	return data
}

// send hands a frame to all readers.
func (f *eventFeed) send(fr feedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fr.id = f.epoch + "-" + strconv.Itoa(f.next)
	f.next++
	f.remember(fr)
	for ch := range f.readers {
		select {
		case ch <- fr:
		default:
			delete(f.readers, ch)
			close(ch)
		}
	}
}

// remember remembers fr, and forgets the oldest frames where there are too many. The lock is held.
func (f *eventFeed) remember(fr feedEvent) {
	f.frames = append(f.frames, fr)
	f.size += len(fr.data) + len(fr.others)
	for len(f.frames) > maxFeedEvents || f.size > maxFeedBytes && len(f.frames) > 1 {
		f.size -= len(f.frames[0].data) + len(f.frames[0].others)
		f.frames[0] = feedEvent{}
		f.frames = f.frames[1:]
	}
}

// subscribeAfter begins to read after the frame with the given id. missed holds what came since; whole is false where
// that is not known, and the reader needs the state anew, which is then at least as new as the frame with the id at.
// The channel is closed when the reader is let go; leave ends it.
func (f *eventFeed) subscribeAfter(after string) (missed []feedEvent, whole bool, at string, ch chan feedEvent, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missed, whole = f.since(after)
	ch = make(chan feedEvent, maxReaderBacklog)
	f.readers[ch] = struct{}{}
	return missed, whole, f.epoch + "-" + strconv.Itoa(f.next-1), ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, ch)
	}
}

// since returns the frames after the one with the given id, and whether none is missing. The lock is held.
func (f *eventFeed) since(after string) ([]feedEvent, bool) {
	epoch, number, ok := strings.Cut(after, "-")
	n, err := strconv.Atoi(number)
	oldest := f.next - len(f.frames)
	if !ok || err != nil || epoch != f.epoch || n < oldest-1 || n >= f.next {
		return nil, false
	}
	return append([]feedEvent(nil), f.frames[n+1-oldest:]...), true
}

const (
	streamWrite = 10 * time.Second // a reader that takes no byte for so long is gone
	streamRetry = 1500             // milliseconds after which a browser comes back
)

// eventStream writes server-sent events as the HTML standard defines them.
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// openStream begins an answer that is a stream. Like all below it reports whether the reader is still there.
func openStream(w http.ResponseWriter) (*eventStream, bool) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &eventStream{w, http.NewResponseController(w)}
	// The server's limit for reading a request would end the stream too.
	ok := s.rc.SetReadDeadline(time.Time{}) == nil
	return s, ok && s.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetry))
}

// send writes one event. data holds no line break: it is JSON.
func (s *eventStream) send(id, event string, data []byte) bool {
	return s.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, event, data))
}

func (s *eventStream) sendJSON(id, event string, v any) bool {
	data, err := json.Marshal(v)
	return err == nil && s.send(id, event, data)
}

func (s *eventStream) keepAlive() bool { return s.write([]byte(":\n\n")) }

func (s *eventStream) write(b []byte) bool {
	if s.rc.SetWriteDeadline(time.Now().Add(streamWrite)) != nil {
		return false
	}
	_, err := s.w.Write(b)
	return err == nil && s.rc.Flush() == nil
}
