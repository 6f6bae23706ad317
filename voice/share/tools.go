package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"clank/llm"
	"clank/sessions"
)

// Tools returns share_browser_session and stop_video_share for the people of a call.
func (m *Manager) Tools(c CallRef) []sessions.Tool {
	return []sessions.Tool{
		{
			Tool: llm.Tool{
				Name: "share_browser_session",
				Description: "Show the live page of a browser session to the people in the call. Use it when somebody wants to see the page or to watch. " +
					"Where they see it is told to them; tell them what the result's message says in a few words.",
				Schema: json.RawMessage(`{"type":"object","properties":{"session_id":{"type":"string","description":"the session_id of an earlier browse"}},"required":["session_id"],"additionalProperties":false}`),
			},
			Call: func(ctx context.Context, o sessions.Origin, input json.RawMessage) (string, []llm.Image, error) {
				var in struct {
					ID string `json:"session_id"`
				}
				if err := json.Unmarshal(input, &in); err != nil {
					return "", nil, fmt.Errorf("read the arguments of share_browser_session: %w", err)
				}
				return toolAnswer(m.Share(ctx, c, in.ID, o))
			},
		},
		{
			Tool: llm.Tool{
				Name:        "stop_video_share",
				Description: "End what is shown to the people in the call.",
				Schema:      json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
			},
			Call: func(ctx context.Context, o sessions.Origin, _ json.RawMessage) (string, []llm.Image, error) {
				return toolAnswer(m.Stop(ctx, c, o))
			},
		},
	}
}

// toolAnswer returns what a model is told: a refusal is an answer, a failure of ours an error.
func toolAnswer(r Result, err error) (string, []llm.Image, error) {
	if _, refused := errors.AsType[*Refusal](err); err != nil && !refused {
		return "", nil, err
	}
	text, err := json.Marshal(r)
	return string(text), nil, err
}
