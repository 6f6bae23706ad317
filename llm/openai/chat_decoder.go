package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

// reasoningNote is what is kept of readable reasoning, to be replayed.
type reasoningNote struct {
	ReasoningContent string `json:"reasoning_content"`
}

// chatChunk is an event of a chat completion, or a whole one: Message and Delta have the same members. The library's
// own type drops errors inside a chunk, costs, and reasoning by its other name.
type chatChunk struct {
	Choices []struct {
		Delta        chatDelta       `json:"delta"`
		Message      chatDelta       `json:"message"`
		FinishReason string          `json:"finish_reason"`
		Error        json.RawMessage `json:"error"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatDelta struct {
	Content          json.RawMessage `json:"content"` // a string, null, or an array of parts
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type chatUsage struct {
	PromptTokens        int     `json:"prompt_tokens"`
	CompletionTokens    int     `json:"completion_tokens"`
	PromptCacheHit      int     `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cost                float64 `json:"cost"`                    // OpenRouter, US dollars
	PromptTokensDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u chatUsage) usage() llm.Usage {
	cached := min(u.PromptTokens, max(u.PromptTokensDetails.CachedTokens, u.PromptCacheHit))
	return llm.Usage{
		InputTokens:      u.PromptTokens,
		CachedTokens:     cached,
		CacheWriteTokens: min(u.PromptTokens-cached, max(0, u.PromptTokensDetails.CacheWriteTokens)),
		OutputTokens:     u.CompletionTokens,
		ReasoningTokens:  u.CompletionTokensDetails.ReasoningTokens,
		USD:              u.Cost,
	}
}

type chatDecoder struct {
	owner     string
	text      []byte
	refused   bool
	reasoning []byte
	calls     callBuilder
	finish    string
	usage     llm.Usage
}

func newChatDecoder(owner string) *chatDecoder { return &chatDecoder{owner: owner} }

func (d *chatDecoder) event(data []byte, emit func(llm.Delta)) error {
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("decode chunk: %w", err)}
	}
	if isPresent(c.Error) {
		return streamError(c.Error)
	}
	if isPresent(c.Usage) {
		var u chatUsage
		_ = json.Unmarshal(c.Usage, &u) // a count or cost in another form than ours is not worth an answer
		d.usage = u.usage()
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if isPresent(choice.Error) {
		return streamError(choice.Error)
	}
	if choice.FinishReason == "error" {
		return streamError(nil)
	}
	if err := d.piece(choice.Delta, emit); err != nil {
		return err
	}
	if err := d.piece(choice.Message, emit); err != nil {
		return err
	}
	if choice.FinishReason != "" && choice.FinishReason != "null" {
		d.finish = choice.FinishReason
	}
	return nil
}

func (d *chatDecoder) piece(delta chatDelta, emit func(llm.Delta)) error {
	text, err := contentText(delta.Content)
	if err != nil {
		return &transport.MalformedError{Err: fmt.Errorf("decode content: %w", err)}
	}
	if delta.Refusal != "" {
		d.refused = true
		text += delta.Refusal
	}
	reasoning := cmp.Or(delta.ReasoningContent, delta.Reasoning)
	d.text = append(d.text, text...)
	d.reasoning = append(d.reasoning, reasoning...)
	for _, c := range delta.ToolCalls {
		d.calls.add(c)
	}
	emit(llm.Delta{Text: text, Reasoning: reasoning})
	return nil
}

func (d *chatDecoder) complete() bool { return d.finish != "" }

func (d *chatDecoder) reply() llm.Reply {
	r := llm.Reply{Message: llm.Message{Role: llm.RoleAssistant}, Usage: d.usage}
	add := func(p llm.Part) { r.Message.Parts = append(r.Message.Parts, p) }
	if len(d.reasoning) > 0 {
		if data, err := json.Marshal(reasoningNote{string(d.reasoning)}); err == nil {
			add(llm.Part{Opaque: &llm.Opaque{Owner: d.owner, Data: data}})
		}
	}
	if len(d.text) > 0 {
		add(llm.Part{Text: string(d.text)})
	}
	calls := d.calls.finished()
	for _, c := range calls {
		add(llm.Part{Call: &c})
	}
	r.Stop = chatStop(d.finish, len(calls) > 0, d.refused)
	return r
}

func chatStop(finish string, calls, refused bool) llm.StopReason {
	switch finish {
	case "length":
		return llm.StopLength
	case "content_filter":
		return llm.StopFilter
	case "stop", "tool_calls", "function_call":
		switch {
		case calls:
			return llm.StopTools
		case refused:
			return llm.StopRefused
		}
		return llm.StopEnd
	}
	return llm.StopUnknown
}

// contentText returns the text of content in any of its forms.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '[' {
		var s string
		if len(raw) == 0 {
			return s, nil
		}
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var s strings.Builder
	for _, p := range parts {
		s.WriteString(p.Text)
	}
	return s.String(), nil
}

func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
