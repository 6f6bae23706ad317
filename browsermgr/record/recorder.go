package record

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Limits of what is kept of each tab. The oldest entries are dropped first.
const (
	MaxConsole  = 500
	MaxErrors   = 200
	MaxRequests = 500
)

// Limits of the entries of one tab in bytes.
const (
	consoleBudget = 4 << 20
	errorBudget   = 1 << 20
	requestBudget = 4 << 20
)

// totalBudget is the limit of the entries of all tabs of all browsers in bytes. Above it, the tab that has most of them
// loses its oldest, so that a page that reports a lot does not take the room of others.
const totalBudget = 64 << 20

// Store bounds what the recorders of all browsers keep together. Its zero value is ready for use.
type Store struct {
	used      atomic.Int64 // bytes
	mu        sync.Mutex   // taken before that of a Recorder
	recorders map[*Recorder]struct{}
}

// Recorder keeps the console messages, errors and requests of pages. It is an observer of one connection; pass it to
// page.Connect. It discards closed tabs. It is safe for concurrent use.
type Recorder struct {
	store    *Store
	mu       sync.Mutex
	tabs     map[*page.Tab]*tabLog // nil once closed
	watchers []*subscriber
}

// NewRecorder returns an empty Recorder. It belongs to the Store until Close.
func (s *Store) NewRecorder() *Recorder {
	r := &Recorder{store: s, tabs: map[*page.Tab]*tabLog{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorders == nil {
		s.recorders = map[*Recorder]struct{}{}
	}
	s.recorders[r] = struct{}{}
	return r
}

// Close discards everything recorded. It always returns nil.
func (r *Recorder) Close() error {
	r.store.mu.Lock()
	delete(r.store.recorders, r)
	r.store.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.tabs {
		l.clear()
	}
	r.tabs = nil
	return nil
}

// trim drops entries until the limit of all tabs is met.
func (s *Store) trim() {
	if s.used.Load() <= totalBudget {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for dropped := true; dropped && s.used.Load() > totalBudget; {
		var owner *Recorder
		var most *tabLog
		used := 0
		for r := range s.recorders {
			r.mu.Lock()
			for _, l := range r.tabs {
				if n := l.used(); n > used {
					owner, most, used = r, l, n
				}
			}
			r.mu.Unlock()
		}
		if most == nil {
			return
		}
		owner.mu.Lock()
		dropped = most.halve()
		owner.mu.Unlock()
	}
}

// tabLog holds what is kept of one tab. The Recorder's mutex guards it.
type tabLog struct {
	console  entryRing[consoleMessage]
	errors   entryRing[PageError]
	requests requestLog
	waiters  map[*bodyWaiter]struct{}
	previews int // messages whose objects Chromium keeps
}

func newTabLog(total *atomic.Int64) *tabLog {
	return &tabLog{
		console: entryRing[consoleMessage]{
			limit: MaxConsole, budget: consoleBudget, size: consoleMessage.size, total: total,
		},
		errors:   entryRing[PageError]{limit: MaxErrors, budget: errorBudget, size: PageError.size, total: total},
		requests: newRequestLog(total),
		waiters:  map[*bodyWaiter]struct{}{},
	}
}

func (l *tabLog) clear() {
	l.console.read(true)
	l.errors.read(true)
	l.requests.ring.read(true)
}

func (l *tabLog) used() int { return l.console.used + l.errors.used + l.requests.ring.used }

// halve drops the older half of the entries of the kind that takes most room, and reports whether there were any.
func (l *tabLog) halve() bool {
	switch most := max(l.console.used, l.errors.used, l.requests.ring.used); most {
	case l.console.used:
		return l.console.trim(most / 2)
	case l.errors.used:
		return l.errors.trim(most / 2)
	default:
		return l.requests.ring.trim(most / 2)
	}
}

// maxPostData is the maximum size of a request body that Chromium includes in events, in bytes.
const maxPostData = 256 << 10

// Attach implements [page.Observer]. It enables events for console, errors and requests with their bodies.
func (r *Recorder) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	if f.Parent() == nil {
		r.mu.Lock()
		if r.tabs != nil && r.tabs[t] == nil {
			r.tabs[t] = newTabLog(&r.store.used)
		}
		r.mu.Unlock()
	}
	longest := maxPostData
	return []proto.Request{proto.RuntimeEnable{}, proto.LogEnable{}, proto.NetworkEnable{MaxPostDataSize: &longest}}
}

// Event implements [page.Observer]. During a takeover nothing is recorded.
func (r *Recorder) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	if t == nil {
		r.handleBrowser(ev)
		return
	}
	if t.Held() {
		return
	}
	ev.Params = t.Recordable(ev.Params)
	switch ev.Method {
	case "Runtime.consoleAPICalled", "Log.entryAdded":
		r.handleConsole(t, f, ev)
	case "Runtime.exceptionThrown":
		r.handleException(t, f, ev)
	default:
		handle := networkEvents[ev.Method]
		if handle == nil {
			return
		}
		r.handleNetwork(t, f, ev, handle)
	}
	r.store.trim()
}

// handleBrowser discards closed tabs.
func (r *Recorder) handleBrowser(ev cdp.Event) {
	var p proto.TargetTargetDestroyed
	if ev.Method != p.ProtoEvent() || !ev.Decode(&p) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for t, l := range r.tabs {
		if t.TargetID() == string(p.TargetID) {
			l.clear()
			delete(r.tabs, t)
		}
	}
}

// Recorded is a recorded item; one of Console, Error and Exchange is set.
type Recorded struct {
	Tab   *page.Tab
	Frame *frame.Frame // whose session reported it

	Console  *ConsoleEntry
	Error    *PageError
	Exchange *HAREntry // finished

	RequestID  proto.NetworkRequestID // of Exchange
	HasBody    bool                   // Chromium has the body of Exchange
	Started    time.Time              // when Exchange began
	DocumentID proto.PageFrameID      // the frame that made the request; may be empty
}

type subscriber struct{ receive func(Recorded) }

// Subscribe calls receive with everything recorded from now on, until stop is called. It runs on the connection's
// reading goroutine and must not block; a call may still be in progress when stop returns.
func (r *Recorder) Subscribe(receive func(Recorded)) (stop func()) {
	w := &subscriber{receive: receive}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers = append(slices.Clone(r.watchers), w)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watchers = slices.DeleteFunc(slices.Clone(r.watchers), func(other *subscriber) bool { return other == w })
	}
}

