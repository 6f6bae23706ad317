package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/realtime"
	"clank/voice/speech/playout"
)

// constant returns sound of one value.
func constant(v int16, n int) []int16 { return slices.Repeat([]int16{v}, n) }

func TestWhatSeveralPeopleSayIsMixedAndGoesOnInSilence(t *testing.T) {
	t.Parallel()
	came := make(chan []int16, 1)
	s, _ := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		for len(c.Audio()) < 11*voice.RateRealtime { // five seconds and a half
			<-time.After(10 * time.Millisecond)
		}
		came <- voice.ParsePCM(c.Audio())
	})
	s.Hear(voice.Sound{From: "ada", Samples: constant(20000, 7*24000)}) // what is older than five seconds is dropped
	s.Hear(voice.Sound{From: "bob", Samples: constant(-5000, 10000)})
	for range 10 {
		s.Hear(voice.Sound{From: "cy", Samples: constant(20000, 480)}) // in pieces, and too loud together
	}
	run(t, s)
	got := await(t, came)
	count := map[int16]int{}
	for _, v := range got {
		count[v]++
	}
	// All three, then Ada and Bob, then Ada alone, then nothing.
	for v, want := range map[int16]int{32767: 4800, 15000: 5200, 20000: 110000} {
		if count[v] != want {
			t.Errorf("%d samples of %d, want %d", count[v], v, want)
		}
	}
	if count[0] == 0 || got[len(got)-1] != 0 {
		t.Error("there is no silence at the end")
	}
}

func TestAnswersWithoutEndAreCut(t *testing.T) {
	t.Parallel()
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Begin("resp_1", "item_1")
		for range 20 {
			c.OutputAudio("resp_1", "item_1", pcm(200*time.Millisecond))
		}
		c.OutputTranscript("resp_1", "item_1", "half")
		c.Done("resp_1", "item_1", "completed")
		for n := range 100 {
			c.OutputAudio("resp_2", "piece_"+strconv.Itoa(n), pcm(20*time.Millisecond))
		}
		c.OutputTranscript("resp_2", "piece_99", "whole")
	})
	s.MaxAnswer = time.Second
	w.speak = make(chan *played, 200)
	run(t, s)
	if got := count(t, await(t, w.speak)); got < 50 || got > 60 {
		t.Errorf("%d packets of an answer without end, want those of a second", got)
	}
	for await(t, w.said) != "whole" {
	}
	if n := len(w.speak); n > 40 {
		t.Errorf("%d pieces of an answer wait to be heard", n)
	}
}

func TestAModelRunsOnlySoManyToolsAtOnce(t *testing.T) {
	t.Parallel()
	refused := make(chan string, 1)
	s, _ := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		for n := range 9 {
			c.FunctionCall("resp_1", "item_"+strconv.Itoa(n), "call_"+strconv.Itoa(n), "browse", "{}")
		}
		refused <- c.Expect("conversation.item.create").Text("item.output")
	})
	s.use(func(ctx context.Context, _ string, _ json.RawMessage) string {
		<-ctx.Done()
		return "{}"
	})
	run(t, s)
	check.Contains(t, await(t, refused), "too many")
}

func TestItIsToldWhoMayHaveSaidSomething(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	s, w := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		has := func(d time.Duration) {
			for time.Duration(len(c.Audio())/2)*time.Second/voice.RateRealtime < d {
				<-time.After(5 * time.Millisecond)
			}
		}
		has(time.Second)
		close(second)
		has(2 * time.Second)
		c.Spoke("item_1", 0, 900)
		c.Spoke("item_2", 200, 1900)
		c.UserTranscript("item_1", "privacy")
		c.UserTranscript("item_2", "stop")
		c.UserTranscript("item_3", "when was that?")
	})
	s.Hear(voice.Sound{From: "ada", Samples: constant(5000, voice.RateRealtime)})
	s.Hear(voice.Sound{From: "noise", Samples: constant(60, voice.RateRealtime)})
	run(t, s)
	<-second
	s.Hear(voice.Sound{From: "bob", Samples: constant(-5000, voice.RateRealtime)})
	for _, want := range []string{"ada privacy", "ada bob stop", "ada bob when was that?"} {
		check.Equal(t, "heard", await(t, w.heard), want)
	}
}

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
	asker   func(by []string) (sessions.Origin, error)
	names   map[string]string // of people by their ids
	speak   chan *played
	hush    chan error
	heard   chan string
	said    chan string
	used    chan realtime.Usage
	trouble chan *llm.Error
}

func newTold() *told {
	return &told{
		asker: func(by []string) (sessions.Origin, error) { return sessions.Origin{User: strings.Join(by, "+")}, nil },
		speak: make(chan *played, 64), hush: make(chan error, 64), heard: make(chan string, 64), said: make(chan string, 64),
		used: make(chan realtime.Usage, 64), trouble: make(chan *llm.Error, 64),
	}
}

func (w *told) Speak(_ []string, sound playout.SoundFunc) realtime.PlaybackPosition {
	p := &played{sound: sound}
	w.speak <- p
	return p
}

func (w *told) StopPlayback(cause error)                   { w.hush <- cause }
func (w *told) Heard(by []string, text string)             { w.heard <- strings.Join(append(by, text), " ") }
func (w *told) Answered(text string)                       { w.said <- text }
func (w *told) Trouble(err *llm.Error)                     { w.trouble <- err }
func (w *told) Show(string, []llm.Image)                   {}
func (w *told) Name(id string) string                      { return w.names[id] }
func (w *told) CountResponse(_ []string, u realtime.Usage) { w.used <- u }
func (w *told) CountTranscription([]string, time.Duration) {}

func (w *told) Asker(_ context.Context, by []string) (sessions.Origin, error) { return w.asker(by) }

// client is a session and what it tells the test.
type client struct {
	*realtime.Session

	on *told
}

// session makes a session that talks to a server, and writes down what it tells.
func session(srv *llmtest.RealtimeServer) (*client, *told) {
	w := newTold()
	s := &client{on: w, Session: &realtime.Session{
		BaseURL: srv.URL(), Key: "sk-secret", Instructions: "Be short.", Voice: "marin",
		TranscriptionModel: "gpt-4o-mini-transcribe", Language: "en",
		MinWait: time.Millisecond, MaxOutage: patience, Meter: w,
	}}
	s.use(nil)
	return s, w
}

// use has calls of tools answered so.
func (s *client) use(call func(ctx context.Context, name string, arguments json.RawMessage) string) {
	tool := func(t llm.Tool) sessions.Tool {
		return sessions.Tool{
			Tool: t,
			Call: func(ctx context.Context, _ sessions.Origin, arguments json.RawMessage) (string, []llm.Image, error) {
				return call(ctx, t.Name, arguments), nil, nil
			},
		}
	}
	s.Tools = []sessions.Tool{
		tool(llm.Tool{
			Name: "browse", Description: "Looks at pages.",
			Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`),
		}),
		tool(llm.Tool{Name: "stop", Description: "Stops."}),
	}
}

// served makes a session that talks to a server of one call, which lasts until we hang up.
func served(t *testing.T, serve func(c *llmtest.RealtimeConn)) (*client, *told) {
	t.Helper()
	return session(llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		serve(c)
		c.AwaitClose()
	}}))
}

// run runs a session for the rest of a test, or until the returned function is called, which gives its end.
func run(t *testing.T, s *client) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, s.on) }()
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
