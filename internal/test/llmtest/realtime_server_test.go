package llmtest_test

import (
	"strings"
	"testing"

	"clank/internal/test/llmtest"

	"github.com/coder/websocket"
)

// recordingTB is a test whose failures are looked at instead of counted.
type recordingTB struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (w *recordingTB) Helper() {}

func (w *recordingTB) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }

func (w *recordingTB) Errorf(_ string, args ...any) {
	if text, ok := args[0].(string); ok {
		w.failures = append(w.failures, text)
	}
}

func (w *recordingTB) end() string {
	for _, f := range w.cleanups {
		f()
	}
	return strings.Join(w.failures, "\n")
}

func TestWhatIsWrongFailsTheTest(t *testing.T) {
	t.Parallel()
	for want, send := range map[string][]string{
		"":                              {`{"type":"session.update","session":{"type":"realtime"}}`},
		"not JSON":                      {`{`, `{"type":"session.update","session":{"type":"realtime"}}`},
		"expected session.update":       {`{"type":"response.create"}`},
		"not a RealtimeClientEventConv": {`{"type":"conversation.item.create"}`, `{"type":"session.update","session":{"type":"realtime"}}`},
		"compile schema":                {`{"type":"session.start"}`, `{"type":"session.update","session":{"type":"realtime"}}`},
		"sound that is none":            {`{"type":"input_audio_buffer.append","audio":"AAAA"}`, `{"type":"session.update","session":{"type":"realtime"}}`},
	} {
		if judged := llmtest.CheckSchema("RealtimeClientEvent", []byte("{}")) != nil; !judged && (strings.HasPrefix(want, "not a ") || strings.HasPrefix(want, "compile")) {
			continue // the schema is not at hand
		}
		w := &recordingTB{TB: t}
		srv := llmtest.NewRealtimeServer(w, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.AwaitClose()
		}})
		ws, _, err := websocket.Dial(t.Context(), srv.URL()+"/realtime?model=m", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range send {
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // session.created, session.updated, or the end
			if _, _, err := ws.Read(t.Context()); err != nil {
				break
			}
		}
		_ = ws.Close(websocket.StatusNormalClosure, "")
		if got := w.end(); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
