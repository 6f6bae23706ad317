package gemini

import (
	"encoding/json"
	"fmt"
	"slices"

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
func responses(model string, r llmtest.Reply, n int) []*GenerateContentResponse {
	parts := partsOf(model, r, n)
	var all []*GenerateContentResponse
	for _, p := range parts {
		if half := len(p.Text) / 2; half > 0 && !p.Thought && p.ThoughtSignature == nil {
			all = append(all, event(model, &Part{Text: p.Text[:half]}), event(model, &Part{Text: p.Text[half:]}))
			continue
		}
		all = append(all, event(model, p))
	}
	return append(all, last(model, r))
}

// whole is an answer in one piece.
func whole(model string, r llmtest.Reply, n int) *GenerateContentResponse {
	end := last(model, r)
	if parts := partsOf(model, r, n); len(parts) > 0 && len(end.Candidates) > 0 {
		end.Candidates[0].Content = &Content{Role: roleModel, Parts: parts}
	}
	return end
}

func event(model string, p *Part) *GenerateContentResponse {
	return &GenerateContentResponse{ModelVersion: model, Candidates: []*Candidate{
		{Content: &Content{Role: roleModel, Parts: []*Part{p}}},
	}}
}

// partsOf is what the model says. From Gemini 3 on the first call is signed,
// or, without calls, an empty text at the end.
func partsOf(model string, r llmtest.Reply, n int) []*Part {
	var parts []*Part
	var signature []byte
	if !isOld(model) {
		signature = fmt.Appendf(nil, "signature %d", n)
	}
	if r.Reasoning != nil {
		if r.Reasoning.Summary != "" {
			parts = append(parts, &Part{Text: r.Reasoning.Summary, Thought: true})
		}
		if r.Reasoning.Encrypted != "" {
			signature = []byte(r.Reasoning.Encrypted)
		}
	}
	if r.Text != "" {
		parts = append(parts, &Part{Text: r.Text})
	}
	for i, c := range r.Calls {
		f := &FunctionCall{ID: c.ID, Name: c.Name}
		if c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &f.Args) != nil {
			continue // told by the finish reason
		}
		if f.ID == "" && !isOld(model) {
			f.ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		parts = append(parts, &Part{FunctionCall: f, ThoughtSignature: signature})
		signature = nil
	}
	if signature != nil && r.Text != "" {
		parts = append(parts, &Part{ThoughtSignature: signature})
	}
	return parts
}

// last is the end of an answer.
func last(model string, r llmtest.Reply) *GenerateContentResponse {
	end := &GenerateContentResponse{ModelVersion: model}
	if u := r.Usage; u != nil {
		end.UsageMetadata = &UsageMetadata{
			PromptTokenCount: int32(u.InputTokens), CachedContentTokenCount: int32(u.CachedTokens), //nolint:gosec // small numbers of tests
			CandidatesTokenCount: int32(u.OutputTokens - u.ReasoningTokens), //nolint:gosec // small numbers of tests
			ThoughtsTokenCount:   int32(u.ReasoningTokens),                  //nolint:gosec // small numbers of tests
			TotalTokenCount:      int32(u.InputTokens + u.OutputTokens),     //nolint:gosec // small numbers of tests
		}
	}
	if r.Finish == "prompt_blocked" {
		end.PromptFeedback = &PromptFeedback{BlockReason: "PROHIBITED_CONTENT"}
		return end
	}
	c := &Candidate{FinishReason: finish(r)}
	if c.FinishReason == "SAFETY" {
		c.FinishMessage = r.Refusal
	}
	if c.FinishReason == "MALFORMED_FUNCTION_CALL" {
		c.FinishMessage = "Malformed function call: " + garbled(r)
	}
	end.Candidates = []*Candidate{c}
	return end
}

// finish is why an answer ends: as the reply says ("length", "content_filter",
// or one of the vendor's words), a refusal, or a call whose arguments cannot be
// read, which the vendor keeps back.
func finish(r llmtest.Reply) string {
	switch {
	case r.Finish == "length":
		return "MAX_TOKENS"
	case r.Finish == "content_filter", r.Refusal != "":
		return "SAFETY"
	case r.Finish != "":
		return r.Finish
	case garbled(r) != "":
		return "MALFORMED_FUNCTION_CALL"
	}
	return "STOP"
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

// checkAnswer holds what is about to be sent against what the request allows.
func checkAnswer(w Wire, r *GenerateContentResponse) error {
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
