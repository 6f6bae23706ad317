package conversation

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	writeTimeout      = 30 * time.Second
	maxQueuedMessages = 50
)

// MessageWriter writes messages in order, without making anybody wait.
type MessageWriter[M any] struct {
	send func(ctx context.Context, m M) error
	log  *slog.Logger
	wake chan struct{}
	done chan struct{}
	stop context.CancelFunc

	mu     sync.Mutex
	queue  []M
	closed bool
}

// NewMessageWriter starts a scribe that writes with out, each message within half a minute. It works until Close, or the end of ctx.
func NewMessageWriter[M any](ctx context.Context, out func(ctx context.Context, m M) error, log *slog.Logger) *MessageWriter[M] {
	ctx, stop := context.WithCancel(ctx)
	s := &MessageWriter[M]{send: out, log: log, wake: make(chan struct{}, 1), done: make(chan struct{}), stop: stop}
	go func() {
		defer stop()
		s.run(ctx)
	}()
	return s
}

// Write has m written in its turn. Where too much waits, it is left out, which is logged.
func (s *MessageWriter[M]) Write(m M) {
	s.mu.Lock()
	full := len(s.queue) >= maxQueuedMessages
	if !full && !s.closed {
		s.queue = append(s.queue, m)
	}
	s.mu.Unlock()
	if full {
		s.log.Warn("too much waits to be written; a message of a call is left out")
	}
	s.signal()
}

func (s *MessageWriter[M]) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *MessageWriter[M]) run(ctx context.Context) {
	defer close(s.done)
	for {
		m, more, closed := s.next()
		switch {
		case more:
			one, cancel := context.WithTimeout(ctx, writeTimeout)
			if err := s.send(one, m); err != nil {
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

func (s *MessageWriter[M]) next() (m M, more, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return m, false, s.closed
	}
	m, s.queue = s.queue[0], s.queue[1:]
	return m, true, s.closed
}

// Close writes what is left, until ctx ends.
func (s *MessageWriter[M]) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
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
