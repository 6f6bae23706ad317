package egress

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// RefusalRecord is one request that was refused.
type RefusalRecord struct {
	At      time.Time
	Profile string
	// Tab is the CDP target id of the tab that asked; empty as long as nobody said.
	Tab string
	// URL is what was asked for, without user info, fragment and parameters that look like secrets. Of a tunnel, whose
	// requests cannot be seen, it is host:port until somebody tells more.
	URL string
	// Host and Address are the host's name and the address that was refused, which may be empty.
	Host, Address string
	// Rule is a stable id, Text a sentence for a person.
	Rule, Text string
	// Named says that "Allowed hosts" has the host, and the address has to be there as well.
	Named bool
	// Document says that a page or frame was to be loaded from there. An entry that says so from the beginning is of
	// somebody who asked before loading it, and belongs to no tab.
	Document bool
}

const (
	maxRefusals       = 200              // entries that are kept
	attributionWindow = 30 * time.Second // how long after a refusal somebody may tell whose it was
)

// AttributionWait is how long a watcher waits for refusals whose tab is not known yet.
const AttributionWait = 250 * time.Millisecond

// RefusalLog has the refusals of one profile. The zero value is ready. Its methods may be called from many goroutines.
type RefusalLog struct {
	mu       sync.Mutex
	entries  []refusalEntry // oldest first
	count    uint64
	pending  int // requests that are being judged
	watchers map[*refusalWatcher]bool
	changed  chan struct{} // closed at the next change; nil if nobody waits
}

type refusalEntry struct {
	RefusalRecord
	place  string // host:port
	tunnel bool   // what it was for could not be seen
	cause  error
}

type refusalWatcher struct {
	target string
	from   time.Time
	found  error
}

// BeginRequest notes that a request is being judged, which may end with a refusal. done is called once, after it is
// recorded.
func (l *RefusalLog) BeginRequest() (done func()) {
	l.mu.Lock()
	l.pending++
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.pending--
		l.wakeWatchers()
		l.mu.Unlock()
	}
}

// Add records a refusal of a request to host:port place. URL, which may carry secrets, is cleaned of them.
func (l *RefusalLog) Add(r RefusalRecord, place string, cause error) {
	r.URL = RedactURL(r.URL)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.add(refusalEntry{r, place, r.URL == place, cause})
	l.wakeWatchers()
}

func (l *RefusalLog) add(e refusalEntry) {
	if len(l.entries) >= maxRefusals {
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, e)
}

// wakeWatchers wakes those who wait for a change. l.mu is held.
func (l *RefusalLog) wakeWatchers() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Attribute says which tab a request came from that was refused lately. Nothing happens if none was.
func (l *RefusalLog) Attribute(target, requestURL string, document bool) {
	place, cleaned := urlHostPort(requestURL), RedactURL(requestURL)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.wakeWatchers()
	i := l.find(target, place, cleaned)
	if i < 0 {
		return
	}
	e := &l.entries[i]
	if e.Tab != "" && e.Tab != target {
		// One refused connection was for several tabs.
		l.add(*e)
		e = &l.entries[len(l.entries)-1]
		e.Tab, e.Document = "", false
	}
	if e.Tab == "" || document {
		e.URL = cleaned
	}
	e.Tab, e.Document = target, e.Document || document
	if !document {
		return
	}
	for w := range l.watchers {
		if w.target == target && w.found == nil && !e.At.Before(w.from) {
			w.found = e.cause
		}
	}
}

// find returns the newest entry that the request fits best, by its URL or because a tunnel to its host was refused: one
// that has no tab yet, else one of this tab, else another tab's.
func (l *RefusalLog) find(target, place, cleaned string) int {
	best, rank := -1, 0
	for i := len(l.entries) - 1; i >= 0; i-- {
		e := &l.entries[i]
		if time.Since(e.At) > attributionWindow {
			break
		}
		fits := 0
		switch {
		case e.place != place || !e.tunnel && e.URL != cleaned:
		case e.Tab == "":
			fits = 3
		case e.Tab == target:
			fits = 2
		default:
			fits = 1
		}
		if fits > rank {
			best, rank = i, fits
		}
	}
	return best
}

// Watch notes the first document that the tab is refused from now on. finish returns it; it waits for at most
// [AttributionWait] while requests are being judged, or refusals since then have no tab yet. It is called once.
func (l *RefusalLog) Watch(target string) (finish func(ctx context.Context) error) {
	w := &refusalWatcher{target: target, from: time.Now()}
	l.mu.Lock()
	if l.watchers == nil {
		l.watchers = map[*refusalWatcher]bool{}
	}
	l.watchers[w] = true
	l.mu.Unlock()
	return func(ctx context.Context) error {
		timer := time.NewTimer(AttributionWait)
		defer timer.Stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		for w.found == nil && l.mayBeAttributed(w.from) {
			if l.changed == nil {
				l.changed = make(chan struct{})
			}
			changed := l.changed
			l.mu.Unlock()
			over := true
			select {
			case <-changed:
				over = false
			case <-timer.C:
			case <-ctx.Done():
			}
			l.mu.Lock()
			if over {
				break
			}
		}
		delete(l.watchers, w)
		return w.found
	}
}

// mayBeAttributed says whether a refusal may yet turn out to be some tab's. l.mu is held.
func (l *RefusalLog) mayBeAttributed(from time.Time) bool {
	if l.pending > 0 {
		return true
	}
	for i := len(l.entries) - 1; i >= 0 && !l.entries[i].At.Before(from); i-- {
		if e := &l.entries[i]; e.Tab == "" && !e.Document {
			return true
		}
	}
	return false
}

// Refusals returns the last entries, newest last.
func (l *RefusalLog) Refusals() []RefusalRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]RefusalRecord, len(l.entries))
	for i, e := range l.entries {
		all[i] = e.RefusalRecord
	}
	return all
}

// Count returns how many requests were refused in all.
func (l *RefusalLog) Count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// urlHostPort returns the host:port of a URL, as passed to [RefusalLog.Add], or "" if address is no URL.
func urlHostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[u.Scheme])
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String() // browsers write [::ffff:10.0.0.1] as [::ffff:a00:1]
	}
	return net.JoinHostPort(host, port)
}
