package record

import "clank/browsermgr/page"

// RedactHeader is tested on its own: what goes wrong in it leaks secrets.
var RedactHeader = redactHeader

// CountWaiters counts those who wait for a response of the tab.
func (r *Recorder) CountWaiters(t *page.Tab) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.tabs[t]; l != nil {
		return len(l.waiters)
	}
	return 0
}

// SetBudget says how many bytes of a kind ("lines", "frames" or "bodies") the running trace takes from now on.
func (t *Tracer) SetBudget(kind string, n int64) {
	s := t.running().spool
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budgets[kind] = n
}
