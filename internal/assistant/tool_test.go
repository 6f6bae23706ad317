package assistant_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/llm"
	"clank/sessions"
)

// calls returns a reply that calls the named tools in order.
func calls(names ...string) func(llm.Request) (llm.Reply, error) {
	return func(llm.Request) (llm.Reply, error) {
		msg := llm.Message{Role: llm.RoleAssistant}
		for i, name := range names {
			call := &llm.ToolCall{ID: string(rune('a' + i)), Name: name, Input: json.RawMessage(`{"n":1}`)}
			msg.Parts = append(msg.Parts, llm.Part{Call: call})
		}
		return llm.Reply{Message: msg, Stop: llm.StopTools, Usage: llm.Usage{Calls: 1}}, nil
	}
}

// withTool gives a brain a tool of that name.
func withTool(b *assistant.Assistant, name string, call func(ctx context.Context, o sessions.Origin, in json.RawMessage) (string, []llm.Image, error)) *assistant.Assistant {
	b.Tools = func(context.Context, sessions.Origin) []sessions.Tool {
		return []sessions.Tool{{Tool: llm.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, Call: call}}
	}
	return b
}

func TestFurtherToolsAnswerTheModelOnBehalfOfThePerson(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser"), says("done")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser", func(_ context.Context, o sessions.Origin, in json.RawMessage) (string, []llm.Image, error) {
		return o.UserName + " " + string(in), []llm.Image{{MediaType: "image/png", Data: []byte("x")}}, nil
	})
	if got := reply(t, b, turn("look")).Text; got != "done" {
		t.Errorf("answer = %q", got)
	}
	if got := result(t, m.asked[1], "a"); got.Text != `ada {"n":1}` || len(got.Images) != 1 || got.IsError {
		t.Errorf("result = %+v", got)
	}
	if n := len(m.asked[0].Tools); n != 2 {
		t.Errorf("%d tools offered, want the browse and this one", n)
	}
}

func TestFurtherToolsGoOnBeyondTheRoundsOfBrowses(t *testing.T) {
	m := &scripted{caps: seeing}
	for range 10 {
		m.replies = append(m.replies, calls("browser", "browser"))
	}
	m.replies = append(m.replies, says("at last"))
	n := 0
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser", func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
		n++
		return "ok", nil, nil
	})
	if got := reply(t, b, turn("look")).Text; got != "at last" || n != 20 {
		t.Errorf("answer = %q after %d calls, want 20", got, n)
	}
}

func TestAFailedCallOfAToolIsToldAndAnUnknownOneNamesThoseThatAre(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser", "shell"), says("sorry")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser", func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
		return "", nil, errors.New("tab not found")
	})
	reply(t, b, turn("look"))
	if got := result(t, m.asked[1], "a"); got.Text != "tab not found" || !got.IsError {
		t.Errorf("failed call: %+v", got)
	}
	if got := result(t, m.asked[1], "b"); !got.IsError || !strings.Contains(got.Text, "browser_browse, browser") {
		t.Errorf("unknown tool: %+v", got)
	}
}

func TestAStopReachesATool(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	cause := &cancel.Cause{Reason: cancel.Stopped, By: "ada"}
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){calls("browser")}}
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "browser", func(ctx context.Context, _ sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
		stop(cause)
		<-ctx.Done()
		return "", nil, context.Cause(ctx)
	})
	if _, err := b.Reply(ctx, turn("look"), nil); !errors.Is(err, cause) {
		t.Errorf("err = %v, want the stop", err)
	}
}

func TestErrandsAreUsedWithoutFurtherRounds(t *testing.T) {
	m := &scripted{caps: seeing}
	for range 10 {
		m.replies = append(m.replies, calls("join_voice_channel"))
	}
	n := 0
	b := withTool(newBrain(m, answering(sessions.TaskRecord{})), "join_voice_channel", func(context.Context, sessions.Origin, json.RawMessage) (string, []llm.Image, error) {
		n++
		return "joined", nil, nil
	})
	b.Tools, b.SingleCallTools = nil, b.Tools
	reply(t, b, turn("come in"))
	if got := result(t, m.asked[1], "a"); got.Text != "joined" || got.IsError {
		t.Errorf("result = %+v", got)
	}
	if n < 1 || len(m.asked) > 4 {
		t.Errorf("the errand was done %d times, the model asked %d times", n, len(m.asked))
	}
}
