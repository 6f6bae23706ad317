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

// block returns the whole; false for text that says nothing, which the API would not
// take back.
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
	data, err := marshalPlain(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// marshalPlain returns v as JSON with text as it is, without the HTML escaping of json.Marshal.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