// publishRecorded calls the watchers. The caller must not hold r.mu.
func publishRecorded(watchers []*subscriber, n Recorded) {
	for _, w := range watchers {
		w.receive(n)
	}
}

// formatTime formats a time as in the control API.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// fromMillis converts a timestamp of the Runtime and Log domains.
func fromMillis(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)) }

// Kept is what is kept of one kind of entries of a tab.
type Kept[T any] struct {
	Entries []T // oldest first
	// Dropped counts the older entries that are missing, since the tab was opened or the entries were cleared.
	Dropped int
}

// entryRing holds the last entries, at most limit entries and budget bytes. The newest is always kept.
type entryRing[T any] struct {
	limit   int
	budget  int
	size    func(T) int
	drop    func(T)       // may be nil
	total   *atomic.Int64 // the bytes of all rings of a Store
	items   []T
	used    int // bytes
	dropped int // entries
}

func (r *entryRing[T]) add(item T) {
	r.items = append(r.items, item)
	r.count(r.size(item))
	r.trim(r.budget)
}

// count changes the number of bytes in use by n.
func (r *entryRing[T]) count(n int) {
	r.used += n
	r.total.Add(int64(n))
}

// trim drops the oldest entries until the limits are met, and reports whether it dropped any.
func (r *entryRing[T]) trim(budget int) bool {
	before := r.dropped
	for len(r.items) > 1 && (len(r.items) > r.limit || r.used > budget) {
		var zero T
		oldest := r.items[0]
		r.items[0] = zero
		r.items = r.items[1:]
		r.count(-r.size(oldest))
		r.dropped++
		if r.drop != nil {
			r.drop(oldest)
		}
	}
	return r.dropped > before
}

// grow changes an entry and updates the size of the ring.
func (r *entryRing[T]) grow(item T, change func()) {
	before := r.size(item)
	change()
	r.count(r.size(item) - before)
	r.trim(r.budget)
}

// read returns the entries, and with clear drops them.
func (r *entryRing[T]) read(clear bool) Kept[T] {
	kept := Kept[T]{append([]T(nil), r.items...), r.dropped}
	if clear {
		for _, item := range r.items {
			if r.drop != nil {
				r.drop(item)
			}
		}
		r.count(-r.used)
		r.items, r.dropped = nil, 0
	}
	return kept
}
