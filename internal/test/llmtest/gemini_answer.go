package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// geminiActions are the actions that a model has with the tool for computer use:
// those of Gemini 3.5 and later, and those before.
var geminiActions = nameSet(
	"click", "double_click", "triple_click", "middle_click", "right_click", "mouse_down", "mouse_up", "move", "type",
	"drag_and_drop", "wait", "press_key", "key_down", "key_up", "hotkey", "take_screenshot", "scroll", "go_back",
	"go_forward", "navigate",
	"open_web_browser", "wait_5_seconds", "search", "click_at", "hover_at", "type_text_at", "key_combination",
	"scroll_document", "scroll_at",
)

// geminiGridFields are the arguments that count in cells of the picture, 0 to 999.
var geminiGridFields = []string{"x", "y", "start_x", "start_y", "end_x", "end_y", "destination_x", "destination_y"}

func nameSet(all ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range all {
		set[n] = true
	}
	return set
}

// geminiResponses returns the events of an answer: what it thought, its text in two
// halves, each call, then the end with the usage so far.
func geminiResponses(model string, r Reply, n int) []*GeminiResponse {
	parts := geminiParts(model, r, n)
	var all []*GeminiResponse
	for _, p := range parts {
		if half := len(p.Text) / 2; half > 0 && !p.Thought && p.ThoughtSignature == nil {
			all = append(all, geminiEvent(model, &GeminiPart{Text: p.Text[:half]}), geminiEvent(model, &GeminiPart{Text: p.Text[half:]}))
			continue
		}
		all = append(all, geminiEvent(model, p))
	}
	return append(all, geminiLast(model, r))
}

func geminiEvent(model string, p *GeminiPart) *GeminiResponse {
	return &GeminiResponse{ModelVersion: model, Candidates: []*GeminiCandidate{
		{Content: &GeminiContent{Role: geminiRoleModel, Parts: []*GeminiPart{p}}},
	}}
}

// geminiParts returns what the model says. From Gemini 3 on the first call is signed, or, without calls, an
// empty text at the end.
func geminiParts(model string, r Reply, n int) []*GeminiPart {
	var parts []*GeminiPart
	var signature []byte
	if !predatesSignatures(model) {
		signature = fmt.Appendf(nil, "signature %d", n)
	}
	if r.Reasoning != nil {
		if r.Reasoning.Summary != "" {
			parts = append(parts, &GeminiPart{Text: r.Reasoning.Summary, Thought: true})
		}
		if r.Reasoning.Encrypted != "" {
			signature = []byte(r.Reasoning.Encrypted)
		}
	}
	if r.Text != "" {
		parts = append(parts, &GeminiPart{Text: r.Text})
	}
	for i, c := range r.Calls {
		f := &GeminiFunctionCall{ID: c.ID, Name: c.Name}
		if c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &f.Args) != nil {
			continue // told by the finish reason
		}
		if f.ID == "" && !predatesSignatures(model) {
			f.ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		parts = append(parts, &GeminiPart{FunctionCall: f, ThoughtSignature: signature})
		signature = nil
	}
	if signature != nil && r.Text != "" {
		parts = append(parts, &GeminiPart{ThoughtSignature: signature})
	}
	return parts
}

// geminiLast returns the end of an answer.
func geminiLast(model string, r Reply) *GeminiResponse {
	end := &GeminiResponse{ModelVersion: model}
	if u := r.Usage; u != nil {
		end.UsageMetadata = &GeminiUsage{
			PromptTokenCount: int32(u.InputTokens), CachedContentTokenCount: int32(u.CachedTokens),
			CandidatesTokenCount: int32(u.OutputTokens - u.ReasoningTokens),
			ThoughtsTokenCount:   int32(u.ReasoningTokens),
			TotalTokenCount:      int32(u.InputTokens + u.OutputTokens),
		}
	}
	if r.Finish == "prompt_blocked" {
		end.PromptFeedback = &GeminiPromptFeedback{BlockReason: "PROHIBITED_CONTENT"}
		return end
	}
	c := &GeminiCandidate{FinishReason: geminiFinishReason(r)}
	if c.FinishReason == "SAFETY" {
		c.FinishMessage = r.Refusal
	}
	if c.FinishReason == "MALFORMED_FUNCTION_CALL" {
		c.FinishMessage = "Malformed function call: " + geminiMalformed(r)
	}
	end.Candidates = []*GeminiCandidate{c}
	return end
}

// geminiFinishReason returns why an answer ends: as the reply says ("length", "content_filter", or one of the
// vendor's words), a refusal, or a call whose arguments cannot be read, which the vendor keeps back.
func geminiFinishReason(r Reply) string {
	switch {
	case r.Finish == "length":
		return "MAX_TOKENS"
	case r.Finish == "content_filter", r.Refusal != "":
		return "SAFETY"
	case r.Finish != "":
		return r.Finish
	case geminiMalformed(r) != "":
		return "MALFORMED_FUNCTION_CALL"
	}
	return "STOP"
}

func geminiMalformed(r Reply) string {
	for _, c := range r.Calls {
		var args map[string]any
		if c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &args) != nil {
			return c.Name + "(" + c.Arguments + ")"
		}
	}
	return ""
}

// checkAllowedByRequest holds what is about to be sent against what the request allows.
func checkAllowedByRequest(w GeminiRequest, r *GeminiResponse) error {
	for _, f := range r.FunctionCalls() {
		acts := w.isAction(f.Name)
		if !acts && !w.isDeclared(f.Name) {
			return fmt.Errorf("call of %s, which the request does not offer", f.Name)
		}
		if !acts {
			continue
		}
		for _, name := range geminiGridFields {
			if v, ok := f.Args[name]; ok {
				if n, isNumber := v.(float64); !isNumber || n < 0 || n > 999 {
					return fmt.Errorf("%s of %s is %v, not 0 to 999", name, f.Name, v)
				}
			}
		}
	}
	return nil
}

// isAction says whether name is an action of the tool for computer use here.
func (w GeminiRequest) isAction(name string) bool {
	for _, t := range w.Tools {
		if t.ComputerUse != nil {
			return geminiActions[name] && !slices.Contains(t.ComputerUse.ExcludedPredefinedFunctions, name)
		}
	}
	return false
}

func (w GeminiRequest) isDeclared(name string) bool {
	for _, t := range w.Tools {
		for _, f := range t.FunctionDeclarations {
			if f.Name == name {
				return true
			}
		}
	}
	return false
}

// GeminiUnchecked answers with r as it is, even what the request does not offer and
// places outside of the picture; for models that misbehave.
func GeminiUnchecked(r Reply) Turn {
	return func(req Request) Reply {
		raw := Reply{Fault: r.Fault}
		for _, e := range geminiResponses(req.Model, r, uncheckedMark) {
			raw.Events = append(raw.Events, string(mustEncode(e)))
		}
		return raw
	}
}

// uncheckedMark numbers the answers of [GeminiUnchecked] apart from the others.
const uncheckedMark = 1_000_000
