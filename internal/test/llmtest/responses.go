package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"clank/llm"
)

// responsesAPI is POST /v1/responses.
type responsesAPI struct{ openAI }

func (responsesAPI) form() wireForm {
	return wireForm{request: "CreateResponse", event: "ResponseStreamEvent", named: true}
}

func (responsesAPI) failed(_, message string) object {
	return object{"type": "error", "code": "server_error", "message": message, "param": nil, "sequence_number": 0}
}

// whole returns the final Response object of a reply.
func (responsesAPI) whole(req Request, r Reply, n int) object {
	status, details := "completed", any(nil)
	switch r.Finish {
	case "length":
		status, details = "incomplete", object{"reason": "max_output_tokens"}
	case "content_filter":
		status, details = "incomplete", object{"reason": "content_filter"}
	}
	whole := responseObject(req, n, status)
	whole["incomplete_details"] = details
	whole["output"] = responseItems(r, n)
	if r.Usage != nil {
		whole["usage"] = responseUsage(*r.Usage)
	}
	return whole
}

// responseObject returns a Response object without output.
func responseObject(req Request, n int, status string) object {
	return object{
		"id": fmt.Sprintf("resp_%d", n), "object": "response", "created_at": 1700000000, "status": status,
		"error": nil, "incomplete_details": nil, "instructions": orNull(req.System), "model": req.Model,
		"tools": []any{}, "output": []any{}, "parallel_tool_calls": true, "metadata": object{},
		"tool_choice": "auto", "temperature": 1, "top_p": 1,
	}
}

func responseItems(r Reply, n int) []object {
	items := []object{}
	id := func(kind string) string { return fmt.Sprintf("%s_%d_%d", kind, n, len(items)) }
	if r.Reasoning != nil {
		summary := []object{}
		if r.Reasoning.Summary != "" {
			summary = append(summary, object{"type": "summary_text", "text": r.Reasoning.Summary})
		}
		items = append(items, object{
			"id": id("rs"), "type": "reasoning", "summary": summary, "encrypted_content": orNull(r.Reasoning.Encrypted),
		})
	}
	var content []object
	if r.Text != "" {
		content = append(content, object{"type": "output_text", "text": r.Text, "annotations": []any{}, "logprobs": []any{}})
	}
	if r.Refusal != "" {
		content = append(content, object{"type": "refusal", "refusal": r.Refusal})
	}
	if content != nil {
		items = append(items, object{
			"id": id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": content,
			"phase": messagePhase(r),
		})
	}
	for i, c := range r.Screen {
		items = append(items, screenItem(c, id("cu"), n, i))
	}
	for i, c := range r.Calls {
		items = append(items, object{
			"id": id("fc"), "type": "function_call", "status": "completed",
			"call_id": callID(c, n, i), "name": c.Name, "arguments": c.Arguments,
		})
	}
	return items
}

func messagePhase(r Reply) string {
	if len(r.Calls)+len(r.Screen) > 0 {
		return "commentary"
	}
	return "final_answer"
}

func responseUsage(u llm.Usage) object {
	return object{
		"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
		"input_tokens_details":  object{"cached_tokens": u.CachedTokens, "cache_write_tokens": u.CacheWriteTokens},
		"output_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
	}
}

func (responsesAPI) decode(_ *http.Request, body []byte, into *Request) error {
	var in struct {
		Model            string
		Stream           bool
		Instructions     string
		MaxOutputTokens  int    `json:"max_output_tokens"`
		SafetyIdentifier string `json:"safety_identifier"`
		Input            json.RawMessage
		Tools            []wireTool
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fmt.Errorf("decode responses request: %w", err)
	}
	into.Model, into.Stream, into.System = in.Model, in.Stream, in.Instructions
	into.MaxTokens, into.EndUser = in.MaxOutputTokens, in.SafetyIdentifier
	for _, t := range in.Tools {
		into.Tools = append(into.Tools, t.tool())
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		appendParts(into, llm.RoleUser, llm.Part{Text: text})
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return fmt.Errorf("decode input: %w", err)
	}
	for _, raw := range items {
		if err := decodeItem(raw, into); err != nil {
			return err
		}
	}
	return nil
}

func decodeItem(raw json.RawMessage, into *Request) error {
	var it struct {
		Type, Role, Name, Arguments string
		CallID                      string `json:"call_id"`
		Content, Output             json.RawMessage
	}
	if err := json.Unmarshal(raw, &it); err != nil {
		return fmt.Errorf("decode input item: %w", err)
	}
	switch it.Type {
	case "reasoning":
		appendParts(into, llm.RoleAssistant, llm.Part{Opaque: &llm.Opaque{Owner: "wire", Data: raw}})
		return nil
	case "function_call":
		call := llm.ToolCall{ID: it.CallID, Name: it.Name, Input: json.RawMessage(it.Arguments)}
		appendParts(into, llm.RoleAssistant, llm.Part{Call: &call})
		return nil
	case "computer_call":
		call := llm.ToolCall{ID: it.CallID, Name: "computer", Input: raw}
		appendParts(into, llm.RoleAssistant, llm.Part{Call: &call})
		return nil
	case "computer_call_output":
		return decodeScreenOutput(it.CallID, it.Output, into)
	case "function_call_output":
		parts, err := decodeContent(it.Output)
		if err != nil {
			return err
		}
		result := llm.ToolResult{ID: it.CallID, Text: llm.Message{Parts: parts}.Text()}
		for _, p := range parts {
			if p.Image != nil {
				result.Images = append(result.Images, *p.Image)
			}
		}
		appendParts(into, llm.RoleUser, llm.Part{Result: &result})
		return nil
	}
	parts, err := decodeContent(it.Content)
	if err != nil {
		return err
	}
	role := llm.RoleUser
	if it.Role == "assistant" {
		role = llm.RoleAssistant
	}
	appendParts(into, role, parts...)
	return nil
}
