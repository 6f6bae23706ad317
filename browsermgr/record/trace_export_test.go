package record

// SetBudget says how many bytes of a kind ("lines", "frames" or "bodies") the running trace takes from now on.
func (t *Tracer) SetBudget(kind string, n int64) {
	s := t.running().spool
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budgets[kind] = n
}
