package realtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/voice/realtime"
)

// FuzzEvents gives a session that is set up whatever a server may send; it must go on.
func FuzzEvents(f *testing.F) {
	for _, e := range []string{
		`{"type":"response.created","response":{"id":"r"}}`,
		`{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"AAAA"}`,
		`{"type":"response.function_call_arguments.done","call_id":"c","name":"n","arguments":"{}"}`,
		`{"type":"conversation.item.added","item":{"id":"i","type":"message","role":"user","content":[null]}}`,
		`{"type":"response.done","response":{"id":"r","status":"failed","output":[{"type":"function_call"}],"usage":{}}}`,
		`{"type":"error","error":{"code":"conversation_already_has_active_response"}}`,
		`{"type":"input_audio_buffer.speech_started"}`, `null`, `[]`, `{"type":7}`,
	} {
		f.Add(e, e)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		var ended atomic.Bool
		srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Raw(first)
			c.Raw(second)
			c.Raw(`{"type":"response.output_audio_transcript.done","item_id":"last","transcript":"the end of it"}`)
			c.AwaitClose()
		}}, llmtest.RealtimeCall{Status: 401})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s := &realtime.Session{BaseURL: srv.URL(), MinWait: time.Millisecond, Said: func(text string) {
			if text == "the end of it" {
				ended.Store(true)
				cancel()
			}
		}}
		if err := s.Run(ctx); err == nil && !ended.Load() {
			t.Error("the last event was not taken")
		}
	})
}
