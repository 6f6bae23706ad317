package gemini

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/genai"

	"clank/llm/llmtest"
)

// predefined are the actions that a model has with the tool for computer use:
// those of Gemini 3.5 and later, and those before.
var predefined = names(
	"click", "double_click", "triple_click", "middle_click", "right_click", "mouse_down", "mouse_up", "move", "type",
	"drag_and_drop", "wait", "press_key", "key_down", "key_up", "hotkey", "take_screenshot", "scroll", "go_back",
	"go_forward", "navigate",
	"open_web_browser", "wait_5_seconds", "search", "click_at", "hover_at", "type_text_at", "key_combination",
	"scroll_document", "scroll_at",
)

// grid are the arguments that count in cells of the picture, 0 to 999.
var grid = []string{"x", "y", "start_x", "start_y", "end_x", "end_y", "destination_x", "destination_y"}

func names(all ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range all {
		set[n] = true
	}
	return set
}

// responses are the events of an answer: what it thought, its text in two
// halves, each call, then the end with the usage so far.
func responses(model string, r llmtest.Reply, n int) []*genai.GenerateContentResponse {
	parts := partsOf(model, r, n)
	var all []*genai.GenerateContentResponse
	for _, p := range parts {
		if half := len(p.Text) / 2; half > 0 && !p.Thought && p.ThoughtSignature == nil {
			all = append(all, event(model, &genai.Part{Text: p.Text[:half]}), event(model, &genai.Part{Text: p.Text[half:]}))
			continue
		}
		all = append(all, event(model, p))
	}
	return append(all, last(model, r))
}

// whole is an answer in one piece.
func whole(model string, r llmtest.Reply, n int) *genai.GenerateContentResponse {
	end := last(model, r)
	if parts := partsOf(model, r, n); len(parts) > 0 && len(end.Candidates) > 0 {
		end.Candidates[0].Content = &genai.Content{Role: genai.RoleModel, Parts: parts}
	}
	return end
}

func event(model string, p *genai.Part) *genai.GenerateContentResponse {
	return &genai.GenerateContentResponse{ModelVersion: model, Candidates: []*genai.Candidate{
		{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{p}}},
	}}
}

// partsOf is what the model says. From Gemini 3 on the first call is signed,
// or, without calls, an empty text at the end.
func partsOf(model string, r llmtest.Reply, n int) []*genai.Part {
	var parts []*genai.Part
	var signature []byte
	if !isOld(model) {
		signature = fmt.Appendf(nil, "signature %d", n)
	}
	if r.Reasoning != nil {
		if r.Reasoning.Summary != "" {
			parts = append(parts, &genai.Part{Text: r.Reasoning.Summary, Thought: true})
		}
		if r.Reasoning.Encrypted != "" {
			signature = []byte(r.Reasoning.Encrypted)
		}
	}
	if r.Text != "" {
		parts = append(parts, &genai.Part{Text: r.Text})
	}
	for i, c := range r.Calls {
		f := &genai.FunctionCall{ID: c.ID, Name: c.Name}
		if c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &f.Args) != nil {
			continue // told by the finish reason
		}
		if f.ID == "" && !isOld(model) {
			f.ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		parts = append(parts, &genai.Part{FunctionCall: f, ThoughtSignature: signature})
		signature = nil
	}
	if signature != nil && r.Text != "" {
		parts = append(parts, &genai.Part{ThoughtSignature: signature})
	}
	return parts
}

// last is the end of an answer.
func last(model string, r llmtest.Reply) *genai.GenerateContentResponse {
	end := &genai.GenerateContentResponse{ModelVersion: model}
	if u := r.Usage; u != nil {
		end.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(u.InputTokens), CachedContentTokenCount: int32(u.CachedTokens), //nolint:gosec // small numbers of tests
			CandidatesTokenCount: int32(u.OutputTokens - u.ReasoningTokens), //nolint:gosec // small numbers of tests
			ThoughtsTokenCount:   int32(u.ReasoningTokens),                  //nolint:gosec // small numbers of tests
			TotalTokenCount:      int32(u.InputTokens + u.OutputTokens),     //nolint:gosec // small numbers of tests
		}
	}
	if r.Finish == "prompt_blocked" {
		end.PromptFeedback = &genai.GenerateContentResponsePromptFeedback{BlockReason: genai.BlockedReasonProhibitedContent}
		return end
	}
	c := &genai.Candidate{FinishReason: finish(r)}
	if c.FinishReason == genai.FinishReasonSafety {
		c.FinishMessage = r.Refusal
	}
	if c.FinishReason == genai.FinishReasonMalformedFunctionCall {
		c.FinishMessage = "Malformed function call: " + garbled(r)
	}
	end.Candidates = []*genai.Candidate{c}
	return end
}

// finish is why an answer ends: as the reply says ("length", "content_filter",
// or one of the vendor's words), a refusal, or a call whose arguments cannot be
// read, which the vendor keeps back.
func finish(r llmtest.Reply) genai.FinishReason {
	switch {
	case r.Finish == "length":
		return genai.FinishReasonMaxTokens
	case r.Finish == "content_filter", r.Refusal != "":
		return genai.FinishReasonSafety
	case r.Finish != "":
		return genai.FinishReason(r.Finish)
	case garbled(r) != "":
		return genai.FinishReasonMalformedFunctionCall
	}
	return genai.FinishReasonStop
}

func garbled(r llmtest.Reply) string {
	for _, c := range r.Calls {
		var args map[string]any
		if c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &args) != nil {
			return c.Name + "(" + c.Arguments + ")"
		}
	}
	return ""
}

// checkAnswer holds what is about to be sent against the vendor's types and
// against what the request allows.
func checkAnswer(w Wire, r *genai.GenerateContentResponse) error {
	data := encode(r)
	var back genai.GenerateContentResponse
	if err := json.Unmarshal(data, &back); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if !reflect.DeepEqual(encode(&back), data) {
		return fmt.Errorf("changed by decoding: %s", data)
	}
	for _, f := range r.FunctionCalls() {
		acts := w.acts(f.Name)
		if !acts && !w.declares(f.Name) {
			return fmt.Errorf("call of %s, which the request does not offer", f.Name)
		}
		if !acts {
			continue
		}
		for _, name := range grid {
			if v, ok := f.Args[name]; ok {
				if n, isNumber := v.(float64); !isNumber || n < 0 || n > 999 {
					return fmt.Errorf("%s of %s is %v, not 0 to 999", name, f.Name, v)
				}
			}
		}
	}
	return nil
}

// acts says whether name is an action of the tool for computer use here.
func (w Wire) acts(name string) bool {
	for _, t := range w.Tools {
		if t.ComputerUse != nil {
			return predefined[name] && !slices.Contains(t.ComputerUse.ExcludedPredefinedFunctions, name)
		}
	}
	return false
}

func (w Wire) declares(name string) bool {
	for _, t := range w.Tools {
		for _, f := range t.FunctionDeclarations {
			if f.Name == name {
				return true
			}
		}
	}
	return false
}

// Unchecked answers with r as it is, even what the request does not offer and
// places outside of the picture; for models that misbehave.
func Unchecked(r llmtest.Reply) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		raw := llmtest.Reply{Fault: r.Fault}
		for _, e := range responses(req.Model, r, unchecked) {
			raw.Events = append(raw.Events, string(encode(e)))
		}
		return raw
	}
}

// unchecked numbers the answers of [Unchecked] apart from the others.
const unchecked = 1_000_000
