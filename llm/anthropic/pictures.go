package anthropic

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"clank/llm/wire"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// pictures take a way of their own: the client library would encode each five
// times over, which costs more than everything else of a call. It gets a short
// word for each, in whose place the picture is put when the request leaves.
type pictures struct {
	mark string   // what the words begin with; nobody else can know it
	data []string // base64, in the order of the request
}

func newPictures() *pictures { return &pictures{mark: rand.Text()} }

// out returns messages with words in place of pictures. Those given are not
// changed.
func (p *pictures) out(messages []sdk.MessageParam) []sdk.MessageParam {
	messages = slices.Clone(messages)
	for i := range messages {
		m := &messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		m.Content = slices.Clone(m.Content)
		for j := range m.Content {
			b := &m.Content[j]
			b.OfImage = p.word(b.OfImage)
			if b.OfToolResult == nil {
				continue
			}
			r := *b.OfToolResult
			r.Content = slices.Clone(r.Content)
			for k := range r.Content {
				r.Content[k].OfImage = p.word(r.Content[k].OfImage)
			}
			b.OfToolResult = &r
		}
	}
	return messages
}

func (p *pictures) word(image *sdk.ImageBlockParam) *sdk.ImageBlockParam {
	if image == nil || image.Source.OfBase64 == nil {
		return image
	}
	short, source := *image, *image.Source.OfBase64
	p.data, source.Data = append(p.data, source.Data), fmt.Sprintf("%s.%d.", p.mark, len(p.data))
	short.Source.OfBase64 = &source
	return &short
}

// errLost is a request that does not hold the words it should.
var errLost = errors.New("a picture was lost on the way")

// in is body in pieces, with the pictures in their places.
func (p *pictures) in(body []byte) ([]io.Reader, int64, error) {
	var pieces []io.Reader
	var size int64
	for i, data := range p.data {
		before, after, ok := bytes.Cut(body, fmt.Appendf(nil, "%s.%d.", p.mark, i))
		if !ok {
			return nil, 0, errLost
		}
		pieces = append(pieces, bytes.NewReader(before), strings.NewReader(data))
		size += int64(len(before) + len(data))
		body = after
	}
	return append(pieces, bytes.NewReader(body)), size + int64(len(body)), nil
}

// carrier sends requests with their pictures.
type carrier struct {
	*wire.Attempt
	pictures *pictures
}

// Do implements what the client library wants of an HTTP client.
func (c *carrier) Do(req *http.Request) (*http.Response, error) {
	if len(c.pictures.data) == 0 || req.Body == nil {
		return c.Attempt.Do(req) //nolint:wrapcheck // explained by who called
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	pieces, size, err := c.pictures.in(body)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body, req.ContentLength = io.NopCloser(io.MultiReader(pieces...)), size
	req.GetBody = func() (io.ReadCloser, error) {
		pieces, _, err := c.pictures.in(body)
		return io.NopCloser(io.MultiReader(pieces...)), err
	}
	return c.Attempt.Do(req) //nolint:wrapcheck // explained by who called
}
