package openai

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"clank/llm"
)

// callDelta is a piece of a tool call, as chat completions stream it.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; some servers send the object itself
	} `json:"function"`
}

// callBuilder puts tool calls together. Servers differ: most number the calls and name each once; some send no
// number, or 0 for all; some repeat id and name with every piece; some send whole calls at once.
type callBuilder struct {
	calls   []*partialCall
	current map[int]*partialCall // by the server's number
	last    *partialCall
}

type partialCall struct {
	id, name  string
	arguments []byte
}

func (b *callBuilder) add(d callDelta) {
	arguments := argumentText(d.Function.Arguments)
	c := b.find(d)
	if c == nil || startsCall(c, d, arguments) {
		c = &partialCall{id: d.ID, name: d.Function.Name}
		b.calls = append(b.calls, c)
	}
	c.id = cmp.Or(c.id, d.ID)
	c.name = cmp.Or(c.name, d.Function.Name)
	c.arguments = append(c.arguments, arguments...)
	b.last = c
	if d.Index != nil {
		if b.current == nil {
			b.current = map[int]*partialCall{}
		}
		b.current[*d.Index] = c
	}
}

// find returns the call a piece may belong to, nil if it begins one.
func (b *callBuilder) find(d callDelta) *partialCall {
	if d.Index != nil {
		return b.current[*d.Index]
	}
	if d.ID != "" {
		for _, c := range slices.Backward(b.calls) {
			if c.id == d.ID {
				return c
			}
		}
		return nil
	}
	return b.last
}

// startsCall reports whether a piece is a call of its own though its number is
// that of c: it has another id, or a name and arguments when c has all of its.
func startsCall(c *partialCall, d callDelta, arguments []byte) bool {
	if d.ID != "" && c.id != "" && d.ID != c.id {
		return true
	}
	return d.Function.Name != "" && c.name != "" && len(arguments) > 0 && isObject(c.arguments)
}

// finished returns the calls, with ids that differ.
func (b *callBuilder) finished() []llm.ToolCall {
	var calls []llm.ToolCall
	seen := map[string]bool{}
	for _, c := range b.calls {
		if c.id == "" || seen[c.id] {
			c.id = "call_" + rand.Text()
		}
		seen[c.id] = true
		calls = append(calls, toolCall(c.id, c.name, c.arguments))
	}
	return calls
}

// toolCall returns a call whose input is sound or whose arguments are marked
// malformed. No arguments at all are an empty object.
func toolCall(id, name string, arguments []byte) llm.ToolCall {
	name = cmp.Or(name, "unnamed")
	c := llm.ToolCall{ID: id, Name: name, Input: json.RawMessage("{}")}
	arguments = bytes.TrimSpace(arguments)
	switch {
	case len(arguments) == 0 || string(arguments) == "null":
	case isObject(arguments):
		c.Input = json.RawMessage(bytes.Clone(arguments))
	default:
		c.Malformed = string(arguments)
	}
	return c
}

func isObject(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && data[0] == '{' && json.Valid(data)
}

func argumentText(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil { // null too
		return []byte(s)
	}
	return raw
}

// wireID fits an id from elsewhere into what OpenAI takes: 1 to 64 characters. The same id always becomes the same.
func wireID(id string) string {
	if id != "" && len(id) <= 64 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}
