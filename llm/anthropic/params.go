package anthropic

import (
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// maxStable is how many messages are marked for the cache. The API takes four
// marks; two are on the tools and on the instructions.
const maxStable = 2

// params is q as the client library sends it, without its pictures.
func (m *Model) params(q Question, pictures *pictures) sdk.MessageNewParams {
	maxTokens := q.MaxTokens
	if maxTokens <= 0 {
		maxTokens = m.opts.MaxTokens
	}
	if maxTokens <= 0 {
		maxTokens = defaultMaxTokens
	}
	maxTokens = min(maxTokens, m.traits.maxOutput)
	p := sdk.MessageNewParams{
		Model: m.opts.Model, MaxTokens: int64(maxTokens),
		Messages: pictures.out(markMessages(q.Messages, q.Stable)), Tools: markTools(q.Tools),
	}
	if q.System != "" {
		p.System = []sdk.TextBlockParam{{Text: q.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if q.EndUser != "" {
		p.Metadata.UserID = param.NewOpt(q.EndUser)
	}
	if q.NoCalls && len(q.Tools) > 0 && m.traits.prefix != "" { // no choice is forced by it, which some models refuse
		p.ToolChoice.OfNone = new(sdk.NewToolChoiceNoneParam())
	}
	m.think(&p, maxTokens)
	return p
}

// think says how much the model is to think, where it can be told. Nothing is
// sent unless it was asked for: models differ in what they do then.
func (m *Model) think(p *sdk.MessageNewParams, maxTokens int) {
	effort := m.opts.Effort
	if m.traits.thinking == thinkBudget {
		if budget := min(budgets[effort], maxTokens/2); budget >= minBudget {
			p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(budget))
		}
		return
	}
	if effort == "none" {
		off := sdk.NewThinkingConfigDisabledParam()
		p.Thinking.OfDisabled = &off
		return
	}
	if effort != "" {
		p.OutputConfig.Effort = sdk.OutputConfigEffort(effort)
	}
	if effort != "" || m.opts.ShowThinking {
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	}
	if m.opts.ShowThinking {
		p.Thinking.OfAdaptive.Display = sdk.ThinkingConfigAdaptiveDisplaySummarized
	}
}

// markTools marks the last tool, and so all of them, for the cache.
func markTools(tools []sdk.ToolUnionParam) []sdk.ToolUnionParam {
	if len(tools) == 0 {
		return nil
	}
	marked := slices.Clone(tools)
	last := &marked[len(marked)-1]
	switch {
	case last.OfTool != nil:
		t := *last.OfTool
		t.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfTool = &t
	case last.OfComputerToolset20260801 != nil:
		t := *last.OfComputerToolset20260801
		t.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfComputerToolset20260801 = &t
	case last.OfBrowserToolset20260801 != nil:
		t := *last.OfBrowserToolset20260801
		t.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfBrowserToolset20260801 = &t
	}
	return marked
}

// markMessages marks the ends of the messages at these indexes, the newest
// ones if there are too many. The messages given are not changed.
func markMessages(messages []sdk.MessageParam, stable []int) []sdk.MessageParam {
	marked := slices.Clone(messages)
	left := maxStable
	for i := range slices.Backward(marked) {
		if left > 0 && slices.Contains(stable, i) && markLast(&marked[i]) {
			left--
		}
	}
	return marked
}

func markLast(m *sdk.MessageParam) bool {
	if len(m.Content) == 0 {
		return false
	}
	m.Content = slices.Clone(m.Content)
	last := &m.Content[len(m.Content)-1]
	switch {
	case last.OfText != nil:
		b := *last.OfText
		b.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfText = &b
	case last.OfImage != nil:
		b := *last.OfImage
		b.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfImage = &b
	case last.OfToolResult != nil:
		b := *last.OfToolResult
		b.CacheControl = sdk.NewCacheControlEphemeralParam()
		last.OfToolResult = &b
	default:
		return false
	}
	return true
}
