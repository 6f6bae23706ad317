package openai

import (
	"encoding/json"
	"strings"

	"clank/llm"

	client "github.com/sashabaranov/go-openai"
)

// minOutputTokens is the least the Responses API accepts as a bound.
const minOutputTokens = 16

// assistantMessage replays text of the model's own. Phase says whether it was
// commentary or the answer; models since GPT-5.4 want it back.
type assistantMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Phase   string `json:"phase,omitempty"`
}

// functionCall replays a tool call. It has no item id: that would tie it to a stored reasoning item.
type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// responsesRequest asks without leaving anything at the vendor: nothing is
// stored, and reasoning travels with the conversation, encrypted.
func (m *Model) responsesRequest(req llm.Request) client.CreateResponseRequest {
	store := false
	out := client.CreateResponseRequest{
		Model:            m.Model,
		Instructions:     req.System,
		Input:            m.responsesInput(req.Messages),
		Store:            &store,
		SafetyIdentifier: req.EndUser,
	}
	if req.MaxTokens > 0 {
		out.MaxOutputTokens = max(req.MaxTokens, minOutputTokens)
	}
	if encryptsReasoning(m.Model) {
		out.Include = []client.ResponseInclude{client.ResponseIncludeReasoningEncryptedContent}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, client.Tool{Type: client.ToolTypeFunction, Parameters: map[string]any{
			"name": t.Name, "description": t.Description, "parameters": schemaOf(t),
			"strict": false, // required by the schema; the library leaves it out if false
		}})
	}
	return out
}

// encryptsReasoning says whether a model can give its reasoning in encrypted form. Those
// that cannot refuse a request for it.
func encryptsReasoning(model string) bool {
	name := model[strings.LastIndex(model, "/")+1:]
	for _, old := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, old) {
			return false
		}
	}
	return !strings.HasSuffix(name, "-chat-latest")
}

func (m *Model) responsesInput(messages []llm.Message) []any {
	items := []any{}
	for _, msg := range messages {
		if msg.Role == llm.RoleAssistant {
			items = append(items, m.assistantItems(msg.Parts)...)
		} else {
			items = append(items, userItems(msg.Parts)...)
		}
	}
	return items
}

func (m *Model) assistantItems(parts []llm.Part) []any {
	var items []any
	phase := ""
	for _, p := range parts {
		switch {
		case p.Opaque != nil && p.Opaque.Owner == m.owner():
			var about struct{ Type, Phase string }
			if json.Unmarshal(p.Opaque.Data, &about) == nil && about.Type == phaseNote {
				phase = about.Phase
				continue
			}
			items = append(items, p.Opaque.Data)
		case p.Call != nil:
			items = append(items, functionCall{"function_call", wireID(p.Call.ID), p.Call.Name, callInput(p.Call)})
		case p.Text != "":
			items = append(items, assistantMessage{string(llm.RoleAssistant), p.Text, phase})
			phase = ""
		}
	}
	return items
}

// userItems gives results as items of their own and gathers the rest into one message after them.
func userItems(parts []llm.Part) []any {
	var items, content []any
	for _, p := range parts {
		switch {
		case p.Result != nil:
			items = append(items, client.ResponseFunctionCallOutput{
				Type: "function_call_output", CallID: wireID(p.Result.ID), Output: resultOutput(p.Result),
			})
		case p.Image != nil:
			content = append(content, inputImage(*p.Image))
		case p.Text != "":
			content = append(content, client.ResponseInputText{Type: "input_text", Text: p.Text})
		}
	}
	if content != nil {
		items = append(items, client.ResponseInputMessage{Role: string(llm.RoleUser), Content: content})
	}
	return items
}

// resultOutput returns a string, or with pictures an array.
func resultOutput(r *llm.ToolResult) any {
	text := resultText(r)
	if len(r.Images) == 0 {
		return text
	}
	var output []any
	if text != "" {
		output = append(output, client.ResponseInputText{Type: "input_text", Text: text})
	}
	for _, i := range r.Images {
		output = append(output, inputImage(i))
	}
	return output
}

func inputImage(i llm.Image) client.ResponseInputImage {
	return client.ResponseInputImage{Type: "input_image", ImageURL: dataURI(i), Detail: "auto"}
}
