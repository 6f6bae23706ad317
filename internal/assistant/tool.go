package assistant

import (
	"context"
	"maps"
	"slices"

	"clank/llm"
	"clank/sessions"
)

// offeredTools asks which further tools there are for this person, and returns them as the model sees them, and how often it may come
// back to use them.
func (r *replyRun) offeredTools(ctx context.Context) (out []llm.Tool, rounds int) {
	tools := r.assistant.Web.tools()
	if rounds = maxRounds; len(tools) > 0 {
		rounds = maxReadRounds
	}
	if r.assistant.Tools != nil {
		if small := r.assistant.Tools(ctx, r.turn.Origin); len(small) > 0 {
			tools, rounds = append(tools, small...), maxToolRounds
		}
	}
	if r.assistant.SingleCallTools != nil {
		tools = append(tools, r.assistant.SingleCallTools(ctx, r.turn.Origin)...)
	}
	r.tools = map[string]sessions.Tool{}
	for _, t := range tools {
		r.tools[t.Name] = t
		out = append(out, t.Tool)
	}
	return out, rounds
}

func (r *replyRun) toolNames() []string {
	return append([]string{browseTool.Name}, slices.Sorted(maps.Keys(r.tools))...)
}

// callTool calls one of the further tools.
func (r *replyRun) callTool(ctx context.Context, c llm.ToolCall) callResult {
	if c.Malformed != "" {
		return refusedCall("the input is not a JSON object")
	}
	if why := r.assistant.disabled(ctx, r.turn.Origin); why != "" {
		return refusedCall("the browser may not be used: " + why)
	}
	text, images, err := r.tools[c.Name].Call(ctx, r.turn.Origin, c.Input)
	if err != nil {
		return refusedCall(err.Error())
	}
	return callResult{text: text, images: images, plain: true}
}
