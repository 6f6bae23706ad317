package realtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/sessions"
)

// replayed returns the items that a connection begins with, in short.
func replayed(c *llmtest.RealtimeConn, n int) []string {
	var all []string
	for range n {
		e := c.Expect("conversation.item.create")
		content, _ := e.Get("item.content").([]any)
		var text string
		if len(content) > 0 {
			first, _ := content[0].(map[string]any)
			text = llmtest.RealtimeEvent(first).Text("type") + " " + llmtest.RealtimeEvent(first).Text("text")
		}
		all = append(all, strings.Join(strings.Fields(strings.Join([]string{
			e.Text("item.type"), e.Text("item.role"), text, e.Text("item.name"), e.Text("item.arguments"), e.Text("item.output"),
		}, " ")), " "))
	}
	return all
}

func TestAConversationGoesOnOverANewConnection(t *testing.T) {
	t.Parallel()
	again, heard, drop := make(chan []string, 1), make(chan struct{}), make(chan struct{})
	srv := llmtest.NewRealtimeServer(t,
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.UserTranscript("item_1", "Look up the ferry.")
			c.Begin("resp_1", "item_2")
			c.FunctionCall("resp_1", "item_3", "call_1", "browse", `{"query":"ferry"}`)
			c.OutputTranscript("resp_1", "item_2", "I am looking.")
			c.Done("resp_1", "", "completed")
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_2", "item_4")
			c.OutputAudio("resp_2", "item_4", pcm(time.Second))
			c.OutputTranscript("resp_2", "item_4", strings.Repeat("At ten. ", 10))
			<-heard
			c.Speech("item_5")
			c.Expect("conversation.item.truncate")
			c.Done("resp_2", "", "cancelled")
			<-drop
			c.Error("invalid_request_error", "session_expired", "an hour is over", "")
			c.AwaitClose()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) { c.Drop() }},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			again <- replayed(c, 5)
			if rest := c.AwaitClose(); len(rest) != 0 {
				t.Errorf("more came: %v", rest)
			}
		}},
	)
	s, w := session(srv)
	s.use(func(context.Context, string, json.RawMessage) string { return "at ten" })
	stop := run(t, s)
	p := await(t, w.speak)
	p.set(500 * time.Millisecond)
	close(heard)
	await(t, w.hush)
	await(t, w.used)
	await(t, w.used)
	close(drop)
	want := []string{
		"message user input_text Look up the ferry.",
		"message assistant output_text I am looking.",
		`function_call browse {"query":"ferry"}`,
		`function_call_output {"ok":true,"result":"at ten"}`,
		"message assistant output_text " + strings.TrimSpace(strings.Repeat("At ten. ", 5)),
	}
	check.Diff(t, "await(t, again)", await(t, again), want)
	check.Must(t, stop())
}

func TestAnAnswerThatBrokeOffBeforeItWasHeardIsAskedForAgain(t *testing.T) {
	t.Parallel()
	third := make(chan struct{})
	srv := llmtest.NewRealtimeServer(t,
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_1", "item_1")
			c.Drop()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_2", "item_2")
			c.OutputAudio("resp_2", "item_2", pcm(200*time.Millisecond))
			c.Drop()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) { // what was heard in part is not begun again
			c.Open()
			c.Expect("conversation.item.create")
			close(third)
			if rest := c.AwaitClose(); len(rest) != 0 {
				t.Errorf("more came: %v", rest)
			}
		}},
	)
	s, w := session(srv)
	s.AddMessage("What time is it?")
	stop := run(t, s)
	check.Equal(t, "count(t, await(t, w.speak))", count(t, await(t, w.speak)), 10)
	await(t, third)
	_ = stop()
}

func TestAToolThatRunsOverANewConnectionIsAnsweredThere(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	srv := llmtest.NewRealtimeServer(t,
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Begin("resp_1", "item_1")
			c.FunctionCall("resp_1", "item_2", "call_1", "browse", `{}`)
			c.Done("resp_1", "", "completed")
			c.Drop()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			if got := replayed(c, 1); got[0] != "function_call browse {}" {
				t.Errorf("got %v", got)
			}
			close(finish)
			if got := replayed(c, 1); got[0] != `function_call_output {"ok":true,"result":"found"}` {
				t.Errorf("got %v", got)
			}
			c.Expect("response.create")
			c.Begin("resp_2", "item_3")
			c.Done("resp_2", "", "completed")
			c.AwaitClose()
		}},
	)
	s, w := session(srv)
	s.use(func(ctx context.Context, _ string, _ json.RawMessage) string {
		select {
		case <-finish:
		case <-ctx.Done():
		}
		return "found"
	})
	run(t, s)
	await(t, w.used)
	await(t, w.used)
}

func TestAServerThatFallsSilentIsLeft(t *testing.T) {
	t.Parallel()
	srv := llmtest.NewRealtimeServer(t,
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) { c.AwaitClose() }}, // no session
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) { // no response
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.AwaitClose()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			for range 30 {
				c.Raw("garbage")
			}
			c.AwaitClose()
		}},
		llmtest.RealtimeCall{Serve: func(c *llmtest.RealtimeConn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_1", "item_1")
			c.Done("resp_1", "item_1", "completed")
			c.AwaitClose()
		}},
	)
	s, w := session(srv)
	s.Dial, s.Idle = 1500*time.Millisecond, 1500*time.Millisecond
	s.AddMessage("Hello?")
	run(t, s)
	await(t, w.used)
}

func TestToolsThatCannotRunSaySo(t *testing.T) {
	t.Parallel()
	outputs, all := make(chan string, 8), make(chan struct{})
	s, _ := served(t, func(c *llmtest.RealtimeConn) {
		c.Open()
		long := `"` + strings.Repeat("x", 24001) + `"`
		for i, tool := range [][2]string{
			{"browse", `{"x":`},
			{"browse", long},
			{"browse", `{}`},
			{"jump", `{}`},
			{"browse", `{}`},
		} {
			id := string(rune('a' + i))
			c.Begin("resp_"+id, "item_"+id)
			c.FunctionCall("resp_"+id, "call_item_"+id, "call_"+id, tool[0], tool[1])
			outputs <- c.Expect("conversation.item.create").Text("item.output")
			c.Done("resp_"+id, "", "completed")
			c.Expect("response.create")
		}
		close(all)
	})
	s.CallTimeout = 20 * time.Millisecond
	var asked atomic.Int64
	s.on.asker = func([]string) (o sessions.Origin, err error) {
		if asked.Add(1) > 1 {
			err = errors.New("nobody has spoken yet")
		}
		return o, err
	}
	s.use(func(ctx context.Context, _ string, _ json.RawMessage) string {
		<-ctx.Done()
		return ""
	})
	run(t, s)
	for _, want := range []string{"are not JSON", "are too long", "took too long", "no tool jump", "nobody has spoken"} {
		if got := await(t, outputs); !strings.Contains(got, want) || strings.Contains(got, "cancelled") {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	await(t, all)
}

func TestAServerThatTakesUsAndDropsUsEachTimeIsGivenUp(t *testing.T) {
	t.Parallel()
	drops := slices.Repeat([]llmtest.RealtimeCall{{Serve: func(c *llmtest.RealtimeConn) {
		c.Open()
		c.Drop()
	}}}, 500)
	s, _ := session(llmtest.NewRealtimeServer(t, drops...))
	s.MaxOutage = 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check.Fails(t, s.Run(ctx, s.on), nil, "the connection to the realtime server broke", "trying again did not help")
}
