package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/sessions"
)

const (
	maxFeedEvents    = 1024 // most frames kept for readers that reconnect
	maxFeedBytes     = 8 << 20
	maxReaderBacklog = 256 // most frames that a slow reader may lag behind
)

// feedEvent is an event ready to be sent.
type feedEvent struct {
	id     string // "epoch-number", the server-sent event id from which a reader resumes
	event  string // name of the server-sent event
	task   string
	origin sessions.Origin // origin of the event's task
	final  bool            // the last event of its task
	data   []byte          // sent to those who may read the task
	others []byte          // sent to all others; nil if everyone who sees the task may read it
}

// readableBy reports whether v, who sees the task, may read its contents.
func (f feedEvent) readableBy(v visitor) bool { return f.others == nil || v.mayRead(f.origin) }

// dataFor returns the data to send to v.
func (f feedEvent) dataFor(v visitor) []byte {
	if f.readableBy(v) {
		return f.data
	}
	return f.others
}

// eventFeed broadcasts events to readers. It never waits for one: a reader that lags too far behind is disconnected,
// and gets what it missed when it reconnects.
type eventFeed struct {
	subscribe func() (<-chan sessions.Event, func())
	events    <-chan sessions.Event // events of the current subscription
	endEvents func()

	mu      sync.Mutex
	epoch   string // changes whenever an event may have been lost
	next    int    // number of the next frame
	frames  []feedEvent
	size    int // size of frames in bytes
	readers map[chan feedEvent]struct{}
}

// newEventFeed subscribes at once, so that no event is lost from now on.
func newEventFeed(subscribe func() (<-chan sessions.Event, func())) *eventFeed {
	f := &eventFeed{subscribe: subscribe, epoch: rand.Text()[:8], readers: make(map[chan feedEvent]struct{})}
	f.events, f.endEvents = subscribe()
	return f
}

// run broadcasts events until ctx ends; then it disconnects all readers.
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
		// The feed lagged behind, or the Manager is closing.
		f.endEvents()
		if cancel.Sleep(ctx, 100*time.Millisecond) != nil {
			return
		}
		f.events, f.endEvents = f.subscribe()
		f.reset()
	}
}

// reset disconnects all readers and makes them read a new snapshot.
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

// encodeEvent returns the data of an event. Its strings, numbers and times always marshal.
func encodeEvent(ev sessions.Event, mayRead bool) []byte {
	if ev.Step == nil {
		data, _ := json.Marshal(shownRecord(ev.Record, mayRead))
		return data
	}
	step := api.StepEvent{TaskID: ev.Record.ID, Step: shownStep(*ev.Step, mayRead)}
	if !json.Valid(step.Step.Input) { // invalid JSON from a model must not suppress the step
		step.Step.Input = nil
	}
	data, _ := json.Marshal(step)
	return data
}

// send broadcasts a frame to all readers.
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

// remember stores fr and drops the oldest frames over the limit. The caller holds the lock.
func (f *eventFeed) remember(fr feedEvent) {
	f.frames = append(f.frames, fr)
	f.size += len(fr.data) + len(fr.others)
	for len(f.frames) > maxFeedEvents || f.size > maxFeedBytes && len(f.frames) > 1 {
		f.size -= len(f.frames[0].data) + len(f.frames[0].others)
		f.frames[0] = feedEvent{}
		f.frames = f.frames[1:]
	}
}

// subscribeAfter subscribes a reader to all frames after the one with the given id. missed holds the frames since
// then. whole is false if some of them are lost; then the reader needs a snapshot, which will be at least as new as
// the frame with the id at. The channel is closed when the reader is disconnected; the caller ends the subscription
// with leave.
func (f *eventFeed) subscribeAfter(
	after string,
) (missed []feedEvent, whole bool, at string, ch chan feedEvent, leave func()) {
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

// since returns the frames after the one with the given id, and whether they are complete. The caller holds the lock.
func (f *eventFeed) since(after string) ([]feedEvent, bool) {
	epoch, number, ok := strings.Cut(after, "-")
	n, err := strconv.Atoi(number)
	oldest := f.next - len(f.frames)
	if !ok || err != nil || epoch != f.epoch || n < oldest-1 || n >= f.next {
		return nil, false
	}
	return slices.Clone(f.frames[n+1-oldest:]), true
}

const (
	streamWrite = 10 * time.Second // a reader that accepts no data for so long is disconnected
	streamRetry = 1500             // milliseconds before a browser reconnects
)

// eventStream writes server-sent events (HTML standard, section 9.2).
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// openStream starts a streamed response. Like the methods below it reports whether the client is still connected.
func openStream(w http.ResponseWriter) (*eventStream, bool) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &eventStream{w, http.NewResponseController(w)}
	// The server's timeout for reading a request would also end the stream.
	ok := s.rc.SetReadDeadline(time.Time{}) == nil
	return s, ok && s.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetry))
}

// send writes one event. data must not contain line breaks; JSON does not.
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
