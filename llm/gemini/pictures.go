package gemini

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"

	"google.golang.org/genai"
)

// pictures are kept from the client library, which would encode and decode each
// of them several times before it sends it: contents go in with a mark in place
// of the bytes, and the bytes take its place in the finished body.
type pictures struct {
	data  [][]byte
	marks []string // as the body has them
}

// without returns contents with marks for pictures. Contents is not changed.
func (s *pictures) without(contents []*genai.Content) []*genai.Content {
	out := make([]*genai.Content, len(contents))
	for i, c := range contents {
		copied := genai.Content{Role: c.Role, Parts: make([]*genai.Part, len(c.Parts))}
		for j, p := range c.Parts {
			copied.Parts[j] = s.part(p)
		}
		out[i] = &copied
	}
	return out
}

func (s *pictures) part(p *genai.Part) *genai.Part {
	copied := *p
	switch {
	case p.InlineData != nil && len(p.InlineData.Data) > 0:
		blob := *p.InlineData
		blob.Data = s.stand(blob.Data)
		copied.InlineData = &blob
	case p.FunctionResponse != nil && len(p.FunctionResponse.Parts) > 0:
		response := *p.FunctionResponse
		response.Parts = nil
		for _, in := range p.FunctionResponse.Parts {
			inside := *in
			if in.InlineData != nil && len(in.InlineData.Data) > 0 {
				blob := *in.InlineData
				blob.Data = s.stand(blob.Data)
				inside.InlineData = &blob
			}
			response.Parts = append(response.Parts, &inside)
		}
		copied.FunctionResponse = &response
	}
	return &copied
}

// stand is what stands for a picture: bytes that nothing else in the request is.
func (s *pictures) stand(data []byte) []byte {
	mark := make([]byte, 24)
	_, _ = rand.Read(mark) // never fails (crypto/rand)
	s.marks, s.data = append(s.marks, base64.StdEncoding.EncodeToString(mark)), append(s.data, data)
	return mark
}

// splice puts the pictures into a body.
func (s *pictures) splice(body []byte) ([]byte, error) {
	size := len(body)
	for _, data := range s.data {
		size += base64.StdEncoding.EncodedLen(len(data))
	}
	out := make([]byte, 0, size)
	for i, mark := range s.marks {
		before, after, ok := bytes.Cut(body, []byte(mark))
		if !ok {
			return nil, &rejectedError{"the pictures did not fit into the request"}
		}
		out = base64.StdEncoding.AppendEncode(append(out, before...), s.data[i])
		body = after
	}
	return append(out, body...), nil
}

// request is req with the pictures in its body.
func (s *pictures) request(req *http.Request) (*http.Request, error) {
	if len(s.data) == 0 || req.Body == nil {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // it was in memory
	if err != nil {
		return nil, err
	}
	if body, err = s.splice(body); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return req, err
}

// fillEmptyText gives signed parts their empty text back, which the client
// library leaves out and the API demands.
func fillEmptyText(body map[string]any) map[string]any {
	for _, c := range list(body["contents"]) {
		content, _ := c.(map[string]any)
		for _, p := range list(content["parts"]) {
			part, _ := p.(map[string]any)
			if part["thoughtSignature"] != nil && (len(part) == 1 || len(part) == 2 && part["thought"] != nil) {
				part["text"] = ""
			}
		}
	}
	return body
}

func list(v any) []any {
	switch l := v.(type) {
	case []any:
		return l
	case []map[string]any:
		all := make([]any, len(l))
		for i := range l {
			all[i] = l[i]
		}
		return all
	}
	return nil
}
