package dashboard

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits on failed sign-in attempts within failureTime: from one address, and in total.
const (
	maxFailures    = 10
	maxAllFailures = 200
	failureTime    = 10 * time.Minute
)

// throttle counts failed sign-in attempts. The zero value is ready to use. Attempts from this machine are not
// counted: the secrets have 256 bits, and nobody should be able to lock out the owner.
type throttle struct {
	mu     sync.Mutex
	failed map[string][]time.Time // times by address, within failureTime
}

// wait returns how long an address must wait before the next attempt.
func (t *throttle) wait(from string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, all := time.Now(), []time.Time(nil)
	for addr, times := range t.failed {
		times = slices.DeleteFunc(times, func(at time.Time) bool { return now.Sub(at) >= failureTime })
		if t.failed[addr] = times; len(times) == 0 {
			delete(t.failed, addr)
		}
		all = append(all, times...)
	}
	slices.SortFunc(all, time.Time.Compare)
	return max(waitAfter(t.failed[from], maxFailures, now), waitAfter(all, maxAllFailures, now))
}

// waitAfter returns how long it takes until fewer than most of the failures, oldest first, count.
func waitAfter(failed []time.Time, most int, now time.Time) time.Duration {
	if len(failed) < most {
		return 0
	}
	return failed[len(failed)-most].Add(failureTime).Sub(now)
}

func (t *throttle) fail(from string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = make(map[string][]time.Time)
	}
	t.failed[from] = append(t.failed[from], time.Now())
}

// throttled passes a sign-in attempt to h unless too many have failed.
func (s *Server) throttled(h func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter,
	*http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if isLocal(r) {
			return h(w, r)
		}
		from := network(s.clientOf(r))
		if wait := s.attempts.wait(from); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
			return refuse(http.StatusTooManyRequests, "too many attempts to sign in have failed: try again in %s, or on the "+
				"machine that runs clank", minutes(wait))
		}
		err := h(w, r)
		if err != nil {
			s.attempts.fail(from)
		}
		return err
	}
}

// network returns the part of an address that identifies one client: an IPv4 address, or the /64 prefix of an IPv6
// address.
func network(addr string) string {
	if ip, err := netip.ParseAddr(addr); err == nil && ip.Is6() {
		p, _ := ip.WithZone("").Prefix(64) // a prefix of 64 bits is always valid
		return p.String()
	}
	return addr
}

func minutes(d time.Duration) string {
	if d < time.Minute {
		return "less than a minute"
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes())+1)
}
