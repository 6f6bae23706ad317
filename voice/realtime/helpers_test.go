package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/voice"
	"clank/voice/realtime"
)

const patience = 20 * time.Second

var errStop = errors.New("ada said stop")

// played is sound that is played; how much of it is set by the test.
type played struct {
	sound  func(context.Context) iter.Seq2[[]byte, error]
	mu     sync.Mutex
	length time.Duration
}

func (p *played) Played() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.length
}

func (p *played) set(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.length = d
}

// told is what a session has told, as it came.
type told struct {
	speak   chan *played
	hush    chan error
	heard   chan string
	said    chan string
	used    chan realtime.Usage
	trouble chan *llm.Error
}

// session makes a session that talks to a server, and writes down what it tells.
func session(s *llmtest.RealtimeServer) (*realtime.Session, *told) {
	w := &told{
		make(chan *played, 64), make(chan error, 64), make(chan string, 64), make(chan string, 64),
		make(chan realtime.Usage, 64), make(chan *llm.Error, 64),
	}
	return &realtime.Session{
		BaseURL: s.URL(), Key: "sk-secret", Instructions: "Be short.", Voice: "marin", TranscriptionModel: "gpt-4o-mini-transcribe", Language: "en",
		Tools: []llm.Tool{
			{Name: "browse", Description: "Looks at pages.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)},
			{Name: "stop", Description: "Stops."},
		},
		MinWait: time.Millisecond, MaxOutage: patience,
		Speak: func(sound func(context.Context) iter.Seq2[[]byte, error]) realtime.PlaybackPosition {
			p := &played{sound: sound}
			w.speak <- p
			return p
		},
		StopPlayback: func(cause error) { w.hush <- cause },
		Heard:        func(by []string, text string) { w.heard <- strings.Join(append(by, text), " ") },
		Said:         func(text string) { w.said <- text },
		RecordUsage:  func(u realtime.Usage) { w.used <- u },
		Trouble:      func(err *llm.Error) { w.trouble <- err },
	}, w
}

// served makes a session that talks to a server of one call, which lasts until we hang up.
func served(t *testing.T, serve func(c *llmtest.RealtimeConn)) (*realtime.Session, *told) {
	t.Helper()
	return session(llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		serve(c)
		c.AwaitClose()
	}}))
}

// run runs a session for the rest of a test, or until the returned function is called, which gives its end.
func run(t *testing.T, s *realtime.Session) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	end := sync.OnceValue(func() error {
		cancel()
		return await(t, done)
	})
	t.Cleanup(func() { _ = end() })
	return end
}

// await takes from a channel, with patience.
func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	panic("not reached")
}

// pcm returns a tone of a length at 24 kHz.
func pcm(d time.Duration) []byte {
	samples := make([]int16, int(d*voice.RateRealtime/time.Second))
	for i := range samples {
		samples[i] = int16(i % 100 * 100)
	}
	return voice.AppendPCM(nil, samples)
}

// count plays all of a sound and says how many packets it had.
func count(t *testing.T, p *played) int {
	t.Helper()
	n := 0
	for _, err := range p.sound(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	return n
}
