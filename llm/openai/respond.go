package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"clank/llm"
	"clank/llm/transport"

	client "github.com/sashabaranov/go-openai"
)

// Response is a whole answer of the Responses API, for callers that use more of it than [llm.Model] knows.
type Response struct {
	ID     string
	Output []json.RawMessage // its items, as they came
	Stop   llm.StopReason    // by what package llm knows: calls of built-in tools do not count
	Usage  llm.Usage
}

// Respond asks the Responses API with a request of the caller's own, of which the model's name is filled in. Tries,
// deadlines and errors are those of [Model.Generate].
func (m *Model) Respond(ctx context.Context, req client.CreateResponseRequest) (Response, error) {
	req.Model = m.Model
	var dec *responsesDecoder
	reply, err := m.call(ctx, func(llm.Delta) {}, func(ctx context.Context, c *client.Client) (eventStream, replyDecoder, error) {
		s, err := c.CreateResponseStream(ctx, req)
		if err != nil {
			return nil, nil, err
		}
		dec = newResponsesDecoder(m.owner())
		return s, dec, nil
	})
	if err != nil {
		return Response{}, err
	}
	return Response{ID: dec.whole.ID, Output: dec.whole.Output, Stop: reply.Stop, Usage: reply.Usage}, nil
}

// DataURI returns a picture as the Responses API takes it.
func DataURI(i llm.Image) string { return dataURI(i) }

// EncryptsReasoning says whether the model can give its reasoning in encrypted form. Those
// that cannot refuse a request for it.
func (m *Model) EncryptsReasoning() bool { return encryptsReasoning(m.Model) }

// IsResponseLost says whether a call failed because the vendor does not have the response
// any more that it was to go on from, or may not keep any.
func IsResponseLost(err error) bool {
	var status *transport.StatusError
	if !errors.As(err, &status) || status.Status != 404 && status.Status != 400 {
		return false
	}
	said := strings.ToLower(status.Message)
	return status.Code == "previous_response_not_found" || strings.Contains(said, "previous response") || strings.Contains(said, "previous_response_id")
}
