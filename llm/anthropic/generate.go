package anthropic

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"clank/llm"
)

// Generate implements llm.Model. An answer without any content is a reply without parts, not an error.
func (m *Model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	q := MessageRequest{
		System: req.System, MaxTokens: req.MaxTokens, EndUser: req.EndUser,
		Messages: m.messages(req.Messages),
	}
	for _, t := range req.Tools {
		q.Tools = append(q.Tools, FunctionTool(t))
	}
	for i, message := range q.Messages {
		if message.Role == RoleUser {
			q.Stable = append(q.Stable, i)
		}
	}
	got, err := m.Ask(ctx, q, onDelta)
	if err != nil {
		return llm.Reply{}, err
	}
	reply := llm.Reply{Message: llm.Message{Role: llm.RoleAssistant}, Stop: got.Stop, Usage: got.Usage}
	for _, b := range got.Blocks {
		reply.Message.Parts = append(reply.Message.Parts, m.part(b))
	}
	if reply.Stop == llm.StopRefused && strings.TrimSpace(reply.Text()) == "" {
		reply.Message.Parts = append(reply.Message.Parts, llm.Part{Text: RefusalText(got.Why)})
	}
	return reply, nil
}

// RefusalText returns what a person reads when the model declined without saying anything.
func RefusalText(why string) string {
	if why == "" {
		return "The model declined to answer."
	}
	return "The model declined to answer: " + why
}

// part returns a block in the words of package llm; what they do not have stays opaque.
func (m *Model) part(b Block) llm.Part {
	switch {
	case b.Type == "text":
		return llm.Part{Text: b.Text}
	case b.Tool != nil && b.Tool.Toolset == "":
		call := b.Tool.ToolCall
		return llm.Part{Call: &call}
	}
	return llm.Part{Opaque: &llm.Opaque{Owner: m.Owner(), Data: b.Raw}}
}

// omittedText stands where the API wants a message of the user and there is none.
const omittedText = "(go on)"

// messages returns the messages that the API takes: roles alternate, the user begins and ends, and each call is
// answered at the beginning of the next message.
func (m *Model) messages(all []llm.Message) []Message {
	var out []Message
	var open []string // calls of the assistant's message before
	for _, message := range mergeRoles(all) {
		if message.Role == llm.RoleAssistant {
			content, calls := m.assistantBlocks(message.Parts)
			if len(content) == 0 {
				continue
			}
			out = appendMessage(out, RoleAssistant, content)
			open = append(open, calls...)
			continue
		}
		out = appendMessage(out, RoleUser, userBlocks(message.Parts, open))
		open = nil
	}
	if n := len(out); n == 0 || out[n-1].Role != RoleUser {
		content := userBlocks(nil, open)
		if len(content) == 0 {
			content = []Content{NewText(omittedText)}
		}
		out = appendMessage(out, RoleUser, content)
	}
	return out
}

// appendMessage adds content, to the last message if that is of the same role.
func appendMessage(out []Message, role string, content []Content) []Message {
	if len(content) == 0 {
		return out
	}
	if n := len(out); n > 0 && out[n-1].Role == role {
		out[n-1].Content = append(out[n-1].Content, content...)
		return out
	}
	if len(out) == 0 && role == RoleAssistant {
		out = append(out, Message{Role: RoleUser, Content: OptionalText(omittedText)})
	}
	return append(out, Message{Role: role, Content: content})
}

// mergeRoles joins neighbours of the same role, so that all answers to one message are in one.
func mergeRoles(all []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range all {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Parts = append(slices.Clip(out[n-1].Parts), m.Parts...)
			continue
		}
		out = append(out, m)
	}
	return out
}

func (m *Model) assistantBlocks(parts []llm.Part) (content []Content, calls []string) {
	says := false
	for _, p := range parts {
		switch {
		case p.Call != nil:
			says = true
			calls = append(calls, p.Call.ID)
			content = append(content, RawBlock(encodeJSON(toolUseBlock{
				Type: "tool_use", ID: WireID(p.Call.ID), Name: p.Call.Name, Input: objectOf(p.Call.Input),
			})))
		case p.Opaque != nil && p.Opaque.Owner == m.Owner():
			content = append(content, RawBlock(p.Opaque.Data))
		case p.Text != "":
			words := OptionalText(p.Text)
			says = says || len(words) > 0
			content = append(content, words...)
		}
	}
	if !says { // thoughts alone are not taken back
		return nil, nil
	}
	return content, calls
}

func objectOf(input json.RawMessage) json.RawMessage {
	if trimmed := strings.TrimSpace(string(input)); strings.HasPrefix(trimmed, "{") && json.Valid(input) {
		return input
	}
	return json.RawMessage("{}")
}

// userBlocks answers open calls first, each once and in their order, and then says the rest. A call without an answer
// is said to have none; an answer to no open call becomes text.
func userBlocks(parts []llm.Part, open []string) []Content {
	results := map[string]*llm.ToolResult{}
	var rest []Content
	for _, p := range parts {
		switch {
		case p.Result != nil && slices.Contains(open, p.Result.ID) && results[p.Result.ID] == nil:
			results[p.Result.ID] = p.Result
		case p.Result != nil:
			rest = append(rest, OptionalText("Result of an earlier tool call: "+p.Result.Text)...)
		case p.Image != nil:
			rest = append(rest, NewImage(*p.Image))
		default:
			rest = append(rest, OptionalText(p.Text)...)
		}
	}
	var content []Content
	for _, id := range open {
		r := results[id]
		if r == nil {
			content = append(content, NewResult(id, "", "There is no result: the call was not carried out.", nil, true))
			continue
		}
		content = append(content, NewResult(id, "", r.Text, NewImages(r.Images), r.IsError))
	}
	return append(content, rest...)
}
