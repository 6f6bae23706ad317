package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// Role says who speaks in a [Message].
type Role string

// The roles. Tool results travel in messages of [RoleUser], as most vendors
// want it; instructions travel in [Request.System].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of a conversation. It marshals to JSON and back without loss, so a conversation can be stored.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one piece of a [Message]. Exactly one field is set.
type Part struct {
	Text   string      `json:"text,omitempty"`
	Image  *Image      `json:"image,omitempty"`
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	Opaque *Opaque     `json:"opaque,omitempty"`
}

// Image is a picture: its bytes as they are on disk, and their media type ("image/png", "image/jpeg", "image/webp").
// Caption says what it shows, for people who cannot see it; models are not told it.
type Image struct {
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
	Caption   string `json:"caption,omitempty"`
}

// ToolCall is a model's wish to use a tool. Input is always a JSON object; a
// backend whose model sent anything else sets Malformed to what it sent.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Malformed string          `json:"malformed,omitempty"`
}

// ToolResult answers the [ToolCall] with the same ID. Text may be empty.
// IsError tells the model that the tool failed.
type ToolResult struct {
	ID      string  `json:"id"`
	Text    string  `json:"text"`
	Images  []Image `json:"images,omitempty"`
	IsError bool    `json:"is_error,omitempty"`
}

// Opaque is state that only the backend that made it understands (reasoning items, thinking signatures). It is
// replayed to that backend unchanged and dropped for every other.
type Opaque struct {
	Owner string          `json:"owner"`
	Data  json.RawMessage `json:"data"`
}

// Tool describes a tool to the model. Schema is a JSON Schema object of type "object".
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Request is one call of a model.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int    // upper bound of the answer in tokens; 0 leaves it to the model
	EndUser   string // hashed id of the person served, for vendors that ask for one; may be empty
}

// Delta is what a streaming model has said since the last one.
type Delta struct {
	Text      string
	Reasoning string // readable summary of reasoning, where the vendor gives one
}

// StopReason says why an answer ended.
type StopReason string

// The reasons an answer ends. A refusal is an answer, not an error: the reply's text says what the model said.
const (
	StopEnd     StopReason = "end"      // the model has said what it wanted
	StopTools   StopReason = "tools"    // it waits for tool results
	StopLength  StopReason = "length"   // it ran into the token limit
	StopRefused StopReason = "refused"  // it declined, or could not do what it was asked; the text says why
	StopFilter  StopReason = "filtered" // the vendor withheld the rest
	StopUnknown StopReason = "unknown"  // the server gave no reason we know
)

// Reply is a model's whole answer.
type Reply struct {
	Message Message // role assistant
	Stop    StopReason
	Usage   Usage
}

// Text returns the reply's text parts, joined by blank lines.
func (r Reply) Text() string { return r.Message.Text() }

// Calls returns the reply's tool calls, in order.
func (r Reply) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range r.Message.Parts {
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Text returns the message's text parts, joined by blank lines.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Caps says what a model can do, so that a wrong choice is reported before a vendor refuses it.
type Caps struct {
	Tools       bool // calls tools
	Vision      bool // sees images in messages
	ToolImages  bool // sees images inside tool results
	ContextSize int  // tokens; 0 = unknown
	Computer    bool // works a screen with mouse and keyboard by tools of its vendor
	Literal     bool // does what the person wrote, word for word, and nothing of its own accord
	Described   bool // gets images as words of another model, who is asked the tool call's "question", if there is one
}

// Model is one language model, ready to be asked. Implementations are safe for
// concurrent use and keep no state between calls.
//
// Generate asks the model and blocks until the whole answer is there, calling onDelta (which may be nil) with each
// piece as it arrives, from the calling goroutine. When ctx ends it returns at once with [context.Cause] of ctx, and
// no byte is sent to the vendor after that. Other failures are an [*Error].
type Model interface {
	// Name is "provider:model", as people write it in settings.
	Name() string
	Caps() Caps
	Generate(ctx context.Context, req Request, onDelta func(Delta)) (Reply, error)
}

// MarshalJSON returns v as JSON, with text as it is: without the HTML escaping of [json.Marshal].
func MarshalJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// UserText returns a user message of one text part.
func UserText(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}
