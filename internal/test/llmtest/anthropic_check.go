package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // images as clients send them
	_ "image/png"
	"net/http"
	"slices"
	"strings"
)

// checkAnthropicRequest rejects what the vendor would reject.
func checkAnthropicRequest(b anthropicBody, header http.Header, said *anthropicAPI) error {
	if header.Get("Anthropic-Version") == "" {
		return errors.New("there is no header anthropic-version")
	}
	if b.Model == "" || b.MaxTokens < 1 {
		return errors.New("model and max_tokens are required")
	}
	if always := strings.HasPrefix(b.Model, "claude-opus-5-5"); always &&
		(b.ToolChoice.Type == "any" || b.ToolChoice.Type == "tool") {
		return errors.New("tool_choice of this model cannot be forced")
	}
	if err := checkAnthropicTools(b, header.Get("Anthropic-Beta")); err != nil {
		return err
	}
	if marks := b.cacheMarks(); marks > 4 {
		return fmt.Errorf("%d blocks have cache_control; at most 4 may", marks)
	}
	n := len(b.Messages)
	if n == 0 || b.Messages[0].Role != "user" || b.Messages[n-1].Role != "user" && !said.hasPaused() {
		return errors.New("messages must begin with the user and end there, but for an answer that was paused")
	}
	for i, m := range b.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("messages[%d] is of role %q", i, m.Role)
		}
		if i > 0 && m.Role == b.Messages[i-1].Role {
			return fmt.Errorf("messages %d and %d are both of role %s", i-1, i, m.Role)
		}
		for j, c := range m.Content {
			if err := b.checkBlock(m.Role, c, said); err != nil {
				return fmt.Errorf("messages[%d].content[%d]: %w", i, j, err)
			}
		}
		var before []anthropicBlock
		if i > 0 {
			before = b.Messages[i-1].Content
		}
		if m.Role == "user" {
			if err := checkAnthropicResults(before, m.Content); err != nil {
				return fmt.Errorf("messages[%d]: %w", i, err)
			}
		}
	}
	return b.checkThoughts(said)
}

