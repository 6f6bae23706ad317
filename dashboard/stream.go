package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	streamWrite       = 10 * time.Second // a reader that takes no byte for so long is gone
	keepAliveInterval = 15 * time.Second // a comment is sent so often, to notice that
	streamRetry       = 1500             // milliseconds after which a browser comes back
)

// eventStream writes server-sent events as the HTML standard defines them.
type eventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func openStream(w http.ResponseWriter) (*eventStream, error) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &eventStream{w, http.NewResponseController(w)}
	// The server's limit for reading a request would end the stream too.
	if err := s.rc.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	return s, s.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetry))
}

// send writes one event. data holds no line break: it is JSON.
func (s *eventStream) send(id, event string, data []byte) error {
	return s.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, event, data))
}

func (s *eventStream) sendJSON(id, event string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write down event %s: %w", event, err)
	}
	return s.send(id, event, data)
}

func (s *eventStream) keepAlive() error { return s.write([]byte(":\n\n")) }

func (s *eventStream) write(b []byte) error {
	if err := s.rc.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if _, err := s.w.Write(b); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if err := s.rc.Flush(); err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	return nil
}
