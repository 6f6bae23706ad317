package conversation

import (
	"context"
	"encoding/json"

	"clank/llm"
	"clank/sessions"
)

var noArguments = json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`)

// Tools returns the tools with which a model may join and leave a call for the person at o, or nil where there
// are no calls.
func (r *CallRegistry) Tools(_ context.Context, o sessions.Origin) []sessions.Tool {
	if o.Guild == "" || !r.Policy().Enabled {
		return nil
	}
	return []sessions.Tool{
		{
			Tool: llm.Tool{
				Name: "join_voice_channel",
				Description: "Join the voice channel in which the person you are talking with is now, when they ask you to. You then hear the people " +
					"there and speak with them.",
				Schema: noArguments,
			},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				c, err := r.Join(ctx, o, "")
				if err != nil {
					return "", nil, err
				}
				return "You are in the call now, in the channel <#" + c.Channel + ">.", nil, nil
			},
		},
		{
			Tool: llm.Tool{Name: "leave_voice_channel", Description: "Leave the call on this server, when somebody asks you to.", Schema: noArguments},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				if err := r.Leave(ctx, o); err != nil {
					return "", nil, err
				}
				return "You have left the call.", nil, nil
			},
		},
	}
}
