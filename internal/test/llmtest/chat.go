package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"clank/llm"
)

// chatAPI is POST /v1/chat/completions.
type chatAPI struct{ openAI }

func (chatAPI) form() wireForm {
	return wireForm{
		request: "CreateChatCompletionRequest", event: "CreateChatCompletionStreamResponse", done: "data: [DONE]\n\n",
	}
}

func (chatAPI) failed(_, message string) object {
	return object{"error": object{"message": message, "type": "server_error", "code": nil, "param": nil}}
}

func (chatAPI) events(req Request, r Reply, n int) []object {
	chunk := func(choices []object) object {
		return object{
			"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": 1700000000,
			"model": req.Model, "choices": choices,
		}
	}
	var all []object
	add := func(delta object, finish any) {
		all = append(all, chunk([]object{{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}))
	}
	add(object{"role": "assistant", "content": ""}, nil)
	if r.Reasoning != nil {
		for _, piece := range splitText(r.Reasoning.Summary) {
			add(object{"reasoning_content": piece}, nil)
		}
	}
	for _, piece := range splitText(r.Text) {
		add(object{"content": piece}, nil)
	}
	for _, piece := range splitText(r.Refusal) {
		add(object{"refusal": piece}, nil)
	}
	for i, c := range r.Calls {
		add(object{"tool_calls": []object{{
			"index": i, "id": callID(c, n, i), "type": "function",
			"function": object{"name": c.Name, "arguments": ""},
		}}}, nil)
		for _, piece := range splitText(c.Arguments) {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	add(object{}, chatFinish(r))
	if r.Usage != nil {
		last := chunk([]object{})
		last["usage"] = chatUsage(*r.Usage)
		all = append(all, last)
	}
	return all
}

func chatFinish(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u llm.Usage) object {
	return object{
		"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
		"prompt_tokens_details":     object{"cached_tokens": u.CachedTokens, "cache_write_tokens": u.CacheWriteTokens},
		"completion_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
	}
}

func (chatAPI) decode(_ *http.Request, body []byte, into *Request) error {
	var in struct {
		Model               string
		Stream              bool
		MaxTokens           int    `json:"max_tokens"`
		MaxCompletionTokens int    `json:"max_completion_tokens"`
		User                string `json:"user"`
		SafetyIdentifier    string `json:"safety_identifier"`
		Messages            []chatMessage
		Tools               []struct{ Function wireTool }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("decode chat request: %w", err)
	}
	into.Model, into.Stream = in.Model, in.Stream
	into.MaxTokens, into.EndUser = max(in.MaxTokens, in.MaxCompletionTokens), in.User+in.SafetyIdentifier
	for _, t := range in.Tools {
		into.Tools = append(into.Tools, t.Function.tool())
	}
	for _, m := range in.Messages {
		if err := m.decode(into); err != nil {
			return err
		}
	}
	return nil
}

type chatMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func (m chatMessage) decode(into *Request) error {
	parts, err := decodeContent(m.Content)
	if err != nil {
		return err
	}
	text := llm.Message{Parts: parts}.Text()
	switch m.Role {
	case "system", "developer":
		into.System = text
	case "tool":
		appendParts(into, llm.RoleUser, llm.Part{Result: &llm.ToolResult{ID: m.ToolCallID, Text: text}})
	case "assistant":
		for _, c := range m.ToolCalls {
			parts = append(parts, llm.Part{Call: &llm.ToolCall{
				ID: c.ID, Name: c.Function.Name,
				Input: json.RawMessage(c.Function.Arguments),
			}})
		}
		appendParts(into, llm.RoleAssistant, parts...)
	default:
		appendParts(into, llm.RoleUser, parts...)
	}
	return nil
}
