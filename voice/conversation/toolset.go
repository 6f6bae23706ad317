package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"clank/llm"
	"clank/sessions"
)

// errNobodySpoke is told to a model that uses a tool before anybody has spoken.
var errNobodySpoke = errors.New("nobody has spoken yet; wait until somebody asks for something")

// Toolset holds the tools. Its methods are safe for concurrent use.
type Toolset struct {
	Tools []sessions.Tool

	// Asker is who speaks to the model now, or spoke last.
	Asker func() (sessions.Origin, bool)
}

// Definitions returns what the model is told of the tools.
func (b Toolset) Definitions() []llm.Tool {
	all := make([]llm.Tool, len(b.Tools))
	for i, t := range b.Tools {
		all[i] = t.Tool
	}
	return all
}

// Call uses a tool and returns what the model gets to know, as a JSON object {"ok", "result" or "error", "cancelled"}. One that was
// cancelled says so, so that the model does not try again.
func (b Toolset) Call(ctx context.Context, name string, arguments json.RawMessage) string {
	type result struct {
		OK        bool   `json:"ok"`
		Result    string `json:"result,omitempty"`
		Error     string `json:"error,omitempty"`
		Cancelled bool   `json:"cancelled,omitempty"`
	}
	text, err := b.callTool(ctx, name, arguments)
	r := result{OK: err == nil, Result: text}
	if err != nil {
		r.Error = err.Error()
	}
	if ctx.Err() != nil {
		r = result{Error: context.Cause(ctx).Error(), Cancelled: true}
	}
	out, err := json.Marshal(r)
	if err != nil {
		return `{"ok":false}` // strings always are JSON
	}
	return string(out)
}

func (b Toolset) callTool(ctx context.Context, name string, arguments json.RawMessage) (string, error) {
	i := slices.IndexFunc(b.Tools, func(t sessions.Tool) bool { return t.Name == name })
	if i < 0 {
		return "", errors.New("there is no tool " + name)
	}
	o, known := b.Asker()
	if !known {
		return "", errNobodySpoke
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	text, _, err := b.Tools[i].Call(ctx, o, arguments)
	return text, err
}
