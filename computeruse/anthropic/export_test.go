package anthropic

import (
	"encoding/json"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/anthropic"
)

// Read returns what one call of a model becomes. The name is "toolset.member" or the name of a tool.
func Read(name, arguments string) ([]computeruse.Call, []llm.ToolCall) {
	use := anthropic.ToolUse{ToolCall: llm.ToolCall{ID: "toolu_1", Name: name, Input: json.RawMessage("{}")}}
	if toolset, member, ok := strings.Cut(name, "."); ok {
		use.Toolset, use.Name = toolset, member
	}
	if json.Valid([]byte(arguments)) && strings.HasPrefix(strings.TrimSpace(arguments), "{") {
		use.Input = json.RawMessage(arguments)
	} else {
		use.Malformed = arguments
	}
	var turn computeruse.Turn
	(&conversation{}).addCall(use, &turn)
	return turn.Calls, turn.Tools
}
