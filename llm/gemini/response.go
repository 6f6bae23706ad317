package gemini

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"clank/llm"
	"clank/llm/transport"
)

// responseBuilder puts an answer together from its events.
type responseBuilder struct {
	parts  []*Part
	finish FinishReason
	note   string
	block  string
	usage  llm.Usage
}

// read adds events until the last, and calls complete with each from the one on that makes the answer whole. It
// returns what ended the stream, which is never nil: also a stream that ended well may not have brought an answer.
func (c *responseBuilder) read(ctx context.Context, next func() ([]byte, error), complete func(),
	emit func(llm.Delta),
) error {
	for begun := false; ; begun = true {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		data, err := next()
		if err != nil {
			if !errors.Is(err, transport.ErrTooLong) && (begun || errors.Is(err, io.EOF)) {
				err = &transport.TruncatedError{Err: err}
			}
			return err
		}
		e, err := readEvent(data)
		if err != nil {
			return err
		}
		c.add(e, emit)
		if c.complete() {
			complete()
		}
	}
}

func (c *responseBuilder) add(event responseEvent, emit func(llm.Delta)) {
	if u := event.UsageMetadata; u != nil { // of the answer so far, not since the last event
		c.usage = usageOf(u)
	}
	if f := event.PromptFeedback; f != nil && f.BlockReason != "" {
		c.block = f.BlockReason
		c.note = cmp.Or(f.BlockReasonMessage, c.note)
	}
	if len(event.Candidates) == 0 {
		return
	}
	first := event.Candidates[0]
	if first.Content != nil {
		for _, p := range first.Content.Parts {
			if p != nil {
				c.part(p, emit)
			}
		}
	}
	if first.FinishReason != "" && first.FinishReason != finishUnspecified {
		c.finish = first.FinishReason
		c.note = cmp.Or(first.FinishMessage, c.note)
	}
}

// part appends p, or joins it to the text before it. A part with a signature
// stays as it came: it must be sent back that way.
func (c *responseBuilder) part(p *Part, emit func(llm.Delta)) {
	if p.isText() && p.Thought {
		emit(llm.Delta{Reasoning: p.Text})
	} else if p.isText() {
		emit(llm.Delta{Text: p.Text})
	}
	if !p.isText() || p.ThoughtSignature != "" {
		c.parts = append(c.parts, p)
		return
	}
	if p.Text == "" {
		return
	}
	if last := len(c.parts) - 1; last >= 0 {
		before := c.parts[last]
		if before.isText() && before.Thought == p.Thought && before.ThoughtSignature == "" {
			before.Text += p.Text
			return
		}
	}
	c.parts = append(c.parts, p)
}

// complete says whether the vendor has said that the answer is whole.
func (c *responseBuilder) complete() bool { return c.finish != "" || c.block != "" }

func (c *responseBuilder) answer() Response {
	return Response{
		Content: &Content{Role: RoleModel, Parts: c.parts},
		Finish:  c.finish, Note: transport.OneLine(c.note), Blocked: c.block, Usage: c.usage,
	}
}

// usageOf counts as the vendor charges: results of its own tools are input, thoughts are output.
func usageOf(u *wireUsage) llm.Usage {
	count := func(n int32) int { return max(0, int(n)) }
	input := count(u.PromptTokenCount) + count(u.ToolUsePromptTokenCount)
	return llm.Usage{
		InputTokens: input, CachedTokens: min(count(u.CachedContentTokenCount), input),
		OutputTokens:    count(u.CandidatesTokenCount) + count(u.ThoughtsTokenCount),
		ReasoningTokens: count(u.ThoughtsTokenCount),
	}
}

// Stop returns why the answer ended, in the terms of package llm.
func (a Response) Stop() llm.StopReason {
	if a.Blocked != "" {
		return llm.StopFilter
	}
	switch a.Finish {
	case finishStop:
		if a.calls() {
			return llm.StopTools
		}
		return llm.StopEnd
	case finishMaxTokens:
		return llm.StopLength
	case finishMalformedFunctionCall, finishUnexpectedToolCall:
		return llm.StopTools
	case finishSafety, finishRecitation, finishBlocklist,
		finishProhibitedContent, finishSPII, finishImageSafety,
		finishImageProhibited, finishImageRecitation:
		return llm.StopFilter
	case finishLanguage:
		return llm.StopRefused
	default:
		if a.calls() { // servers that speak the same have reasons of their own for it
			return llm.StopTools
		}
		return llm.StopUnknown
	}
}

func (a Response) calls() bool {
	return slices.ContainsFunc(a.Content.Parts, func(p *Part) bool { return p.FunctionCall != nil })
}

// MalformedCall returns what the model wanted when it made a call that cannot be read, or called a tool it was
// not given, and the vendor withheld the call; otherwise "". Such an answer must be described to the model in words.
func (a Response) MalformedCall() string {
	switch a.Finish {
	case finishMalformedFunctionCall:
		return cmp.Or(a.Note, "a call that could not be read")
	case finishUnexpectedToolCall:
		return cmp.Or(a.Note, "a call of a tool that is not there")
	default:
		return ""
	}
}
