package llmtest_test

import (
	"errors"
	"net/http"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"

	client "github.com/sashabaranov/go-openai"
)

// Without this, requests that no vendor takes could pass unnoticed everywhere else.
func TestRequestsAgainstTheSchemaAreRefusedAndReported(t *testing.T) {
	s, err := llmtest.Open(llmtest.Say("never"))
	check.Must(t, err)
	defer s.Close()
	if llmtest.CheckSchema("CreateChatCompletionRequest", []byte("{}")) == nil {
		t.Skip("shared/ with the vendors' schemas is in no folder above this one")
	}
	config := client.DefaultConfig("key")
	config.BaseURL = s.BaseURL()
	_, err = client.NewClientWithConfig(config).CreateChatCompletion(t.Context(), client.ChatCompletionRequest{
		Model: "m", Messages: []client.ChatCompletionMessage{{Role: "tool", ToolCallID: "c"}}, // no content
	})
	var refused *client.APIError
	if !errors.As(err, &refused) || refused.HTTPStatusCode != http.StatusBadRequest || len(s.Problems()) != 1 {
		t.Errorf("err = %v, problems %v; want a refusal that is reported", err, s.Problems())
	}
}
