package llmtest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
	client "github.com/sashabaranov/go-openai"
)

// The client here is the library itself, not ours: the server must satisfy
// somebody else's idea of the API.
func library(s *llmtest.Server) *client.Client {
	config := client.DefaultConfig("key")
	config.BaseURL = s.BaseURL()
	return client.NewClientWithConfig(config)
}

func chatRequest(text string) client.ChatCompletionRequest {
	return client.ChatCompletionRequest{
		Model: "m", Messages: []client.ChatCompletionMessage{{Role: "user", Content: text}},
	}
}

// full is a reply with everything in it.
var full = llmtest.Reply{
	Reasoning: &llmtest.Reasoning{Summary: "hm hm", Encrypted: "gAAA"},
	Text:      "a b c",
	Calls:     []llmtest.Call{{ID: "c1", Name: "look", Arguments: `{"at": 1}`}, {Name: "read", Arguments: "{}"}},
	Usage:     &llm.Usage{InputTokens: 7, CachedTokens: 2, OutputTokens: 5, ReasoningTokens: 1},
}

func TestChatInOnePieceAndStreamedSayTheSame(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Answer(full), llmtest.Answer(full))
	whole, err := library(s).CreateChatCompletion(t.Context(), chatRequest("hi"))
	if err != nil {
		t.Fatal(err)
	}
	message := whole.Choices[0].Message
	if message.Content != "a b c" || message.ReasoningContent != "hm hm" || len(message.ToolCalls) != 2 || whole.Usage.PromptTokensDetails.CachedTokens != 2 {
		t.Errorf("whole answer is %+v", whole)
	}
	stream, err := library(s).CreateChatCompletionStream(t.Context(), chatRequest("hi"))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text, arguments strings.Builder
	finish, usage := client.FinishReason(""), 0
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Usage != nil {
			usage = chunk.Usage.TotalTokens
		}
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
			finish = c.FinishReason
			for _, call := range c.Delta.ToolCalls {
				arguments.WriteString(call.Function.Arguments)
			}
		}
	}
	if text.String() != "a b c" || arguments.String() != `{"at": 1}{}` || finish != "tool_calls" || usage != 12 {
		t.Errorf("streamed %q, %q, %q, %d tokens", text.String(), arguments.String(), finish, usage)
	}
}

func TestResponsesInOnePieceAndStreamedSayTheSame(t *testing.T) {
	s := llmtest.NewServer(t, llmtest.Answer(full), llmtest.Answer(full), llmtest.Answer(llmtest.Reply{Refusal: "no no"}))
	req := client.CreateResponseRequest{Model: "m", Input: "hi"}
	whole, err := library(s).CreateResponse(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if whole.GetOutputText() != "a b c" || len(whole.Output) != 4 || whole.Status != client.ResponseStatusCompleted {
		t.Errorf("whole answer is %+v", whole)
	}
	for _, want := range []string{"a b c", "no no"} {
		stream, err := library(s).CreateResponseStream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		last := client.ResponseStreamEventType("")
		for n := 0; ; n++ {
			e, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.SequenceNumber != n {
				t.Errorf("event %d has number %d", n, e.SequenceNumber)
			}
			if e.Type == client.ResponseStreamEventOutputTextDelta || e.Type == client.ResponseStreamEventRefusalDelta {
				got.WriteString(e.Delta)
			}
			last = e.Type
		}
		if got.String() != want || last != client.ResponseStreamEventCompleted {
			t.Errorf("streamed %q, ending with %s; want %q, response.completed", got.String(), last, want)
		}
		_ = stream.Close()
	}
}

func TestATurnSeesTheRequestInTheCommonVocabulary(t *testing.T) {
	var got llmtest.Request
	s := llmtest.NewServer(t, func(r llmtest.Request) llmtest.Reply {
		got = r
		return llmtest.Reply{Text: "clicked " + r.LastText()}
	})
	req := chatRequest("click")
	req.Messages = append(req.Messages,
		client.ChatCompletionMessage{Role: "assistant", ToolCalls: []client.ToolCall{{ID: "c", Type: "function", Function: client.FunctionCall{Name: "look", Arguments: "{}"}}}},
		client.ChatCompletionMessage{Role: "tool", ToolCallID: "c", Content: "ref e7"},
	)
	answer, err := library(s).CreateChatCompletion(t.Context(), req)
	if err != nil || answer.Choices[0].Message.Content != "clicked ref e7" {
		t.Fatalf("got %+v, %v", answer, err)
	}
	want := []llm.Message{
		llm.UserText("click"),
		{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &llm.ToolCall{ID: "c", Name: "look", Input: json.RawMessage("{}")}}}},
		{Role: llm.RoleUser, Parts: []llm.Part{{Result: &llm.ToolResult{ID: "c", Text: "ref e7"}}}},
	}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got.Model != "m" || got.Stream || got.Arrived.IsZero() || got.Received.Before(got.Arrived) {
		t.Errorf("request %+v", got)
	}
}

func TestRequestsAgainstTheSchemaAreRefusedAndReported(t *testing.T) {
	s, err := llmtest.Open(llmtest.Say("never"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bad := chatRequest("hi")
	bad.Messages = append(bad.Messages, client.ChatCompletionMessage{Role: "tool", ToolCallID: "c"}) // no content
	_, err = library(s).CreateChatCompletion(t.Context(), bad)
	if !llmtest.Validates(s) {
		t.Skip("the schema is not at hand")
	}
	var refused *client.APIError
	if !errors.As(err, &refused) || refused.HTTPStatusCode != http.StatusBadRequest || len(s.Problems()) != 1 {
		t.Errorf("err = %v, problems %v; want a refusal that is reported", err, s.Problems())
	}
}

func TestBothAPIsReadPicturesAndResultsAlike(t *testing.T) {
	s := llmtest.NewServer(t)
	s.SetFallback(llmtest.Say("ok"))
	bodies := map[string]string{
		"/responses": `{"model":"m","instructions":"sys","input":[
			{"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AQI="}]}]}`,
		"/chat/completions": `{"model":"m","messages":[{"role":"system","content":"sys"},
			{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQI="}}]}]}`,
	}
	want := []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "see"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte{1, 2}}}}}}
	for path, body := range bodies {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		all := s.Requests()
		got := all[len(all)-1]
		if diff := cmp.Diff(want, got.Messages); diff != "" || got.System != "sys" || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, system %q, messages (-want +got):\n%s", path, resp.StatusCode, got.System, diff)
		}
	}
}
