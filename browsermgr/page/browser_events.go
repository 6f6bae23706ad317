package page

// Events returns what happens to tabs from now on, oldest first, until stop is called or the connection ends, which
// closes the channel. A reader that falls behind delays nobody: its events are queued. stop waits until the channel is
// closed and may be called more than once.
func (b *Browser) Events() (events <-chan Event, stop func()) {
	f := NewEventQueue[Event]()
	out := make(chan Event)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out, func() {}
	}
	b.queues[f] = struct{}{}
	finished := make(chan struct{})
	b.wg.Go(func() {
		defer close(finished)
		defer close(out)
		f.Deliver(out, b.conn.Done())
	})
	return out, func() {
		b.mu.Lock()
		delete(b.queues, f)
		b.mu.Unlock()
		f.Stop()
		<-finished
	}
}

func (b *Browser) publish(kind EventKind, t *Tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.queues {
		f.Add(Event{Kind: kind, Tab: t})
	}
}
