package endurance_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stall is a time in which the machine did not let this program run.
type stall struct{ from, to time.Time }

// watch notices where the machine has no time for us, also by keeping a thread waiting that holds the lock of the voice server. It
// ends with ctx.
func (w *world) watch(ctx context.Context) {
	const step = 10 * time.Millisecond
	for last := time.Now(); rest(ctx, step); {
		_ = w.voice.Settled("", "") // takes the lock
		now := time.Now()
		if now.Sub(last) > 5*step {
			w.mu.Lock()
			w.stalls = append(w.stalls, stall{last.Add(step), now})
			w.mu.Unlock()
		}
		last = now
	}
}

// stalled returns for how much of a time span the machine had no time for us.
func (w *world) stalled(from, to time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum time.Duration
	for _, s := range w.stalls {
		late, soon := s.from, s.to
		if from.After(late) {
			late = from
		}
		if to.Before(soon) {
			soon = to
		}
		sum += max(0, soon.Sub(late))
	}
	return sum
}

// overflown returns how many datagrams the kernel has dropped because we did not read them in time, of the sockets that are open.
func overflown() int {
	ours := map[string]bool{}
	links, _ := filepath.Glob("/proc/self/fd/*") // on other systems there are none
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil {
			if inode, ok := strings.CutPrefix(to, "socket:["); ok {
				ours[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	f, err := os.Open("/proc/net/udp")
	if err != nil {
		return 0
	}
	defer f.Close()
	const inode, drops = 9, 12 // columns
	sum := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > drops && ours[fields[inode]] {
			n, _ := strconv.Atoi(fields[drops]) // the heading is not ours
			sum += n
		}
	}
	return sum
}

// verdict says whether gaps can be judged: on a machine that keeps us waiting they are its own.
func (w *world) verdict(began time.Time) (fair bool, why string) {
	all := time.Since(began)
	lost := w.stalled(began, time.Now())
	return lost*50 <= all, fmt.Sprintf("the machine kept us waiting for %v of %v", lost.Round(time.Millisecond), all.Round(time.Second))
}
