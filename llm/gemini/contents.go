package gemini

import (
	"cmp"
	"encoding/json"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

// What stands for nothing: the API wants each turn to have a part.
const (
	noOutput  = "(no output)"
	noAnswer  = "this call was not answered"
	toolError = "the tool failed"
)

// contentWriter writes messages as contents. The vendor wants roles to take turns and
// each call answered in the turn after it, by its name.
type contentWriter struct {
	owner           string
	imagesInResults bool

	out     []*Content
	pending []*FunctionCall // calls of the last content, not answered yet
	ids     []string        // theirs in package llm
}

func (w *contentWriter) contents(messages []llm.Message) []*Content {
	for _, msg := range messages {
		if msg.Role == llm.RoleAssistant {
			w.answerOpenCalls()
			w.append(RoleModel, w.modelParts(msg.Parts))
		} else {
			w.append(RoleUser, w.userParts(msg.Parts))
		}
	}
	w.answerOpenCalls()
	return w.out
}

// append adds parts to the last content if it has the same role, so that turns alternate.
func (w *contentWriter) append(role string, parts []*Part) {
	if len(parts) == 0 {
		return
	}
	if last := len(w.out) - 1; last >= 0 && w.out[last].Role == role {
		w.out[last].Parts = append(w.out[last].Parts, parts...)
		return
	}
	w.out = append(w.out, &Content{Role: role, Parts: parts})
}

// answerOpenCalls answers the calls that nobody has, as happens when a task was
// stopped between a call and its result.
func (w *contentWriter) answerOpenCalls() {
	var parts []*Part
	for len(w.pending) > 0 {
		parts = append(parts, w.respond(0, map[string]any{"error": noAnswer}, nil))
	}
	if len(parts) == 0 {
		return
	}
	if last := w.out[len(w.out)-1]; last.Role == RoleUser {
		last.Parts = append(parts, last.Parts...) // results before what is said beside them
		return
	}
	w.append(RoleUser, parts)
}

func (w *contentWriter) modelParts(parts []llm.Part) []*Part {
	var out []*Part
	var about opaqueNote // of the part that follows
	for _, p := range parts {
		if p.Opaque != nil {
			if p.Opaque.Owner != w.owner {
				continue
			}
			about = opaqueNote{}
			if json.Unmarshal(p.Opaque.Data, &about) == nil && about.Part != nil {
				out = append(out, about.Part)
			}
			continue
		}
		switch {
		case p.Call != nil && p.Call.Malformed != "":
			out = append(out, &Part{Text: "(I called a tool in a way that could not be read: " +
				transport.OneLine(p.Call.Malformed) + ")"})
		case p.Call != nil:
			call := &FunctionCall{ID: wireID(p.Call.ID), Name: p.Call.Name, Args: argsOf(p.Call.Input)}
			part := &Part{FunctionCall: call}
			if about.Call == p.Call.ID {
				part.ThoughtSignature = about.Signature
			}
			out = append(out, part)
			w.pending, w.ids = append(w.pending, call), append(w.ids, p.Call.ID)
		case p.Text != "":
			out = append(out, splitText(p.Text, about.Pieces)...)
		}
		about = opaqueNote{} // it was about this part, or about one that is gone
	}
	return out
}

// splitText returns a text as the parts it came in, or, if it is not that text any more, as one without signature.
func splitText(text string, pieces []textPiece) []*Part {
	whole := []*Part{{Text: text}}
	var parts []*Part
	for _, p := range pieces {
		if p.Size < 0 || p.Size > len(text) {
			return whole
		}
		parts = append(parts, &Part{Text: text[:p.Size], ThoughtSignature: p.Signature})
		text = text[p.Size:]
	}
	if len(parts) == 0 || text != "" {
		return whole
	}
	return parts
}

// userParts gives results first, then what is said and shown beside them.
func (w *contentWriter) userParts(parts []llm.Part) []*Part {
	var results, rest []*Part
	for _, p := range parts {
		switch {
		case p.Result != nil:
			answered, beside := w.result(p.Result)
			results, rest = append(results, answered...), append(rest, beside...)
		case p.Image != nil:
			rest = append(rest, imagePart(*p.Image))
		case p.Text != "":
			rest = append(rest, &Part{Text: p.Text})
		}
	}
	return append(results, rest...)
}

// result returns a tool result as the answer of its call, and what has to stand
// beside it. A result without its call becomes text.
func (w *contentWriter) result(r *llm.ToolResult) (answered, beside []*Part) {
	var inside []*FunctionResponsePart
	for _, i := range r.Images {
		if w.imagesInResults {
			inside = append(inside, &FunctionResponsePart{InlineData: imageBlob(i)})
		} else {
			beside = append(beside, imagePart(i))
		}
	}
	for i, id := range w.ids {
		if id == r.ID {
			return []*Part{w.respond(i, responseFields(r), inside)}, beside
		}
	}
	beside = nil
	for _, i := range r.Images {
		beside = append(beside, imagePart(i))
	}
	text := cmp.Or(r.Text, noOutput)
	return nil, append([]*Part{{Text: text}}, beside...)
}

// respond answers pending call i and takes it off the list.
func (w *contentWriter) respond(i int, body map[string]any, inside []*FunctionResponsePart) *Part {
	call := w.pending[i]
	w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
	w.ids = append(w.ids[:i:i], w.ids[i+1:]...)
	return &Part{FunctionResponse: &FunctionResponse{ID: call.ID, Name: call.Name, Response: body, Parts: inside}}
}

// responseFields returns what a result says, under the names the API gives meaning to.
func responseFields(r *llm.ToolResult) map[string]any {
	switch {
	case r.IsError:
		return map[string]any{"error": cmp.Or(r.Text, toolError)}
	case strings.TrimSpace(r.Text) == "" && len(r.Images) == 0:
		return map[string]any{"output": noOutput}
	}
	return map[string]any{"output": r.Text}
}

func imagePart(i llm.Image) *Part { return &Part{InlineData: imageBlob(i)} }

func imageBlob(i llm.Image) *Blob { return &Blob{Data: i.Data, MIMEType: i.MediaType} }

func argsOf(input json.RawMessage) map[string]any {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil || args == nil {
		return map[string]any{}
	}
	return args
}
