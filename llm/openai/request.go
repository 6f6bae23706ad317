package openai

import (
	"encoding/base64"
	"encoding/json"

	"clank/llm"
)

// What stands for nothing. Both APIs demand that these fields are there, and
// the client library leaves out what is empty.
const (
	noOutput  = "(no output)"
	noSchema  = `{"type":"object","properties":{}}`
	noInput   = "{}"
	toolError = "The tool failed"
)

// resultText returns a tool result for a model that has no field for failure.
func resultText(r *llm.ToolResult) string {
	switch {
	case r.IsError && r.Text == "":
		return toolError + "."
	case r.IsError:
		return toolError + ": " + r.Text
	case r.Text == "" && len(r.Images) == 0:
		return noOutput
	}
	return r.Text
}

func callInput(c *llm.ToolCall) string {
	if len(c.Input) == 0 {
		return noInput
	}
	return string(c.Input)
}

func schemaOf(t llm.Tool) json.RawMessage {
	if len(t.Schema) == 0 {
		return json.RawMessage(noSchema)
	}
	return t.Schema
}

// dataURI returns a picture in the one form that every server takes.
func dataURI(i llm.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}
