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

// openStream begins an answer that is a stream. Like all below it reports whether the reader is still there.
func openStream(w http.ResponseWriter) (*eventStream, bool) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &eventStream{w, http.NewResponseController(w)}
	// The server's limit for reading a request would end the stream too.
	ok := s.rc.SetReadDeadline(time.Time{}) == nil
	return s, ok && s.write(fmt.Appendf(nil, "retry: %d\n\n", streamRetry))
}

// send writes one event. data holds no line break: it is JSON.
func (s *eventStream) send(id, event string, data []byte) bool {
	return s.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, event, data))
}

func (s *eventStream) sendJSON(id, event string, v any) bool {
	data, err := json.Marshal(v)
	return err == nil && s.send(id, event, data)
}

func (s *eventStream) keepAlive() bool { return s.write([]byte(":\n\n")) }

func (s *eventStream) write(b []byte) bool {
	if s.rc.SetWriteDeadline(time.Now().Add(streamWrite)) != nil {
		return false
	}
	_, err := s.w.Write(b)
	return err == nil && s.rc.Flush() == nil
}
