package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// RealtimeCall describes one connection. Set Serve, or Status to refuse it.
type RealtimeCall struct {
	Serve  func(c *RealtimeConn)
	Status int         // other than 101
	Header http.Header // of the refusal
	Body   string
}

// RealtimeServer is a scripted server. Its methods are safe for concurrent use.
type RealtimeServer struct {
	srv     *httptest.Server
	serving sync.WaitGroup // WebSockets, for which srv does not wait

	mu       sync.Mutex
	script   []RealtimeCall
	requests []*http.Request
	problems []string
}

// NewRealtimeServer starts a server for the duration of a test. Each connection uses the next call of the script;
// invalid events of either side, and connections beyond the script, fail the test.
func NewRealtimeServer(tb testing.TB, script ...RealtimeCall) *RealtimeServer {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := &RealtimeServer{script: script}
	s.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		s.serve(ctx, w, r)
	}))
	tb.Cleanup(func() {
		stop()
		s.srv.Close()
		s.serving.Wait()
		for _, p := range s.Problems() {
			tb.Errorf("realtime server: %s", p)
		}
	})
	return s
}

// URL returns the URL that a client is configured with.
func (s *RealtimeServer) URL() string { return s.srv.URL + "/v1" }

// Requests returns the handshakes so far.
func (s *RealtimeServer) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.requests...)
}

// Problems returns the errors so far.
func (s *RealtimeServer) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

func (s *RealtimeServer) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// nextCall takes the next call of the script.
func (s *RealtimeServer) nextCall(r *http.Request) (RealtimeCall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.script) == 0 {
		return RealtimeCall{Status: http.StatusServiceUnavailable}, false
	}
	c := s.script[0]
	s.script = s.script[1:]
	return c, true
}

func (s *RealtimeServer) serve(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	call, ok := s.nextCall(r)
	if !ok {
		s.problem("a connection beyond the script: %s", r.URL)
	}
	if r.URL.Path != "/v1/realtime" || r.URL.Query().Get("model") == "" {
		s.problem("asked for %s", r.URL)
	}
	if r.Header.Get("OpenAI-Beta") != "" {
		s.problem("asked for the beta")
	}
	if call.Status != 0 {
		maps.Copy(w.Header(), call.Header)
		w.WriteHeader(call.Status)
		_, _ = w.Write([]byte(call.Body))
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.problem("accept: %v", err)
		return
	}
	defer ws.CloseNow() //nolint:errcheck // it has ended in any case
	ws.SetReadLimit(1 << 24)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := &RealtimeConn{
		server: s, ws: ws, ctx: func() context.Context { return ctx },
		events: make(chan RealtimeEvent, 4096),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.read(ctx)
	}()
	call.Serve(c)
	cancel()
	<-done
}

// RealtimeEvent is an event of either side.
type RealtimeEvent map[string]any

// Type returns its type.
func (e RealtimeEvent) Type() string {
	t, _ := e["type"].(string)
	return t
}

// Get returns a field by a dotted path; nil if there is none.
func (e RealtimeEvent) Get(path string) any {
	var v any = map[string]any(e)
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Text returns a string field.
func (e RealtimeEvent) Text(path string) string {
	t, _ := e.Get(path).(string)
	return t
}

// realtimeSchemaName returns the schema name of an event, such as RealtimeClientEventSessionUpdate.
func realtimeSchemaName(side, kind string) string {
	var b strings.Builder
	b.WriteString("Realtime" + side + "Event")
	for word := range strings.FieldsFuncSeq(kind, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	// Where names of GA differ from those of the components.
	return strings.NewReplacer("ResponseOutputAudio", "ResponseAudio", "ResponseOutputText", "ResponseText").Replace(
		b.String())
}

func checkRealtimeEvent(side string, e RealtimeEvent, data []byte) error {
	if err := CheckSchema(realtimeSchemaName(side, e.Type()), data); err != nil {
		return fmt.Errorf("%s event %.300s: %w", strings.ToLower(side), data, err)
	}
	return nil
}

func decodeRealtimeEvent(data []byte) (RealtimeEvent, error) {
	var e RealtimeEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("an event that is not JSON: %w", err)
	}
	return e, nil
}
