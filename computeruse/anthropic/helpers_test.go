package anthropic_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/internal/test/llmtest"
	"clank/llm"
	client "clank/llm/anthropic"
	"clank/llm/transport"
)

// open returns a mind of server, impatient.
func open(t *testing.T, server *llmtest.Server, model string, tools anthropic.Tools) *anthropic.Model {
	t.Helper()
	mind, err := tryOpen(server, model, tools)
	check.Must(t, err)
	return mind
}

func tryOpen(server *llmtest.Server, model string, tools anthropic.Tools) (*anthropic.Model, error) {
	m, err := client.New(client.Options{
		BaseURL: server.BaseURL(), Key: "sk-ant-test-0123456789", Model: model,
		Retry: transport.RetryPolicy{Timeout: 2 * time.Minute, Idle: time.Minute, Backoff: time.Millisecond},
	})
	if err != nil {
		return nil, err
	}
	return anthropic.New(m, tools)
}

// loopTools are the tools that the loop offers, as far as they matter here.
var loopTools = []llm.Tool{
	{Name: "navigate"},
	{Name: "read_text"},
	{Name: "read_page"},
	{Name: "list_tabs"},
	{Name: "open_tab"},
	{Name: "select_tab"},
	{Name: "close_tab"},
	{Name: "hand_over"},
}

var next = computerusetest.Next

func begin(t *testing.T, mind *anthropic.Model, memory []byte) computeruse.Conversation {
	t.Helper()
	return computerusetest.Begin(t, mind, computeruse.ConversationOptions{
		System: "work the screen", Tools: loopTools,
		MaxTokens: 4000, EndUser: "abc", Memory: memory,
	})
}

func task(text string) computeruse.Input {
	return computeruse.Input{Says: []string{text}, Shot: shot(1)}
}

// shot returns a picture of the screen that can be told from others by its width.
func shot(n int) *computeruse.Screenshot {
	return &computeruse.Screenshot{Image: picture(1000+n, 8), Size: image.Pt(1000+n, 8), URL: "http://example.test/"}
}

func picture(w, h int) llm.Image {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		return llm.Image{}
	}
	return llm.Image{MediaType: "image/png", Data: b.Bytes()}
}

// done answers all calls of a turn as done, and shows the screen.
func done(turn computeruse.Turn, n int) computeruse.Input {
	in := computeruse.Input{Shot: shot(n)}
	for _, c := range turn.Calls {
		in.Outcomes = append(in.Outcomes, computeruse.CallResult{CallID: c.ID})
	}
	for _, c := range turn.Tools {
		in.Results = append(in.Results, llm.ToolResult{ID: c.ID, Text: "ok"})
	}
	return in
}

// use returns a reply with these calls, name and arguments in turn.
func use(pairs ...string) llmtest.Reply {
	var r llmtest.Reply
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Calls = append(r.Calls, llmtest.Call{Name: pairs[i], Arguments: pairs[i+1]})
	}
	return r
}

func at(x, y int) *image.Point { return &image.Point{X: x, Y: y} }
