package realtime_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	server "clank/llm/llmtest/realtime"
)

// replayed are the items that a connection begins with, in short.
func replayed(c *server.Conn, n int) []string {
	var all []string
	for range n {
		e := c.Expect("conversation.item.create")
		content, _ := e.Get("item.content").([]any)
		var text string
		if len(content) > 0 {
			first, _ := content[0].(map[string]any)
			text = server.Event(first).Text("type") + " " + server.Event(first).Text("text")
		}
		all = append(all, strings.Join(strings.Fields(strings.Join([]string{
			e.Text("item.type"), e.Text("item.role"), text, e.Text("item.name"), e.Text("item.arguments"), e.Text("item.output"),
		}, " ")), " "))
	}
	return all
}

func TestAConversationGoesOnOverANewConnection(t *testing.T) {
	t.Parallel()
	again, drop := make(chan []string, 1), make(chan struct{})
	srv := server.NewServer(t,
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			c.Said("item_1", "Look up the ferry.")
			c.Begin("resp_1", "item_2")
			c.Tool("resp_1", "item_3", "call_1", "browse", `{"query":"ferry"}`)
			c.Words("resp_1", "item_2", "I am looking.")
			c.Done("resp_1", "", "completed")
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_2", "item_4")
			c.Sound("resp_2", "item_4", pcm(time.Second))
			c.Words("resp_2", "item_4", strings.Repeat("At ten. ", 10))
			c.Speech("item_5")
			c.Expect("conversation.item.truncate")
			c.Done("resp_2", "", "cancelled")
			<-drop
			c.Error("invalid_request_error", "session_expired", "an hour is over", "")
			c.Gone()
		}},
		server.Call{Serve: func(c *server.Conn) { c.Drop() }},
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			again <- replayed(c, 5)
			if rest := c.Gone(); len(rest) != 0 {
				t.Errorf("more came: %v", rest)
			}
		}},
	)
	s, w := session(srv)
	s.Call = func(context.Context, string, json.RawMessage) string { return "at ten" }
	stop := run(t, s)
	p := await(t, w.speak)
	p.set(500 * time.Millisecond)
	await(t, w.hush)
	await(t, w.used)
	await(t, w.used)
	close(drop)
	want := []string{
		"message user input_text Look up the ferry.",
		"message assistant output_text I am looking.",
		`function_call browse {"query":"ferry"}`,
		"function_call_output at ten",
		"message assistant output_text " + strings.TrimSpace(strings.Repeat("At ten. ", 5)),
	}
	if diff := cmp.Diff(want, await(t, again)); diff != "" {
		t.Error(diff)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatBrokeOffBeforeItWasHeardIsAskedForAgain(t *testing.T) {
	t.Parallel()
	third := make(chan struct{})
	srv := server.NewServer(t,
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_1", "item_1")
			c.Drop()
		}},
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_2", "item_2")
			c.Sound("resp_2", "item_2", pcm(200*time.Millisecond))
			c.Drop()
		}},
		server.Call{Serve: func(c *server.Conn) { // what was heard in part is not begun again
			c.Open()
			c.Expect("conversation.item.create")
			close(third)
			if rest := c.Gone(); len(rest) != 0 {
				t.Errorf("more came: %v", rest)
			}
		}},
	)
	s, w := session(srv)
	s.Tell("What time is it?")
	stop := run(t, s)
	if n := count(t, await(t, w.speak)); n != 10 {
		t.Errorf("got %d packets, want what came", n)
	}
	await(t, third)
	_ = stop()
}

func TestAToolThatRunsOverANewConnectionIsAnsweredThere(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	srv := server.NewServer(t,
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			c.Begin("resp_1", "item_1")
			c.Tool("resp_1", "item_2", "call_1", "browse", `{}`)
			c.Done("resp_1", "", "completed")
			c.Drop()
		}},
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			if got := replayed(c, 1); got[0] != "function_call browse {}" {
				t.Errorf("got %v", got)
			}
			close(finish)
			if got := replayed(c, 1); got[0] != "function_call_output found" {
				t.Errorf("got %v", got)
			}
			c.Expect("response.create")
			c.Begin("resp_2", "item_3")
			c.Done("resp_2", "", "completed")
			c.Gone()
		}},
	)
	s, w := session(srv)
	s.Call = func(ctx context.Context, _ string, _ json.RawMessage) string {
		select {
		case <-finish:
		case <-ctx.Done():
		}
		return "found"
	}
	run(t, s)
	await(t, w.used)
	await(t, w.used)
}

func TestAServerThatFallsSilentIsLeft(t *testing.T) {
	t.Parallel()
	srv := server.NewServer(t,
		server.Call{Serve: func(c *server.Conn) { c.Gone() }}, // no session
		server.Call{Serve: func(c *server.Conn) { // no response
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Gone()
		}},
		server.Call{Serve: func(c *server.Conn) {
			for range 30 {
				c.Raw("garbage")
			}
			c.Gone()
		}},
		server.Call{Serve: func(c *server.Conn) {
			c.Open()
			c.Expect("conversation.item.create")
			c.Expect("response.create")
			c.Begin("resp_1", "item_1")
			c.Done("resp_1", "item_1", "completed")
			c.Gone()
		}},
	)
	s, w := session(srv)
	s.Dial, s.Idle = 1500*time.Millisecond, 1500*time.Millisecond
	s.Tell("Hello?")
	run(t, s)
	await(t, w.used)
}

func TestToolsThatCannotRunSaySo(t *testing.T) {
	t.Parallel()
	outputs, all := make(chan string, 8), make(chan struct{})
	srv := server.NewServer(t, server.Call{Serve: func(c *server.Conn) {
		c.Open()
		for i, arguments := range []string{`{"x":`, `"` + strings.Repeat("x", 24001) + `"`, `{}`} {
			id := string(rune('a' + i))
			c.Begin("resp_"+id, "item_"+id)
			c.Tool("resp_"+id, "call_item_"+id, "call_"+id, "browse", arguments)
			outputs <- c.Expect("conversation.item.create").Text("item.output")
			c.Done("resp_"+id, "", "completed")
			c.Expect("response.create")
		}
		close(all)
		c.Gone()
	}})
	s, _ := session(srv)
	s.CallTimeout = 20 * time.Millisecond
	s.Call = func(ctx context.Context, _ string, _ json.RawMessage) string {
		<-ctx.Done()
		return ""
	}
	run(t, s)
	for _, want := range []string{"are not JSON", "are too long", "took too long"} {
		if got := await(t, outputs); !strings.Contains(got, want) || strings.Contains(got, "cancelled") {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	await(t, all)
}

func TestAServerThatTakesUsAndDropsUsEachTimeIsGivenUp(t *testing.T) {
	t.Parallel()
	drops := slices.Repeat([]server.Call{{Serve: func(c *server.Conn) {
		c.Open()
		c.Drop()
	}}}, 500)
	s, _ := session(server.NewServer(t, drops...))
	s.GiveUp = 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Run(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("Run = %v, want why the conversation cannot go on", err)
	}
}