// checkAnthropicTools checks which computer-use tools are valid for a model.
func checkAnthropicTools(b anthropicBody, beta string) error {
	for _, t := range b.Tools {
		toolset := strings.HasSuffix(t.Type, "_toolset_20260801")
		wants, isDated := anthropicBetas[t.Type]
		var schema struct{ Type string }
		switch {
		case t.Type == "" && (t.Name == "" || json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object"):
			return fmt.Errorf("tool %q has no schema of an object", t.Name)
		case t.Type != "" && !toolset && !isDated:
			return fmt.Errorf("there is no tool type %q", t.Type)
		case isDated && (t.Name != "computer" || t.DisplayWidth < 1 || t.DisplayHeight < 1):
			return fmt.Errorf("tool type %s needs its name and the size of the screen", t.Type)
		case toolset && strings.HasPrefix(b.Model, "claude-") && modelGeneration(b.Model) < 5:
			return fmt.Errorf("model %s does not support tool type %s", b.Model, t.Type)
		case isDated && !strings.Contains(beta, wants):
			return fmt.Errorf("tool type %s needs its beta header, got %q", t.Type, beta)
		case isDated && modelGeneration(b.Model) >= 5:
			return fmt.Errorf("model %s does not support tool type %s", b.Model, t.Type)
		}
	}
	return nil
}

// anthropicBetas maps tools that need a beta header to that header.
var anthropicBetas = map[string]string{
	"computer_20250124": "computer-use-2025-01-24",
	"computer_20251124": "computer-use-2025-11-24",
}

// modelGeneration returns the first number in the name of a model: 5 of claude-opus-5-5.
func modelGeneration(model string) int {
	if i := strings.IndexAny(model, "0123456789"); i >= 0 {
		return int(model[i] - '0')
	}
	return 0
}

func (b anthropicBody) cacheMarks() int {
	n := 0
	count := func(mark cacheMark) {
		if mark.Type != "" {
			n++
		}
	}
	for _, s := range b.System {
		count(s.CacheControl)
	}
	for _, t := range b.Tools {
		count(t.CacheControl)
	}
	for _, m := range b.Messages {
		for _, c := range m.Content {
			count(c.CacheControl)
			for _, inner := range c.Content {
				count(inner.CacheControl)
			}
		}
	}
	return n
}

func (b anthropicBody) checkBlock(role string, c anthropicBlock, said *anthropicAPI) error {
	switch c.Type {
	case "text":
		if strings.TrimSpace(c.Text) == "" {
			return errors.New("text must not be empty")
		}
	case "thinking", "redacted_thinking":
		return said.checkThought(role, c)
	case "image":
		return b.checkImage(c)
	case "tool_result":
		for _, inner := range c.Content {
			if c.IsError && inner.Type != "text" {
				return errors.New("a failed tool_result may hold only text")
			}
			if err := b.checkBlock(role, inner, said); err != nil {
				return err
			}
		}
	case "tool_use":
		var input object
		if role != "assistant" || json.Unmarshal(c.Input, &input) != nil || input == nil {
			return fmt.Errorf("call %s of %s has the input %s", c.ID, role, c.Input)
		}
	default:
		return fmt.Errorf("there is no block type %q", c.Type)
	}
	return nil
}

func (m *anthropicAPI) checkThought(role string, c anthropicBlock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	block, key := object{"type": "thinking", "thinking": c.Thinking, "signature": c.Signature}, c.Signature
	if c.Type == "redacted_thinking" {
		block, key = object{"type": c.Type, "data": c.Data}, c.Data
	}
	switch {
	case role != "assistant":
		return errors.New("thinking of the user")
	case c.CacheControl.Type != "":
		return errors.New("thinking cannot be marked for the cache")
	case m.thoughts[key] != string(mustEncode(block)):
		return errors.New("invalid signature: thinking blocks must come back as they were sent")
	}
	return nil
}

// checkThoughts checks that the thinking before the newest calls is included.
func (b anthropicBody) checkThoughts(said *anthropicAPI) error {
	said.mu.Lock()
	defer said.mu.Unlock()
	for i, m := range slices.Backward(b.Messages) {
		if m.Role != "assistant" {
			continue
		}
		var sent []string
		for _, c := range m.Content {
			sent = append(sent, c.Signature+c.Data)
		}
		for _, c := range m.Content {
			for _, want := range said.within[c.ID] {
				if !slices.Contains(sent, want) {
					return fmt.Errorf("messages[%d]: the thinking before call %s is missing", i, c.ID)
				}
			}
		}
		return nil
	}
	return nil
}

func (b anthropicBody) checkImage(c anthropicBlock) error {
	if c.Source.Type != "base64" || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"},
		c.Source.MediaType) {
		return fmt.Errorf("source is %q of media_type %q", c.Source.Type, c.Source.MediaType)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(c.Source.Data))
	if err != nil {
		return fmt.Errorf("could not process image: %w", err)
	}
	edge, pixels := AnthropicImageLimits(b.Model)
	if config.Width > edge || config.Height > edge || config.Width*config.Height > pixels {
		return fmt.Errorf("image of %dx%d is over %d pixels an edge or %d in all", config.Width, config.Height, edge, pixels)
	}
	return nil
}

// AnthropicImageLimits returns the largest image that a model sees unscaled: pixels of the longer edge and in total.
func AnthropicImageLimits(model string) (edge, pixels int) {
	if modelGeneration(model) >= 5 || strings.HasPrefix(model, "claude-opus-4-7") ||
		strings.HasPrefix(model, "claude-opus-4-8") {
		return 2576, 3_750_000
	}
	return 1568, 1_150_000
}

// checkAnthropicResults checks that each call of the previous message is answered first, in order and with the name
// of its family.
func checkAnthropicResults(before, content []anthropicBlock) error {
	var calls, results []anthropicBlock
	for _, c := range before {
		if c.Type == "tool_use" {
			calls = append(calls, c)
		}
	}
	for i, c := range content {
		if c.Type != "tool_result" {
			continue
		}
		if len(results) != i {
			return errors.New("tool_result must come before everything else")
		}
		results = append(results, c)
	}
	if len(calls) != len(results) {
		return fmt.Errorf("%d calls of tools, %d results", len(calls), len(results))
	}
	for i, r := range results {
		if r.ToolUseID != calls[i].ID {
			return fmt.Errorf("result %d is of %q, want %q", i, r.ToolUseID, calls[i].ID)
		}
		if r.Toolset != calls[i].Toolset {
			return fmt.Errorf("result %d has toolset_name %q, want %q", i, r.Toolset, calls[i].Toolset)
		}
	}
	return nil
}
