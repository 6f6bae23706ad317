package llmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"clank/llm"
)

// NewAnthropicServer starts a server for the duration of a test. A client is configured
// with its URL.
//
// In a script, calls of the vendor's own tools are named "computer.left_click"
// or "browser.navigate". [Reasoning] is a block of thinking, Encrypted
// its signature; without a summary it is a redacted one. Finish may be any
// stop_reason, or one of llmtest's own words.
//
// A request may hold only what the API has, and of that what clients of ours
// send; built with the tag peers, also only what the vendor's client library
// knows. Roles alternate; calls are answered at once, in
// order, in the name of their family; thinking comes back as it was sent;
// pictures are within the model's limits; there are at most four marks for the
// cache. Otherwise the request is refused with status 400 and the test fails.
// What the server sends is checked in the same way.
func NewAnthropicServer(tb testing.TB, script ...Turn) *Server {
	tb.Helper()
	return NewDialect(tb, anthropicDialect(), script...)
}

// OpenAnthropic opens a server as [NewAnthropicServer] does, but without a test. The caller closes the server.
func OpenAnthropic(script ...Turn) *Server { return OpenDialect(anthropicDialect(), script...) }

func anthropicDialect() Dialect {
	said := &anthropicMemory{thoughts: map[string]string{}, within: map[string][]string{}}
	return Dialect{
		Path: "/v1/messages", Named: true,
		Decode: func(_ *http.Request, body []byte, into *Request) error { return decodeAnthropic(body, into, said) },
		Whole: func(req Request, reply Reply, n int) map[string]any {
			return anthropicMessage(req, reply, said.blocks(reply, n), n)
		},
		Events: func(req Request, reply Reply, n int) []map[string]any {
			return anthropicEvents(req, reply, said.blocks(reply, n), n)
		},
		Failed: func(_, message string) map[string]any { return anthropicError("overloaded_error", message) },
		Error: func(status int, code, message string) map[string]any {
			return anthropicError(anthropicErrorType(status, code), message)
		},
		Check: checkAnthropicAnswer,
	}
}

// anthropicMemory is what the server said, to know it again.
type anthropicMemory struct {
	mu       sync.Mutex
	thoughts map[string]string   // block by its signature or data
	within   map[string][]string // signatures of a reply by the id of each of its calls
	paused   bool                // the newest reply was to be continued
}

func (m *anthropicMemory) hasPaused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused
}

// blocks returns the content of a reply.
func (m *anthropicMemory) blocks(r Reply, n int) []map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = anthropicStopReason(r) == "pause_turn"
	var blocks []map[string]any
	var signatures []string
	if t := r.Reasoning; t != nil {
		block, key := map[string]any{"type": "thinking", "thinking": t.Summary, "signature": t.Encrypted}, t.Encrypted
		if t.Summary == "" {
			block = map[string]any{"type": "redacted_thinking", "data": t.Encrypted}
		}
		m.thoughts[key], signatures = encodeString(block), append(signatures, key)
		blocks = append(blocks, block)
	}
	if r.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": r.Text})
	}
	for i, c := range r.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%d_%d", n, i)
		}
		m.within[id] = signatures
		block := map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": rawArguments(c.Arguments)}
		if toolset, member, ok := strings.Cut(c.Name, "."); ok {
			block["name"], block["toolset_name"] = member, toolset
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// rawArguments are sent as they are, be they JSON or not.
type rawArguments string

func (a rawArguments) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte("{}"), nil
	}
	if !json.Valid([]byte(a)) {
		return json.Marshal(string(a)) //nolint:wrapcheck // a string always marshals
	}
	return []byte(a), nil
}

// anthropicMessage returns an answer in one piece.
func anthropicMessage(req Request, r Reply, blocks []map[string]any, n int) map[string]any {
	if blocks == nil {
		blocks = []map[string]any{}
	}
	return map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": req.Model,
		"content": blocks, "stop_reason": anthropicStopReason(r), "stop_sequence": nil, "usage": anthropicUsage(r.Usage),
	}
}

// anthropicEvents returns the same as a stream, with a ping as the vendor sends it.
func anthropicEvents(req Request, r Reply, blocks []map[string]any, n int) []map[string]any {
	start := anthropicMessage(req, r, nil, n)
	start["stop_reason"] = nil
	all := []map[string]any{{"type": "message_start", "message": start}, {"type": "ping"}}
	for i, b := range blocks {
		head, deltas := splitBlock(b)
		all = append(all, map[string]any{"type": "content_block_start", "index": i, "content_block": head})
		for _, d := range deltas {
			all = append(all, map[string]any{"type": "content_block_delta", "index": i, "delta": d})
		}
		all = append(all, map[string]any{"type": "content_block_stop", "index": i})
	}
	delta := map[string]any{"stop_reason": anthropicStopReason(r), "stop_sequence": nil}
	if r.Refusal != "" {
		delta["stop_details"] = map[string]any{"type": "refusal", "category": "general_harms", "explanation": r.Refusal}
	}
	return append(all,
		map[string]any{"type": "message_delta", "delta": delta, "usage": anthropicUsage(r.Usage)},
		map[string]any{"type": "message_stop"})
}

// splitBlock cuts a block into how it begins and what follows.
func splitBlock(b map[string]any) (head map[string]any, deltas []map[string]any) {
	head = maps.Clone(b)
	cut := func(field, delta, key string) {
		text, _ := b[field].(string)
		head[field] = ""
		for _, piece := range strings.SplitAfter(text, " ") {
			if piece != "" {
				deltas = append(deltas, map[string]any{"type": delta, key: piece})
			}
		}
	}
	switch b["type"] {
	case "text":
		cut("text", "text_delta", "text")
	case "thinking":
		cut("thinking", "thinking_delta", "thinking")
		cut("signature", "signature_delta", "signature")
	case "tool_use":
		input, _ := b["input"].(rawArguments)
		head["input"] = map[string]any{}
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": ""})
		half := len(input) / 2
		for _, piece := range []rawArguments{input[:half], input[half:]} {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(piece)})
		}
	}
	return head, deltas
}

func anthropicStopReason(r Reply) string {
	switch {
	case r.Finish == "length":
		return "max_tokens"
	case r.Refusal != "", r.Finish == "content_filter":
		return "refusal"
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func anthropicUsage(u *llm.Usage) map[string]any {
	if u == nil {
		u = &llm.Usage{}
	}
	return map[string]any{
		"input_tokens":            u.InputTokens - u.CachedTokens - u.CacheWriteTokens,
		"cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
		"output_tokens": u.OutputTokens, "output_tokens_details": map[string]any{"thinking_tokens": u.ReasoningTokens},
	}
}

func anthropicError(kind, message string) map[string]any {
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_scripted"}
}

// anthropicErrorType returns the vendor's word for a status, unless the script has one.
func anthropicErrorType(status int, code string) string {
	if code != "" && code != "invalid_request" {
		return code
	}
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// encodeString returns v as JSON. Its values are made here and always marshal.
func encodeString(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(data)
}
