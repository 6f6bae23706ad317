package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"clank/llm"
)

// anthropicBody is a request to the Messages API (version 2023-06-01), limited to what our clients use. Tests with
// the tag peers also decode the messages with the vendor's client library.
type anthropicBody struct {
	Model     string           `json:"model"`
	MaxTokens int              `json:"max_tokens"`
	Stream    bool             `json:"stream"`
	System    []anthropicBlock `json:"system"`
	Metadata  struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
	ToolChoice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Tools    []anthropicTool `json:"tools"`
	Messages []struct {
		Role    string           `json:"role"`
		Content []anthropicBlock `json:"content"`
	} `json:"messages"`
}

type anthropicTool struct {
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	InputSchema   json.RawMessage `json:"input_schema"`
	DisplayWidth  int             `json:"display_width_px"`
	DisplayHeight int             `json:"display_height_px"`
	EnableZoom    bool            `json:"enable_zoom"`
	Configs       map[string]struct {
		Enabled bool `json:"enabled"`
	} `json:"configs"`
	CacheControl cacheMark `json:"cache_control"`
}

type cacheMark struct {
	Type string `json:"type"`
}

type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Thinking  string           `json:"thinking"`
	Signature string           `json:"signature"`
	Data      string           `json:"data"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Toolset   string           `json:"toolset_name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	IsError   bool             `json:"is_error"`
	Content   []anthropicBlock `json:"content"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	} `json:"source"`
	Transformations struct {
		OversizedImage string `json:"oversized_image"`
	} `json:"transformations"`
	CacheControl cacheMark `json:"cache_control"`
}

func decodeAnthropic(raw []byte, into *Request, said *anthropicAPI) error {
	var b anthropicBody
	if err := decodeStrict(raw, &b); err != nil {
		return fmt.Errorf("decode request: %w", err)
	}
	if err := anthropicSDKAccepts(raw, into.Header.Get("Anthropic-Beta") != ""); err != nil {
		return err
	}
	into.Model, into.Stream, into.MaxTokens, into.EndUser = b.Model, b.Stream, b.MaxTokens, b.Metadata.UserID
	var system []string
	for _, s := range b.System {
		system = append(system, s.Text)
	}
	into.System = strings.Join(system, "\n\n")
	for _, t := range b.Tools {
		into.Tools = append(into.Tools, llm.Tool{
			Name: cmp.Or(t.Name, t.Type), Description: t.Description,
			Schema: t.InputSchema,
		})
	}
	for _, m := range b.Messages {
		message := llm.Message{Role: llm.Role(m.Role)}
		for _, c := range m.Content {
			part, err := c.part()
			if err != nil {
				return err
			}
			message.Parts = append(message.Parts, part)
		}
		into.Messages = append(into.Messages, message)
	}
	return checkAnthropicRequest(b, into.Header, said)
}

// part converts a block to package llm's type.
func (b anthropicBlock) part() (llm.Part, error) {
	switch b.Type {
	case "text":
		return llm.Part{Text: b.Text}, nil
	case "image":
		return llm.Part{Image: b.image()}, nil
	case "tool_use":
		name := b.Name
		if b.Toolset != "" {
			name = b.Toolset + "." + b.Name
		}
		return llm.Part{Call: &llm.ToolCall{ID: b.ID, Name: name, Input: b.Input}}, nil
	case "tool_result":
		r := &llm.ToolResult{ID: b.ToolUseID, IsError: b.IsError}
		var text []string
		for _, c := range b.Content {
			if c.Type != "image" {
				text = append(text, c.Text)
				continue
			}
			r.Images = append(r.Images, *c.image())
		}
		r.Text = strings.Join(text, "\n")
		return llm.Part{Result: r}, nil
	}
	data, err := json.Marshal(b)
	if err != nil {
		return llm.Part{}, fmt.Errorf("decode block: %w", err)
	}
	return llm.Part{Opaque: &llm.Opaque{Owner: "messages", Data: data}}, nil
}

func (b anthropicBlock) image() *llm.Image {
	return &llm.Image{MediaType: b.Source.MediaType, Data: b.Source.Data}
}
