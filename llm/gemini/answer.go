package gemini

import (
	"cmp"
	"slices"

	"google.golang.org/genai"

	"clank/llm"
	"clank/llm/wire"
)

// collector puts an answer together from its events.
type collector struct {
	parts  []*genai.Part
	finish genai.FinishReason
	note   string
	block  genai.BlockedReason
	usage  llm.Usage
}

func (c *collector) add(event *genai.GenerateContentResponse, emit func(llm.Delta)) {
	if event == nil {
		return
	}
	if u := event.UsageMetadata; u != nil { // of the answer so far, not since the last event
		c.usage = usageOf(u)
	}
	if f := event.PromptFeedback; f != nil && f.BlockReason != "" {
		c.block = f.BlockReason
		c.note = cmp.Or(f.BlockReasonMessage, c.note)
	}
	if len(event.Candidates) == 0 || event.Candidates[0] == nil {
		return
	}
	candidate := event.Candidates[0]
	if candidate.Content != nil {
		for _, p := range candidate.Content.Parts {
			if p != nil {
				c.part(p, emit)
			}
		}
	}
	if candidate.FinishReason != "" && candidate.FinishReason != genai.FinishReasonUnspecified {
		c.finish = candidate.FinishReason
		c.note = cmp.Or(candidate.FinishMessage, c.note)
	}
}

// part appends p, or joins it to the text before it. A part with a signature
// stays as it came: it must be sent back that way.
func (c *collector) part(p *genai.Part, emit func(llm.Delta)) {
	if isText(p) && p.Thought {
		emit(llm.Delta{Reasoning: p.Text})
	} else if isText(p) {
		emit(llm.Delta{Text: p.Text})
	}
	if !isText(p) || p.ThoughtSignature != nil {
		c.parts = append(c.parts, p)
		return
	}
	if p.Text == "" {
		return
	}
	if last := len(c.parts) - 1; last >= 0 {
		before := c.parts[last]
		if isText(before) && before.Thought == p.Thought && before.ThoughtSignature == nil {
			before.Text += p.Text
			return
		}
	}
	c.parts = append(c.parts, p)
}

// isText says whether p is text, of which there may be none, and nothing else.
func isText(p *genai.Part) bool {
	return p.FunctionCall == nil && p.FunctionResponse == nil && p.InlineData == nil && p.FileData == nil &&
		p.ExecutableCode == nil && p.CodeExecutionResult == nil && p.ToolCall == nil && p.ToolResponse == nil
}

// complete says whether the vendor has said that the answer is whole.
func (c *collector) complete() bool { return c.finish != "" || c.block != "" }

func (c *collector) answer() Answer {
	return Answer{
		Content: &genai.Content{Role: genai.RoleModel, Parts: c.parts},
		Finish:  c.finish, Note: wire.OneLine(c.note), Blocked: c.block, Usage: c.usage,
	}
}

// usageOf counts as the vendor charges: results of its own tools are input,
// thoughts are output.
func usageOf(u *genai.GenerateContentResponseUsageMetadata) llm.Usage {
	count := func(n int32) int { return max(0, int(n)) }
	input := count(u.PromptTokenCount) + count(u.ToolUsePromptTokenCount)
	return llm.Usage{
		InputTokens: input, CachedTokens: min(count(u.CachedContentTokenCount), input),
		OutputTokens:    count(u.CandidatesTokenCount) + count(u.ThoughtsTokenCount),
		ReasoningTokens: count(u.ThoughtsTokenCount),
	}
}

// Stop is what an answer's end is called in package llm.
func (a Answer) Stop() llm.StopReason {
	if a.Blocked != "" {
		return llm.StopFilter
	}
	switch a.Finish {
	case genai.FinishReasonStop:
		if a.calls() {
			return llm.StopTools
		}
		return llm.StopEnd
	case genai.FinishReasonMaxTokens:
		return llm.StopLength
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall:
		return llm.StopTools
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return llm.StopFilter
	case genai.FinishReasonLanguage:
		return llm.StopRefused
	default:
		if a.calls() { // servers that speak the same have reasons of their own for it
			return llm.StopTools
		}
		return llm.StopUnknown
	}
}

func (a Answer) calls() bool {
	return slices.ContainsFunc(a.Content.Parts, func(p *genai.Part) bool { return p.FunctionCall != nil })
}

// Garbled is what the model wanted when it called a tool in a way that cannot
// be read, or one it was not given, and the vendor kept that back; "" if it did
// not. Such an answer has to be told to the model in words.
func (a Answer) Garbled() string {
	switch a.Finish {
	case genai.FinishReasonMalformedFunctionCall:
		return cmp.Or(a.Note, "a call that could not be read")
	case genai.FinishReasonUnexpectedToolCall:
		return cmp.Or(a.Note, "a call of a tool that is not there")
	default:
		return ""
	}
}
