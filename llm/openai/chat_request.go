package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"clank/llm"

	client "github.com/sashabaranov/go-openai"
)

func (m *Model) chatRequest(req llm.Request) client.ChatCompletionRequest {
	out := client.ChatCompletionRequest{
		Model:         m.Model,
		Messages:      m.chatMessages(req),
		StreamOptions: &client.StreamOptions{IncludeUsage: true},
	}
	native := usesNewNames(m.Model)
	if native {
		out.MaxCompletionTokens = req.MaxTokens
		out.SafetyIdentifier = req.EndUser
	} else {
		out.MaxTokens = req.MaxTokens //nolint:staticcheck // the name that servers other than OpenAI know
		out.User = req.EndUser
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, client.Tool{Type: client.ToolTypeFunction, Function: &client.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schemaOf(t),
		}})
	}
	return out
}

// usesNewNames says whether a model is one of those for which OpenAI renamed
// max_tokens and user. Servers of others mostly know only the old names.
func usesNewNames(model string) bool {
	name := strings.TrimPrefix(model, "openai/")
	for _, prefix := range []string{"gpt-5", "gpt-6", "o1", "o3", "o4"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (m *Model) chatMessages(req llm.Request) []client.ChatCompletionMessage {
	var out []client.ChatCompletionMessage
	if req.System != "" {
		out = append(out, client.ChatCompletionMessage{Role: client.ChatMessageRoleSystem, Content: req.System})
	}
	asked := lastQuestion(req.Messages)
	for i, msg := range req.Messages {
		if msg.Role == llm.RoleAssistant {
			if one, ok := m.assistantChat(msg, i > asked); ok {
				out = append(out, one)
			}
			continue
		}
		out = append(out, userChat(msg)...)
	}
	return out
}

// lastQuestion returns the index of the last user message that says something itself. Reasoning is wanted back only
// from there on, within one round of tool use.
func lastQuestion(messages []llm.Message) int {
	for i, m := range slices.Backward(messages) {
		if m.Role == llm.RoleUser && m.Text() != "" {
			return i
		}
	}
	return -1
}

// assistantChat returns msg for the chat API, or false if nothing is left to say in it, because servers refuse
// empty messages.
func (m *Model) assistantChat(msg llm.Message, withReasoning bool) (client.ChatCompletionMessage, bool) {
	out := client.ChatCompletionMessage{Role: client.ChatMessageRoleAssistant, Content: msg.Text()}
	for _, p := range msg.Parts {
		switch {
		case p.Call != nil:
			out.ToolCalls = append(out.ToolCalls, client.ToolCall{
				ID: wireID(p.Call.ID), Type: client.ToolTypeFunction,
				Function: client.FunctionCall{Name: p.Call.Name, Arguments: callInput(p.Call)},
			})
		case p.Opaque != nil && p.Opaque.Owner == m.owner() && withReasoning:
			var o reasoningNote
			if json.Unmarshal(p.Opaque.Data, &o) == nil {
				out.ReasoningContent = o.ReasoningContent
			}
		}
	}
	return out, out.Content != "" || out.ToolCalls != nil
}

// userChat gives results as text-only messages of role tool, which must follow the call at once, and then one user
// message with the pictures of the results and whatever else was said.
func userChat(msg llm.Message) []client.ChatCompletionMessage {
	var out []client.ChatCompletionMessage
	var shown, said []client.ChatMessagePart
	for _, p := range msg.Parts {
		switch {
		case p.Result != nil:
			text := cmp.Or(resultText(p.Result), noOutput)
			if n := len(p.Result.Images); n > 0 {
				text += "\n(The picture follows.)"
				shown = append(shown, textPart("Picture from tool call "+wireID(p.Result.ID)+":"))
			}
			for _, i := range p.Result.Images {
				shown = append(shown, imagePart(i))
			}
			out = append(out, client.ChatCompletionMessage{
				Role: client.ChatMessageRoleTool, ToolCallID: wireID(p.Result.ID), Content: text,
			})
		case p.Image != nil:
			said = append(said, imagePart(*p.Image))
		case p.Text != "":
			said = append(said, textPart(p.Text))
		}
	}
	parts := append(shown, said...)
	if len(parts) == 0 {
		return out
	}
	user := client.ChatCompletionMessage{Role: client.ChatMessageRoleUser, MultiContent: parts}
	if !hasImage(parts) {
		user.Content, user.MultiContent = msg.Text(), nil // the form that every server takes
	}
	return append(out, user)
}

func hasImage(parts []client.ChatMessagePart) bool {
	for _, p := range parts {
		if p.ImageURL != nil {
			return true
		}
	}
	return false
}

func textPart(text string) client.ChatMessagePart {
	return client.ChatMessagePart{Type: client.ChatMessagePartTypeText, Text: text}
}

func imagePart(i llm.Image) client.ChatMessagePart {
	return client.ChatMessagePart{
		Type: client.ChatMessagePartTypeImageURL, ImageURL: &client.ChatMessageImageURL{URL: dataURI(i)},
	}
}

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
