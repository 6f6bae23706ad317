package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"clank/llm"
)

// Tool is what the model may call: a function of ours, which has a name and a
// schema, or tools of the vendor's, which have a type.
type Tool struct {
	Type          string                  `json:"type,omitempty"`
	Name          string                  `json:"name,omitempty"`
	Description   string                  `json:"description,omitempty"`
	InputSchema   json.RawMessage         `json:"input_schema,omitempty"`
	Configs       map[string]MemberConfig `json:"configs,omitempty"`          // of a toolset, by member
	DisplayWidth  int                     `json:"display_width_px,omitempty"` // of a beta tool
	DisplayHeight int                     `json:"display_height_px,omitempty"`
	EnableZoom    bool                    `json:"enable_zoom,omitempty"`
	CacheControl  *cacheControl           `json:"cache_control,omitempty"`
}

// MemberConfig says whether a member of a toolset is offered. All are unless it is said.
type MemberConfig struct {
	Enabled bool `json:"enabled"`
}

// FunctionTool describes a tool of ours.
func FunctionTool(t llm.Tool) Tool {
	tool := Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}
	if len(t.Schema) == 0 {
		tool.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	return tool
}

// requestBody is the body of a request: the fields that we send of those that the
// reference has for "Create a Message".
type requestBody struct {
	Model      string      `json:"model"`
	MaxTokens  int         `json:"max_tokens"`
	Stream     bool        `json:"stream"`
	Metadata   *metadata   `json:"metadata,omitempty"`
	ToolChoice *toolChoice `json:"tool_choice,omitempty"`
	Tools      []Tool      `json:"tools,omitempty"`
	System     []Content   `json:"system,omitempty"`
	Messages   []Message   `json:"messages"`
}

type metadata struct {
	UserID string `json:"user_id"`
}

type toolChoice struct {
	Type string `json:"type"`
}

// maxStable is how many messages are marked for the cache. The API takes four
// marks; two are on the tools and on the instructions.
const maxStable = 2

// body returns the request body for q, which is not changed.
func (m *Model) body(q MessageRequest) ([]byte, error) {
	maxTokens := min(cmp.Or(max(0, q.MaxTokens), defaultMaxTokens), m.traits.maxOutput)
	r := requestBody{
		Model: m.Model, MaxTokens: maxTokens, Stream: true,
		Messages: markMessages(q.Messages, q.Stable), Tools: markTools(q.Tools),
	}
	if q.System != "" {
		system, _ := NewText(q.System).marked()
		r.System = []Content{system}
	}
	if q.EndUser != "" {
		r.Metadata = &metadata{UserID: q.EndUser}
	}
	if q.NoCalls && len(q.Tools) > 0 && m.traits.prefix != "" { // no choice is forced by it, which some models refuse
		r.ToolChoice = &toolChoice{Type: "none"}
	}
	body, err := llm.MarshalJSON(r)
	if err != nil {
		return nil, &llm.Error{Kind: llm.ErrRejected, Model: m.Name(), Message: "the request cannot be written: " +
			err.Error(), Err: err}
	}
	return body, nil
}

// markTools marks the last tool, and so all of them, for the cache.
func markTools(tools []Tool) []Tool {
	marked := slices.Clone(tools)
	if n := len(marked); n > 0 {
		marked[n-1].CacheControl = ephemeral
	}
	return marked
}

// markMessages marks the ends of the messages at these indexes, the newest
// ones if there are too many. The messages given are not changed.
func markMessages(messages []Message, stable []int) []Message {
	marked := slices.Clone(messages)
	left := maxStable
	for i := range slices.Backward(marked) {
		if left > 0 && slices.Contains(stable, i) && markLast(&marked[i]) {
			left--
		}
	}
	return marked
}

func markLast(m *Message) bool {
	n := len(m.Content)
	if n == 0 {
		return false
	}
	last, ok := m.Content[n-1].marked()
	m.Content = append(slices.Clip(m.Content[:n-1]), last)
	return ok
}

// apiVersion is the version of the API whose shapes are in this package.
const apiVersion = "2023-06-01"

// newRequest asks for a stream of events. Its headers are those of the vendor's
// own client, without the headers that describe it and this computer.
func (m *Model) newRequest(ctx context.Context, body []byte, betas []string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Anthropic-Version", apiVersion)
	if m.Key != "" {
		req.Header.Set("X-Api-Key", m.Key)
	}
	if len(betas) > 0 {
		req.Header.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	return req, nil
}
