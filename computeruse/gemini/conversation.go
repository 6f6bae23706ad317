package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"clank/computeruse"
	"clank/llm"
	"clank/llm/gemini"
)

// keepPictures is how many pictures the model sees: the newest.
const keepPictures = 3

// conversation is one conversation.
type conversation struct {
	storedConversation

	model     *Model
	toolNames map[string]bool // names of the loop's tools
	config    gemini.Config
}

// Next implements [computeruse.Conversation].
func (t *conversation) Next(ctx context.Context, in computeruse.Input) (computeruse.Turn, error) {
	t.addInput(in)
	config := t.config
	if in.MaxTokens > 0 {
		config.MaxOutputTokens = int32(min(in.MaxTokens, 1<<30))
	}
	if in.Final {
		config.ToolConfig = &gemini.ToolConfig{FunctionCallingConfig: &gemini.FunctionCallingConfig{Mode: gemini.ModeNone}}
	}
	answer, err := t.model.model.Ask(ctx, t.Contents, config, nil)
	if err != nil {
		return computeruse.Turn{}, err
	}
	if len(answer.Content.Parts) > 0 {
		t.Contents = append(t.Contents, answer.Content)
	}
	return t.readTurn(answer), nil
}

// addInput adds what happened as the user's part of the conversation, and drops pictures that are too old.
func (t *conversation) addInput(in computeruse.Input) {
	parts := t.answerCalls(in)
	for _, said := range in.Says {
		if strings.TrimSpace(said) != "" {
			parts = append(parts, &gemini.Part{Text: said})
		}
	}
	if in.Shot != nil {
		t.Size, t.URL = in.Shot.Size, in.Shot.URL
		parts = addScreenshot(parts, *in.Shot)
	}
	if len(parts) == 0 && (len(t.Contents) == 0 || t.Contents[len(t.Contents)-1].Role == gemini.RoleModel) {
		parts = []*gemini.Part{{Text: "Go on."}} // the API wants the user to have the last word
	}
	if last := len(t.Contents) - 1; last >= 0 && t.Contents[last].Role == gemini.RoleUser {
		t.Contents[last].Parts = append(t.Contents[last].Parts, parts...) // sent already, but not answered
	} else {
		t.Contents = append(t.Contents, &gemini.Content{Role: gemini.RoleUser, Parts: parts})
	}
	t.Contents = withoutOldImages(t.Contents, keepPictures)
}

// addScreenshot adds the screenshot to the last tool result, as the vendor requires, or to the text if there is none.
func addScreenshot(parts []*gemini.Part, s computeruse.Screenshot) []*gemini.Part {
	for _, p := range slices.Backward(parts) {
		if p.FunctionResponse != nil {
			p.FunctionResponse.Parts = append(p.FunctionResponse.Parts, responseImage(s.Image))
			if s.N > 0 {
				p.FunctionResponse.Response["picture"] = s.N
			}
			return parts
		}
	}
	return append(parts, &gemini.Part{Text: s.Note()}, &gemini.Part{InlineData: imageBlob(s.Image)})
}

// unknownResultText answers a call of which nothing is known, as after a restart.
const unknownResultText = "not done: the task was interrupted"

// answerCalls answers every call the model waits for, in its order.
func (t *conversation) answerCalls(in computeruse.Input) []*gemini.Part {
	url := t.URL
	if in.Shot != nil {
		url = in.Shot.URL
	}
	var parts, words []*gemini.Part
	for _, p := range t.Pending {
		var body map[string]any
		var images []llm.Image
		if p.Tool {
			body, images = resultBody(in, p.ID)
		} else {
			body, images = outcomeBody(in, p.ID)
			body["url"] = url
		}
		if p.Garbled {
			said, _ := body["error"].(string)
			words = append(words, &gemini.Part{Text: "Your last function call could not be used. " + said})
			continue
		}
		response := &gemini.FunctionResponse{ID: p.Wire, Name: p.Name, Response: body}
		for _, i := range images {
			response.Parts = append(response.Parts, responseImage(i))
		}
		parts = append(parts, &gemini.Part{FunctionResponse: response})
	}
	t.Pending = nil
	return append(parts, words...)
}

