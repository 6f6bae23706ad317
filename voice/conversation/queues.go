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

// MessageWriter writes messages in order, without blocking its callers.
type MessageWriter struct {
	chat Chat
	log  *slog.Logger
	done chan struct{}
	stop context.CancelFunc

	mu     sync.Mutex // held while something is put into queue
	queue  chan Message
	closed bool
}

// NewMessageWriter starts a writer to chat, which takes at most half a minute for each message. It works until Close.
func NewMessageWriter(ctx context.Context, chat Chat, log *slog.Logger) *MessageWriter {
	ctx, stop := context.WithCancel(ctx)
	s := &MessageWriter{
		chat: chat, log: log, queue: make(chan Message, maxQueuedMessages), done: make(chan struct{}),
		stop: stop,
	}
	go s.run(ctx)
	return s
}

// Write queues m. If too many messages wait, it drops m and logs that.
func (s *MessageWriter) Write(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.queue <- m:
	default:
		s.log.Warn("too much waits to be written; a message of a call is left out")
	}
}

func (s *MessageWriter) run(ctx context.Context) {
	defer close(s.done)
	defer s.stop()
	for m := range s.queue {
		if ctx.Err() != nil {
			return
		}
		one, cancel := context.WithTimeout(ctx, writeTimeout)
		if err := s.chat.Write(one, m); err != nil {
			s.log.Warn("message of a call not written", "error", err)
		}
		cancel()
	}
}

// Close writes the remaining messages, until ctx ends.
func (s *MessageWriter) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.stop()
	<-s.done
}
