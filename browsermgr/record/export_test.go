package record

import "clank/browsermgr/page"

// RedactHeader is tested separately, since its errors leak secrets.
var RedactHeader = redactHeader

// CountWaiters counts the waits for a response of the tab.
func (r *Recorder) CountWaiters(t *page.Tab) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.tabs[t]; l != nil {
		return len(l.waiters)
	}
	return 0
}

// SetBudget sets how many bytes of a kind ("lines", "frames" or "bodies") the running trace accepts from now on.
func (t *Tracer) SetBudget(kind string, n int64) {
	s := t.running().spool
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budgets[kind] = n
}
