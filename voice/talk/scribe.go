package talk

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	writeTimeout = 30 * time.Second
	maxUnwritten = 50
)

// scribe writes messages in order, without making anybody wait.
type scribe struct {
	chat Chat
	log  *slog.Logger
	wake chan struct{}
	done chan struct{}
	stop context.CancelFunc

	mu     sync.Mutex
	queue  []Message
	closed bool
}

// newScribe starts a scribe, which works until close, or the end of ctx.
func newScribe(ctx context.Context, c Chat, log *slog.Logger) *scribe {
	ctx, stop := context.WithCancel(ctx)
	s := &scribe{chat: c, log: log, wake: make(chan struct{}, 1), done: make(chan struct{}), stop: stop}
	go s.run(ctx)
	return s
}

func (s *scribe) write(m Message) {
	s.mu.Lock()
	full := len(s.queue) >= maxUnwritten
	if !full && !s.closed {
		s.queue = append(s.queue, m)
	}
	s.mu.Unlock()
	if full {
		s.log.Warn("too much waits to be written; a message of a call is left out")
	}
	s.nudge()
}

func (s *scribe) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *scribe) run(ctx context.Context) {
	defer close(s.done)
	for {
		m, more, closed := s.next()
		switch {
		case more:
			one, cancel := context.WithTimeout(ctx, writeTimeout)
			if err := s.chat.Write(one, m); err != nil {
				s.log.Warn("message of a call not written", "error", err)
			}
			cancel()
		case closed || ctx.Err() != nil:
			return
		default:
			select {
			case <-s.wake:
			case <-ctx.Done():
			}
		}
	}
}

func (s *scribe) next() (m Message, more, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return m, false, s.closed
	}
	m, s.queue = s.queue[0], s.queue[1:]
	return m, true, s.closed
}

// close writes what is left, until ctx ends.
func (s *scribe) close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.nudge()
	select {
	case <-s.done:
	case <-ctx.Done():
		s.mu.Lock()
		s.queue = nil
		s.mu.Unlock()
	}
	s.stop()
	<-s.done
}
