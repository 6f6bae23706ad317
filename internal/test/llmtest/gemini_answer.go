package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// geminiActions are the actions of the computer-use tool: those of Gemini 3.5 and later, and those of earlier models.
var geminiActions = nameSet(
	"click", "double_click", "triple_click", "middle_click", "right_click", "mouse_down", "mouse_up", "move", "type",
	"drag_and_drop", "wait", "press_key", "key_down", "key_up", "hotkey", "take_screenshot", "scroll", "go_back",
	"go_forward", "navigate",
	"open_web_browser", "wait_5_seconds", "search", "click_at", "hover_at", "type_text_at", "key_combination",
	"scroll_document", "scroll_at",
)

// geminiGridFields are the arguments that are grid coordinates, 0 to 999.
var geminiGridFields = []string{"x", "y", "start_x", "start_y", "end_x", "end_y", "destination_x", "destination_y"}

func nameSet(all ...string) map[string]bool {
	set := map[string]bool{}
	for _, n := range all {
		set[n] = true
	}
	return set
}

// geminiResponses returns the events of a reply: thoughts, text in two halves, each call, then the end with the
// usage.
func geminiResponses(model string, r Reply, n int) []*GeminiResponse {
	parts := geminiParts(model, r, n)
	var all []*GeminiResponse
	for _, p := range parts {
		if half := len(p.Text) / 2; half > 0 && !p.Thought && p.ThoughtSignature == nil {
			all = append(all, geminiEvent(model, &GeminiPart{Text: p.Text[:half]}),
				geminiEvent(model, &GeminiPart{Text: p.Text[half:]}))
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

// geminiParts returns the parts of a reply. From Gemini 3 on the first call is signed or, without calls, an empty
// text at the end.
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

// geminiLast returns the final event of a reply.
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

// geminiFinishReason returns the finish reason: that of the reply ("length", "content_filter", or one of the vendor's
// values), a refusal, or a call with invalid arguments, which the vendor withholds.
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

// checkAllowedByRequest checks a response against what the request allows.
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

// isAction reports whether name is an action of the computer-use tool in this request.
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

// GeminiUnchecked replies with r unchecked, even if it uses unavailable tools or positions outside the image; for
// misbehaving models.
func GeminiUnchecked(r Reply) Turn {
	return func(req Request) Reply {
		raw := Reply{Fault: r.Fault}
		for _, e := range geminiResponses(req.Model, r, uncheckedMark) {
			raw.Events = append(raw.Events, string(mustEncode(e)))
		}
		return raw
	}
}

// uncheckedMark distinguishes the replies of [GeminiUnchecked] from others.
const uncheckedMark = 1_000_000
