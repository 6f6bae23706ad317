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

// RefusalRecord is a refused request.
type RefusalRecord struct {
	At      time.Time
	Profile string
	// Tab is the CDP target id of the requesting tab; empty until attributed.
	Tab string
	// URL is the requested URL, without user info, fragment and secret parameters. For a tunnel it is host:port until
	// the refusal is attributed.
	URL string
	// Host is the refused host name, Address the refused IP address; either may be empty.
	Host, Address string
	// Rule is a stable id, Text a sentence for a person.
	Rule, Text string
	// Named reports that "Allowed hosts" includes the host, and the address must be added as well.
	Named bool
	// Document reports that a page or frame was to be loaded. If it is set from the beginning, the refusal is of a
	// check before loading, and belongs to no tab.
	Document bool
}

const (
	maxRefusals       = 200              // entries kept
	attributionWindow = 30 * time.Second // how long after a refusal it can be attributed
)

// AttributionWait is how long a watcher waits for refusals not attributed to a tab yet.
const AttributionWait = 250 * time.Millisecond

// RefusalLog holds the refusals of one profile. The zero value is ready to use. It is safe for concurrent use.
type RefusalLog struct {
	mu       sync.Mutex
	entries  []refusalEntry // oldest first
	count    uint64
	pending  int // requests being checked
	watchers map[*refusalWatcher]bool
	changed  chan struct{} // closed at the next change; nil if nobody waits
}

type refusalEntry struct {
	RefusalRecord
	place  string // host:port
	tunnel bool   // the requested URL is unknown
	cause  error
}

type refusalWatcher struct {
	target string
	from   time.Time
	found  error
}

// BeginRequest records that a request is being checked. done must be called once, after a refusal was recorded.
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

// Add records a refusal of a request to place, a host:port. Secrets are removed from r.URL.
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

// wakeWatchers wakes the waiting watchers. The caller holds l.mu.
func (l *RefusalLog) wakeWatchers() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Attribute attributes a recent refusal to the tab that made the request. It does nothing if there is none.
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
		// Several tabs share the refused connection.
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

// find returns the index of the newest entry that best matches the request, by its URL or because a tunnel to its host
// was refused. It prefers entries without a tab, then those of this tab.
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

// Watch records the first document refused to the tab from now on. finish, which must be called once, returns it; while
// requests are being checked, or refusals are not attributed yet, it waits for at most [AttributionWait].
func (l *RefusalLog) Watch(target string) (finish func(ctx context.Context) error) {
	w := &refusalWatcher{target: target, from: time.Now()}
	l.mu.Lock()
	if l.watchers == nil {
		l.watchers = map[*refusalWatcher]bool{}
	}
	l.watchers[w] = true
	l.mu.Unlock()
	return func(ctx context.Context) error {
		late := time.After(AttributionWait)
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
			case <-late:
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

// mayBeAttributed reports whether a refusal may still be attributed to a tab. The caller holds l.mu.
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

// Refusals returns the last entries, oldest first.
func (l *RefusalLog) Refusals() []RefusalRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]RefusalRecord, len(l.entries))
	for i, e := range l.entries {
		all[i] = e.RefusalRecord
	}
	return all
}

// Count returns the total number of refused requests.
func (l *RefusalLog) Count() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// urlHostPort returns the host:port of a URL, as passed to [RefusalLog.Add]; "" if address is not a URL.
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
