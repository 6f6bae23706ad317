package sessions

// subscriberBuffer is how many events a subscriber may be behind.
const subscriberBuffer = 256

// Subscribe returns a channel with all that happens to all tasks from now on, and a function that ends it. The
// channel is bounded: a subscriber that falls too far behind finds it closed, and should subscribe and read the state
// anew. What an event points to is shared and not to be changed.
func (m *Manager) Subscribe() (<-chan Event, func()) {
	ch := make(chan Event, subscriberBuffer)
	m.subMu.Lock()
	defer m.subMu.Unlock()
	if m.subs == nil {
		m.subs = make(map[chan Event]struct{})
	}
	m.subs[ch] = struct{}{}
	return ch, func() {
		m.subMu.Lock()
		defer m.subMu.Unlock()
		m.unsubscribe(ch)
	}
}

// unsubscribe closes ch unless it is closed. The lock subMu is held.
func (m *Manager) unsubscribe(ch chan Event) {
	if _, ok := m.subs[ch]; ok {
		delete(m.subs, ch)
		close(ch)
	}
}

// publish tells everybody that something has happened to j.
func (m *Manager) publish(j *queuedTask, step *Step) {
	ev := Event{Record: j.rec, Step: step}
	if !ev.Record.State.Final() {
		ev.Record.Images = nil
	}
	m.subMu.Lock()
	for ch := range m.subs {
		select {
		case ch <- ev:
		default:
			m.unsubscribe(ch)
		}
	}
	m.subMu.Unlock()
	if j.watch != nil {
		j.watch(ev)
	}
}
