package conversation_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
	"clank/voice/conversation"
	"clank/voice/realtime"
	"clank/voice/speech/playout"
)

func TestARealtimeModelHearsUsesToolsAndKnowsWhatWasHeardOfIt(t *testing.T) {
	tone := voice.AppendPCM(nil, make([]int16, 4*voice.RateRealtime))
	speaks, truncated, output := make(chan struct{}), make(chan float64, 1), make(chan string, 1)
	srv := llmtest.NewRealtimeServer(t, llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		for len(c.Audio()) == 0 {
			<-time.After(5 * time.Millisecond)
		}
		c.Begin("resp_1", "item_1")
		c.FunctionCall("resp_1", "item_2", "call_1", "look", `{}`)
		output <- c.Expect("conversation.item.create").Text("item.output")
		c.Done("resp_1", "", "completed")
		c.Expect("response.create")
		c.Begin("resp_2", "item_3")
		c.OutputAudio("resp_2", "item_3", tone)
		<-speaks
		c.Speech("item_4")
		ms, _ := c.Expect("conversation.item.truncate").Get("audio_end_ms").(float64)
		truncated <- ms
		c.AwaitClose()
	}})
	p := newParty(t)
	p.Spotter = nil
	p.Player = conversation.NewPlayer(&playout.Player{Line: p.line, Synthesizer: &speaker{packets: [][]byte{{1}}}})
	look := sessions.Tool{
		Tool: llm.Tool{Name: "look", Description: "Looks."},
		Call: func(_ context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
			return "seen for " + o.UserName, nil, nil
		},
	}
	used := make(chan realtime.Usage, 2)
	session := &realtime.Session{BaseURL: srv.URL(), Key: "k", RecordUsage: func(u realtime.Usage) { used <- u }}
	p.NewNative = conversation.RealtimeModel(session, func(conversation.NativeEvents) []sessions.Tool { return []sessions.Tool{look} })
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	go func() { p.ended <- p.Run(ctx) }()
	p.line.events <- voice.Event{Kind: voice.Joined, Person: voice.Person{ID: "ada", Name: "Ada"}}
	p.line.events <- voice.Event{Kind: voice.Connected}
	p.line.events <- voice.Event{Kind: voice.PacketReceived, Packet: voice.Packet{From: "ada"}}
	p.ear.ready(t).Sound(voice.Sound{From: "ada", Rate: voice.RateRealtime, Samples: make([]int16, 480)})

	if got, want := await(t, output), `{"ok":true,"result":"seen for Ada"}`; got != want {
		t.Errorf("the tool gave %s, want %s", got, want)
	}
	if u := await(t, used); u.InputTokens == 0 {
		t.Errorf("usage = %+v", u)
	}
	for p.line.packets() < 10 {
		<-time.After(5 * time.Millisecond)
	}
	close(speaks)
	if ms := await(t, truncated); ms < 100 || ms > 4000 {
		t.Errorf("the model is told that %v ms were heard", ms)
	}
	stop(errBroken)
	if err := await(t, p.ended); err != errBroken { //nolint:errorlint // the very cause
		t.Errorf("Run = %v", err)
	}
	if got := srv.Problems(); len(got) > 0 {
		t.Errorf("problems: %s", strings.Join(got, "; "))
	}
}

// await takes from a channel, with patience.
func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
	}
	panic("not reached")
}
