package realtime_test

import (
	"testing"
	"time"

	server "clank/llm/llmtest/realtime"
	"clank/voice"
)

func TestItIsToldWhoMayHaveSaidSomething(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	srv := server.NewServer(t, server.Call{Serve: func(c *server.Conn) {
		c.Open()
		has := func(d time.Duration) {
			for time.Duration(len(c.Audio())/2)*time.Second/voice.RateRealtime < d {
				<-time.After(5 * time.Millisecond)
			}
		}
		spoke := func(item string, from, to int) {
			c.Send(server.Event{"type": "input_audio_buffer.speech_started", "audio_start_ms": from, "item_id": item})
			c.Send(server.Event{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": to, "item_id": item})
		}
		has(time.Second)
		close(second)
		has(2 * time.Second)
		spoke("item_1", 0, 900)
		spoke("item_2", 200, 1900)
		c.Said("item_1", "privacy")
		c.Said("item_2", "stop")
		c.Said("item_3", "when was that?")
		c.Gone()
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
