package llmtest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"clank/llm"
)

// decodeStrict decodes JSON and rejects unknown fields.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// decodeContent decodes the content of a message in either API: a string, null, or an array of text and image parts.
func decodeContent(raw json.RawMessage) ([]llm.Part, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []llm.Part{{Text: text}}, nil
	}
	var items []struct {
		Type, Text string
		ImageURL   json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("decode content: %w", err)
	}
	var parts []llm.Part
	for _, it := range items {
		if !strings.HasSuffix(it.Type, "image_url") && !strings.HasSuffix(it.Type, "image") {
			parts = append(parts, llm.Part{Text: it.Text})
			continue
		}
		image, err := decodeImage(it.ImageURL)
		if err != nil {
			return nil, err
		}
		parts = append(parts, llm.Part{Image: image})
	}
	return parts, nil
}

// decodeImage decodes a data URI, bare (Responses) or in an object (chat).
func decodeImage(raw json.RawMessage) (*llm.Image, error) {
	var uri string
	if json.Unmarshal(raw, &uri) != nil {
		var o struct{ URL string }
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, fmt.Errorf("decode image: %w", err)
		}
		uri = o.URL
	}
	mediaType, data, ok := strings.Cut(strings.TrimPrefix(uri, "data:"), ";base64,")
	if !ok {
		return nil, errors.New("decode image: not a data URI")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, fmt.Errorf("decode image: %w", err)
	}
	return &llm.Image{MediaType: mediaType, Data: raw}, nil
}

type wireTool struct {
	Type, Name, Description string
	Parameters              json.RawMessage
}

// tool converts a function, or a vendor tool of a type.
func (t wireTool) tool() llm.Tool {
	if t.Name == "" && t.Type != "function" {
		t.Name = t.Type
	}
	return llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters}
}

// appendParts appends parts to the last message if it has the same role, otherwise to a new one.
func appendParts(into *Request, role llm.Role, parts ...llm.Part) {
	if n := len(into.Messages); n > 0 && into.Messages[n-1].Role == role {
		into.Messages[n-1].Parts = append(into.Messages[n-1].Parts, parts...)
		return
	}
	into.Messages = append(into.Messages, llm.Message{Role: role, Parts: parts})
}

// splitText splits text into the chunks of a stream: words with the following space.
func splitText(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

func callID(c Call, n, i int) string { return cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", n, i)) }

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
