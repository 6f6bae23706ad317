package page

import "sync"

// feed queues events for one listener.
type feed struct {
	mu     sync.Mutex
	queue  []Event
	ended  bool
	wake   chan struct{}
	quit   chan struct{}
	closed sync.Once
}

// Events returns what happens to tabs from now on, oldest first, until stop is called or the connection ends, which
// closes the channel. A reader that falls behind delays nobody: its events are queued. stop waits until the channel is
// closed and may be called more than once.
func (b *Browser) Events() (events <-chan Event, stop func()) {
	f := &feed{wake: make(chan struct{}, 1), quit: make(chan struct{})}
	out := make(chan Event)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out, func() {}
	}
	b.feeds[f] = struct{}{}
	finished := make(chan struct{})
	b.wg.Go(func() {
		defer close(finished)
		defer close(out)
		f.run(out, b.conn.Done())
	})
	return out, func() {
		b.mu.Lock()
		delete(b.feeds, f)
		b.mu.Unlock()
		f.closed.Do(func() { close(f.quit) })
		<-finished
	}
}

func (f *feed) run(out chan<- Event, gone <-chan struct{}) {
	for {
		f.mu.Lock()
		batch, ended := f.queue, f.ended
		f.queue = nil
		f.mu.Unlock()
		for _, ev := range batch {
			select {
			case out <- ev:
			case <-f.quit:
				return
			case <-gone:
				// Nobody may be reading any more; what matters now is Browser.Done.
				return
			}
		}
		if ended && len(batch) == 0 {
			return
		}
		select {
		case <-f.wake:
		case <-f.quit:
			return
		}
	}
}

func (f *feed) add(ev Event) {
	f.mu.Lock()
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	f.nudge()
}

func (f *feed) end() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.nudge()
}

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (b *Browser) publish(kind EventKind, t *Tab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.feeds {
		f.add(Event{Kind: kind, Tab: t})
	}
}
