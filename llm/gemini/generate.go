package gemini

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"clank/llm"
)

// Generate implements llm.Model by [Model.Ask]. An answer that the vendor
// withheld, or one without any content, is a reply without parts, not an error.
func (m *Model) Generate(ctx context.Context, req llm.Request, onDelta func(llm.Delta)) (llm.Reply, error) {
	tools, err := DeclareTools(req.Tools)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrRejected, Model: m.Name(), Message: err.Error(), Err: err}
	}
	config := Config{
		System: req.System, Tools: tools,
		MaxOutputTokens: int32(min(req.MaxTokens, math.MaxInt32)), //nolint:gosec // bounded
	}
	w := contentWriter{owner: m.owner(), imagesInResults: !isOld(m.Model)}
	answer, err := m.Ask(ctx, w.contents(req.Messages), config, onDelta)
	if err != nil {
		return llm.Reply{}, err
	}
	return llm.Reply{Message: m.message(answer), Stop: answer.Stop(), Usage: answer.Usage}, nil
}

// DeclareTools returns tools as the API takes them, with their JSON Schema unchanged. It keeps the order, so
// that the same tools begin each request alike.
func DeclareTools(tools []llm.Tool) ([]*Tool, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var functions []*FunctionDeclaration
	for _, t := range tools {
		f := &FunctionDeclaration{Name: t.Name, Description: t.Description}
		if len(t.Schema) > 0 {
			var schema map[string]any
			if err := json.Unmarshal(t.Schema, &schema); err != nil {
				return nil, fmt.Errorf("the schema of tool %s is not a JSON object: %w", t.Name, err)
			}
			f.ParametersJSONSchema = schema
		}
		functions = append(functions, f)
	}
	return []*Tool{{FunctionDeclarations: functions}}, nil
}

// owner marks what only this model of this server understands.
func (m *Model) owner() string { return m.Endpoint.Host + " " + m.Model }

// opaqueNote is our opaque part: a part of the vendor's that package llm has no words for, the signature of the call
// that follows, or how the text that follows was divided into parts, and which of them were signed.
type opaqueNote struct {
	Part      *Part       `json:"part,omitempty"`
	Call      string      `json:"call,omitempty"` // its id
	Signature string      `json:"signature,omitempty"`
	Pieces    []textPiece `json:"pieces,omitempty"`
}

// textPiece is a part of a text.
type textPiece struct {
	Size      int    `json:"size"` // in bytes
	Signature string `json:"signature,omitempty"`
}

// messageReader reads an answer into a message.
type messageReader struct {
	owner string
	out   []llm.Part
	texts []*Part // that follow each other, not written yet
}

// message returns an answer in the words of package llm.
func (m *Model) message(a Response) llm.Message {
	r := messageReader{owner: m.owner()}
	seen := map[string]bool{}
	for _, p := range a.Content.Parts {
		if p.isText() && !p.Thought {
			r.texts = append(r.texts, p)
			continue
		}
		r.text()
		if p.FunctionCall == nil {
			r.addOpaque(opaqueNote{Part: p})
			continue
		}
		call := ToolCallOf(p.FunctionCall, seen)
		if p.ThoughtSignature != "" {
			r.addOpaque(opaqueNote{Call: call.ID, Signature: p.ThoughtSignature})
		}
		r.out = append(r.out, llm.Part{Call: &call})
	}
	r.text()
	if garbled := a.MalformedCall(); garbled != "" {
		r.out = append(r.out, llm.Part{Call: &llm.ToolCall{
			ID: ownIDPrefix + rand.Text(), Name: unnamedCall, Input: json.RawMessage("{}"), Malformed: garbled,
		}})
	}
	return llm.Message{Role: llm.RoleAssistant, Parts: r.out}
}

// text writes the texts gathered as one.
func (r *messageReader) text() {
	var text strings.Builder
	var pieces []textPiece
	signed := false
	for _, p := range r.texts {
		text.WriteString(p.Text)
		pieces = append(pieces, textPiece{Size: len(p.Text), Signature: p.ThoughtSignature})
		signed = signed || p.ThoughtSignature != ""
	}
	whole := text.String()
	switch {
	case whole == "":
		for _, p := range r.texts {
			r.addOpaque(opaqueNote{Part: p})
		}
	case signed:
		r.addOpaque(opaqueNote{Pieces: pieces})
		fallthrough
	default:
		r.out = append(r.out, llm.Part{Text: whole})
	}
	r.texts = nil
}

func (r *messageReader) addOpaque(n opaqueNote) {
	data, err := json.Marshal(n)
	if err != nil { // parts came from JSON
		return
	}
	r.out = append(r.out, llm.Part{Opaque: &llm.Opaque{Owner: r.owner, Data: data}})
}

const (
	ownIDPrefix = "clank_" // begins ids that we made, because the model gave none
	unnamedCall = "unnamed"
)

// ToolCallOf returns a call in the words of package llm. Ids missing or already in seen
// are replaced; the id is added to seen.
func ToolCallOf(f *FunctionCall, seen map[string]bool) llm.ToolCall {
	call := llm.ToolCall{ID: f.ID, Name: cmp.Or(f.Name, unnamedCall), Input: json.RawMessage("{}")}
	if call.ID == "" || seen[call.ID] {
		call.ID = ownIDPrefix + rand.Text()
	}
	seen[call.ID] = true
	if len(f.Args) > 0 {
		input, err := json.Marshal(f.Args)
		if err != nil { // args came from JSON
			call.Malformed = err.Error()
			return call
		}
		call.Input = input
	}
	return call
}

// wireID returns an id as the model knows it: none, where we made it.
func wireID(id string) string {
	if strings.HasPrefix(id, ownIDPrefix) {
		return ""
	}
	return id
}
