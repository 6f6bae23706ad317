package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"clank/llm"
	"clank/llm/transport"
)

// messageDecoder puts an answer together from the data of its events, as the Messages API streams them. Events and
// blocks of types that are not known are kept or passed over, never an error.
type messageDecoder struct {
	blocks   []*blockBuilder
	stop     string
	why      string
	usage    wireUsage
	complete bool
}

func newDecoder() *messageDecoder { return &messageDecoder{} }

type wireEvent struct {
	Type         string          `json:"type"`
	Index        *int            `json:"index"`
	ContentBlock json.RawMessage `json:"content_block"`
	Message      struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
	Delta struct {
		blockDelta
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
}

// wireUsage is cumulative: what a later event tells takes the place of what an earlier one did.
type wireUsage struct {
	Input      int `json:"input_tokens"` // neither read from a cache nor written to one
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
	Details    struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *wireUsage) take(raw json.RawMessage) {
	if len(raw) > 0 {
		before := *u
		if json.Unmarshal(raw, u) != nil {
			*u = before // a count that is no number is not worth an answer
		}
	}
}

// maxCount keeps sums of counts that make no sense from overflowing.
const maxCount = 1 << 40

func (u wireUsage) usage() llm.Usage {
	at := func(n int) int { return min(max(n, 0), maxCount) }
	return llm.Usage{
		InputTokens:  at(u.Input) + at(u.CacheWrite) + at(u.CacheRead),
		CachedTokens: at(u.CacheRead), CacheWriteTokens: at(u.CacheWrite),
		OutputTokens: at(u.Output), ReasoningTokens: min(at(u.Details.Thinking), at(u.Output)),
	}
}

func (d *messageDecoder) event(data []byte, emit func(llm.Delta)) error {
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("read event: %w", err)}
	}
	if e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return &streamError{reported: transport.ParseServerError(data), early: len(d.blocks) == 0}
	}
	switch e.Type {
	case "message_start":
		d.usage.take(e.Message.Usage)
	case "content_block_start":
		return d.open(e, emit)
	case "content_block_delta":
		b := d.at(e.Index)
		if b == nil {
			return &transport.MalformedError{Err: errors.New("a piece of a block that was not begun")}
		}
		b.add(e.Delta.blockDelta, emit)
	case "message_delta":
		d.usage.take(e.Usage)
		d.stop = cmp.Or(e.Delta.StopReason, d.stop)
		d.why = cmp.Or(transport.OneLine(e.Delta.StopDetails.Explanation), d.why)
	case "message_stop":
		d.complete = true
	}
	return nil
}

// open begins a block. They come one after the other.
func (d *messageDecoder) open(e wireEvent, emit func(llm.Delta)) error {
	if e.Index == nil || *e.Index != len(d.blocks) {
		return &transport.MalformedError{Err: errors.New("a block out of order")}
	}
	b, err := newBlockBuilder(e.ContentBlock)
	if err != nil {
		return err
	}
	d.blocks = append(d.blocks, b)
	emit(llm.Delta{Text: b.head.Text, Reasoning: b.head.Thinking})
	return nil
}

func (d *messageDecoder) at(index *int) *blockBuilder {
	if index == nil || *index < 0 || *index >= len(d.blocks) {
		return nil
	}
	return d.blocks[*index]
}

func (d *messageDecoder) answer() partialResponse {
	got := partialResponse{paused: d.stop == "pause_turn"}
	for _, b := range d.blocks {
		if block, ok := b.block(); ok {
			got.Blocks = append(got.Blocks, block)
		}
	}
	got.Usage, got.Why = d.usage.usage(), d.why
	got.Stop = stopReason(d.stop)
	return got
}

func stopReason(s string) llm.StopReason {
	switch s {
	case "end_turn", "stop_sequence", "pause_turn":
		return llm.StopEnd
	case "tool_use":
		return llm.StopTools
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefused
	}
	return llm.StopUnknown
}

// blockDelta is a piece of a block.
type blockDelta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
}

// blockHead is what we read of a block as it begins.
type blockHead struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Toolset   string          `json:"toolset_name"`
	Input     json.RawMessage `json:"input"`
}

// blockBuilder puts one block together.
type blockBuilder struct {
	raw       json.RawMessage // as it began
	head      blockHead
	text      bytes.Buffer
	thinking  bytes.Buffer
	signature bytes.Buffer
	input     bytes.Buffer
}

func newBlockBuilder(raw json.RawMessage) (*blockBuilder, error) {
	b := &blockBuilder{raw: bytes.Clone(raw)}
	if err := json.Unmarshal(raw, &b.head); err != nil {
		return nil, &transport.MalformedError{Err: fmt.Errorf("read block: %w", err)}
	}
	if b.head.Type == "" {
		return nil, &transport.MalformedError{Err: errors.New("a block without a type")}
	}
	b.text.WriteString(b.head.Text)
	b.thinking.WriteString(b.head.Thinking)
	b.signature.WriteString(b.head.Signature)
	return b, nil
}

func (b *blockBuilder) add(d blockDelta, emit func(llm.Delta)) {
	switch d.Type {
	case "text_delta":
		b.text.WriteString(d.Text)
		emit(llm.Delta{Text: d.Text})
	case "thinking_delta":
		b.thinking.WriteString(d.Thinking)
		emit(llm.Delta{Reasoning: d.Thinking})
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.input.WriteString(d.PartialJSON)
	}
}

// block returns the whole; false for text that says nothing, which the API would not take back.
func (b *blockBuilder) block() (Block, bool) {
	block := Block{Type: b.head.Type, Raw: b.raw}
	switch b.head.Type {
	case "text":
		block.Text = b.text.String()
		block.Raw = encodeJSON(map[string]any{"type": "text", "text": block.Text})
		return block, len(bytes.TrimSpace(b.text.Bytes())) > 0
	case "thinking":
		block.Text = b.thinking.String()
		block.Raw = encodeJSON(thinkingBlock{Type: "thinking", Thinking: block.Text, Signature: b.signature.String()})
	case "tool_use":
		block.Tool = b.toolUse()
		block.Raw = encodeJSON(toolUseBlock{
			Type: "tool_use", ID: block.Tool.ID, Name: block.Tool.Name, Toolset: block.Tool.Toolset, Input: block.Tool.Input,
		})
	}
	return block, true
}

type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type toolUseBlock struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Toolset string          `json:"toolset_name,omitempty"`
	Input   json.RawMessage `json:"input"`
}

// toolUse reads the call. Its input is an object; anything else is marked.
func (b *blockBuilder) toolUse() *ToolUse {
	t := &ToolUse{Toolset: b.head.Toolset, ToolCall: llm.ToolCall{
		ID: WireID(b.head.ID), Name: cmp.Or(b.head.Name, "unnamed"), Input: json.RawMessage("{}"),
	}}
	input := bytes.TrimSpace(b.input.Bytes())
	if len(input) == 0 {
		input = bytes.TrimSpace(b.head.Input)
	}
	switch {
	case len(input) == 0, string(input) == "null":
	case input[0] == '{' && json.Valid(input):
		t.Input = json.RawMessage(bytes.Clone(input))
	default:
		t.Malformed = string(input)
	}
	return t
}

// encodeJSON returns the JSON of values made here, which always marshal.
func encodeJSON(v any) json.RawMessage {
	data, err := llm.MarshalJSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
