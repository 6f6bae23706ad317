package anthropic_test

import (
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	client "clank/llm/anthropic"
)

// waits is an answer that waits for a second.
const waits = `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"wait","toolset_name":"computer","input":{"duration":1}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

event: message_stop
data: {"type":"message_stop"}

`

// BenchmarkNext measures a step of a conversation whose images are as large as those of a busy screen, with a
// model that answers at once.
func BenchmarkNext(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, waits)
	}))
	defer server.Close()
	model, err := client.New(client.Options{BaseURL: server.URL, Model: "claude-opus-5-5"})
	if err != nil {
		b.Fatal(err)
	}
	mind, err := anthropic.New(model, anthropic.ToolsAuto)
	if err != nil {
		b.Fatal(err)
	}
	talk, err := mind.Begin(computeruse.ConversationOptions{Tools: loopTools})
	if err != nil {
		b.Fatal(err)
	}
	screen := picture(1280, 800)
	screen.Data = make([]byte, 300_000)
	in := computeruse.Input{Says: []string{"go"}, Shot: &computeruse.Screenshot{Image: screen, Size: image.Pt(1280, 800)}}
	for b.Loop() {
		turn, err := talk.Next(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		in.Says, in.Outcomes = nil, []computeruse.CallResult{{CallID: turn.Calls[0].ID}}
	}
}
