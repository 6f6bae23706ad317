package sessions

import (
	"context"
	"encoding/json"

	"clank/llm"
)

// Tool is something that a model may use on behalf of a person.
type Tool struct {
	llm.Tool

	// Call does what the model asks, on behalf of the person at o, and returns what the model gets to know. Images must be
	// described in text. An error is told to the model as a failure of the call; the reply goes on. When ctx ends, Call
	// returns soon.
	Call func(ctx context.Context, o Origin, input json.RawMessage) (text string, images []llm.Image, err error)
}
