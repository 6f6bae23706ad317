package assistant

import (
	"context"
	"encoding/json"
	"errors"

	"clank/llm"
	"clank/sessions"
)

// BrowseTool returns the browse for a model that holds the conversation by itself, as those that hear and speak do. show, which may be nil,
// is given what a browse has left for people to see, in an answer without text.
func (b *Assistant) BrowseTool(show func(o sessions.Origin, a Answer)) sessions.Tool {
	call := func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
		r := &replyRun{assistant: b, turn: Turn{Origin: o}}
		out := r.browse(ctx, 1, llm.ToolCall{Name: browseTool.Name, Input: input})
		if a := r.complete(""); show != nil && (len(a.Images) > 0 || a.View != nil) {
			show(o, a)
		}
		if out.failed {
			return "", nil, errors.New(out.text)
		}
		return out.text, out.images, nil
	}
	return sessions.Tool{Tool: browseTool, Call: call}
}
