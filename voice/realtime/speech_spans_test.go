package realtime_test

import (
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/voice"
)

func TestItIsToldWhoMayHaveSaidSomething(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		has := func(d time.Duration) {
			for time.Duration(len(c.Audio())/2)*time.Second/voice.RateRealtime < d {
				<-time.After(5 * time.Millisecond)
			}
		}
		spoke := func(item string, from, to int) {
			c.Send(llmtest.RealtimeEvent{"type": "input_audio_buffer.speech_started", "audio_start_ms": from, "item_id": item})
			c.Send(llmtest.RealtimeEvent{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": to, "item_id": item})
		}
		has(time.Second)
		close(second)
		has(2 * time.Second)
		spoke("item_1", 0, 900)
		spoke("item_2", 200, 1900)
		c.UserTranscript("item_1", "privacy")
		c.UserTranscript("item_2", "stop")
		c.UserTranscript("item_3", "when was that?")
		c.AwaitClose()
	}})
	s, w := session(srv)
	s.Hear(voice.Sound{From: "ada", Samples: constant(5000, voice.RateRealtime)})
	s.Hear(voice.Sound{From: "noise", Samples: constant(60, voice.RateRealtime)})
	run(t, s)
	<-second
	s.Hear(voice.Sound{From: "bob", Samples: constant(-5000, voice.RateRealtime)})
	for _, want := range []string{"ada privacy", "ada bob stop", "ada bob when was that?"} {
		if got := await(t, w.heard); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}