func outcomeBody(in computeruse.Input, id string) (map[string]any, []llm.Image) {
	o, known := in.Outcome(id)
	body := map[string]any{}
	switch {
	case !known:
		body["error"] = unknownResultText
	case o.Err != "":
		body["error"] = o.Err
	case o.Skipped:
		body["error"] = "not done: an action before it failed"
	case o.Text != "":
		body["output"] = o.Text
	}
	if len(o.Acknowledged) > 0 {
		body["safety_acknowledgement"] = "true"
	}
	if o.Image != nil {
		return body, []llm.Image{*o.Image}
	}
	return body, nil
}

func resultBody(in computeruse.Input, id string) (map[string]any, []llm.Image) {
	res, known := in.Result(id)
	switch {
	case !known:
		return map[string]any{"error": unknownResultText}, nil
	case res.IsError:
		return map[string]any{"error": cmp.Or(res.Text, "the tool failed")}, res.Images
	}
	return map[string]any{"output": res.Text}, res.Images
}

// readTurn returns an answer in the words of the loop; what it calls is pending from then on.
func (t *conversation) readTurn(answer gemini.Response) computeruse.Turn {
	out := computeruse.Turn{Stop: answer.Stop(), Usage: answer.Usage}
	var said, thought []string
	seen := map[string]bool{}
	goesOn := false // the part before was text too: a signature divides in the middle of words
	for _, p := range answer.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			t.addCall(p.FunctionCall, seen, &out)
		case p.Text != "" && p.Thought:
			thought = append(thought, p.Text)
		case p.Text != "" && goesOn:
			said[len(said)-1] += p.Text
		case p.Text != "":
			said = append(said, p.Text)
		}
		goesOn = p.Text != "" && !p.Thought
	}
	if garbled := answer.MalformedCall(); garbled != "" {
		t.Pending = append(t.Pending, pendingCall{ID: "garbled", Garbled: true})
		out.Calls = append(out.Calls, computeruse.Call{ID: "garbled", Actions: unknownAction(garbled)})
	}
	out.Text, out.Reasoning = strings.Join(said, "\n\n"), strings.Join(thought, "\n\n")
	return out
}

// addCall adds one call to the turn: of a tool of the loop, or an action.
func (t *conversation) addCall(f *gemini.FunctionCall, seen map[string]bool, out *computeruse.Turn) {
	call := gemini.ToolCallOf(f, seen)
	p := pendingCall{ID: call.ID, Wire: f.ID, Name: f.Name}
	safety := safetyOf(call.ID, f.Args)
	if t.toolNames[f.Name] && safety == nil {
		p.Tool = true
		out.Tools = append(out.Tools, withoutNotes(call, f.Args))
	} else {
		intent, _ := f.Args["intent"].(string)
		c := computeruse.Call{ID: call.ID, Intent: intent, Safety: safety}
		if t.model.hasAction(f.Name) {
			c.Actions = decodeAction(f.Name, f.Args, t.Size)
		} else {
			c.Actions = unknownAction(f.Name)
		}
		out.Calls = append(out.Calls, c)
	}
	t.Pending = append(t.Pending, p)
}

// withoutNotes returns a tool call without arguments that the vendor adds to every call and our schemas do not know.
func withoutNotes(call llm.ToolCall, args map[string]any) llm.ToolCall {
	if args["safety_decision"] == nil {
		return call
	}
	kept := map[string]any{}
	for k, v := range args {
		if k != "safety_decision" {
			kept[k] = v
		}
	}
	if input, err := json.Marshal(kept); err == nil { // args came from JSON
		call.Input = input
	}
	return call
}

// safetyOf returns the vendor's warning about a call: every decision of its check but that the action is usual.
func safetyOf(id string, args map[string]any) []computeruse.SafetyWarning {
	raw, there := args["safety_decision"]
	if !there || raw == nil {
		return nil
	}
	decision, explanation := "", ""
	switch d := raw.(type) {
	case string:
		decision = d
	case map[string]any:
		decision, _ = d["decision"].(string)
		explanation, _ = d["explanation"].(string)
	}
	switch strings.ToLower(decision) {
	case "regular", "allowed":
		return nil
	case "":
		decision = "unknown"
	}
	return []computeruse.SafetyWarning{{ID: id, Code: decision, Message: explanation}}
}
