package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"clank/llm"
)

// NewAnthropicServer starts a server for the duration of a test. A client is configured with its URL.
//
// In a script, calls of the vendor's own tools are named "computer.left_click" or "browser.navigate". [Reasoning] is
// a block of thinking, Encrypted its signature; without a summary it is a redacted one. Finish may be any
// stop_reason, or one of llmtest's own words.
//
// A request may hold only what clients of ours send; built with the tag peers, also only what the vendor's client
// library knows. Roles alternate; calls are answered at once, in order, in the name of their family; thinking comes
// back as it was sent; pictures are within the model's limits; there are at most four marks for the cache. Otherwise
// the request is refused with status 400 and the test fails.
func NewAnthropicServer(tb testing.TB, script ...Turn) *Server {
	tb.Helper()
	return closeWithTest(tb, OpenAnthropic(script...))
}

// OpenAnthropic is like [NewAnthropicServer] without a test. The caller closes the server.
func OpenAnthropic(script ...Turn) *Server {
	api := &anthropicAPI{thoughts: map[string]string{}, within: map[string][]string{}}
	return openServer("/v1", map[string]wireFormat{"POST /v1/messages": api}, script)
}

// anthropicAPI is the Messages API. It remembers its replies to verify what comes back.
type anthropicAPI struct {
	mu       sync.Mutex
	thoughts map[string]string   // block by its signature or data
	within   map[string][]string // signatures of a reply by the id of each of its calls
	paused   bool                // the newest reply was to be continued
}

func (*anthropicAPI) form() wireForm {
	return wireForm{request: "request", event: "event", named: true}
}

func (m *anthropicAPI) decode(_ *http.Request, body []byte, into *Request) error {
	return decodeAnthropic(body, into, m)
}

func (m *anthropicAPI) events(req Request, reply Reply, n int) []object {
	return anthropicEvents(req, reply, m.blocks(reply, n), n)
}

func (*anthropicAPI) failed(_, message string) object {
	return anthropicError("overloaded_error", message)
}

func (*anthropicAPI) error(status int, code, message string) object {
	return anthropicError(anthropicErrorType(status, code), message)
}

// check validates responses with the vendor's client library; requests are checked when they are decoded.
func (*anthropicAPI) check(what string, _ Request, data []byte) error {
	if what == "request" {
		return nil
	}
	return anthropicSDKReads(data)
}

func (m *anthropicAPI) hasPaused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused
}

// blocks returns the content of a reply.
func (m *anthropicAPI) blocks(r Reply, n int) []object {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = anthropicStopReason(r) == "pause_turn"
	var blocks []object
	var signatures []string
	if t := r.Reasoning; t != nil {
		block, key := object{"type": "thinking", "thinking": t.Summary, "signature": t.Encrypted}, t.Encrypted
		if t.Summary == "" {
			block = object{"type": "redacted_thinking", "data": t.Encrypted}
		}
		m.thoughts[key], signatures = string(mustEncode(block)), append(signatures, key)
		blocks = append(blocks, block)
	}
	if r.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": r.Text})
	}
	for i, c := range r.Calls {
		id := cmp.Or(c.ID, fmt.Sprintf("toolu_%d_%d", n, i))
		m.within[id] = signatures
		block := object{"type": "tool_use", "id": id, "name": c.Name, "input": rawArguments(c.Arguments)}
		if toolset, member, ok := strings.Cut(c.Name, "."); ok {
			block["name"], block["toolset_name"] = member, toolset
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// rawArguments are sent unchanged, whether they are valid JSON or not.
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

// anthropicEvents returns a reply as a stream, with a ping as the vendor sends it.
func anthropicEvents(req Request, r Reply, blocks []object, n int) []object {
	start := object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": req.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(r.Usage),
	}
	all := []object{{"type": "message_start", "message": start}, {"type": "ping"}}
	for i, b := range blocks {
		head, deltas := splitBlock(b)
		all = append(all, object{"type": "content_block_start", "index": i, "content_block": head})
		for _, d := range deltas {
			all = append(all, object{"type": "content_block_delta", "index": i, "delta": d})
		}
		all = append(all, object{"type": "content_block_stop", "index": i})
	}
	delta := object{"stop_reason": anthropicStopReason(r), "stop_sequence": nil}
	if r.Refusal != "" {
		delta["stop_details"] = object{"type": "refusal", "category": "general_harms", "explanation": r.Refusal}
	}
	return append(all,
		object{"type": "message_delta", "delta": delta, "usage": anthropicUsage(r.Usage)},
		object{"type": "message_stop"})
}

// splitBlock splits a block into its start and its deltas.
func splitBlock(b object) (head object, deltas []object) {
	head = maps.Clone(b)
	cut := func(field, delta, key string) {
		text, _ := b[field].(string)
		head[field] = ""
		for _, piece := range strings.SplitAfter(text, " ") {
			if piece != "" {
				deltas = append(deltas, object{"type": delta, key: piece})
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
		head["input"] = object{}
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": ""})
		half := len(input) / 2
		for _, piece := range []rawArguments{input[:half], input[half:]} {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": string(piece)})
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

func anthropicUsage(u *llm.Usage) object {
	if u == nil {
		u = &llm.Usage{}
	}
	return object{
		"input_tokens":            u.InputTokens - u.CachedTokens - u.CacheWriteTokens,
		"cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
		"output_tokens": u.OutputTokens, "output_tokens_details": object{"thinking_tokens": u.ReasoningTokens},
	}
}

func anthropicError(kind, message string) object {
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_scripted"}
}

// anthropicErrorType returns the vendor's error type for a status, unless the script sets one.
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
