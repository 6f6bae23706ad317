package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"clank/llm"
	"clank/llm/transport"

	client "github.com/sashabaranov/go-openai"
)

// API is one of the two ways to ask.
type API string

// The ways. Auto is Responses for api.openai.com and chat completions for every other server.
const (
	APIAuto      API = "auto"
	APIResponses API = "responses"
	APIChat      API = "chat"
)

const defaultBaseURL = "https://api.openai.com/v1"

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	Provider string // in front of the model's name; "openai" if empty
	BaseURL  string // OpenAI's own if empty; most others end in /v1
	Key      string // may be empty for servers that want none
	KeyEnv   string // where Key comes from, to be named in hints; OPENAI_API_KEY if empty
	Model    string // as the server calls it
	API      API    // [APIAuto] if empty

	Retry      transport.RetryPolicy
	HTTPClient *http.Client // its Timeout should be 0; nil: a plain client on the default transport
}

// Model asks one model of one server. It is safe for concurrent use.
type Model struct {
	*transport.Client

	api     API
	baseURL string
}

// New checks the options. It does not reach for the network. A missing key for
// OpenAI itself is an [*llm.Error] of kind auth.
func New(o Options) (*Model, error) {
	const vendor = "api.openai.com"
	base := cmp.Or(strings.TrimSpace(o.BaseURL), defaultBaseURL)
	switch o.API {
	case APIAuto, "":
		o.API = APIChat
		if u, err := url.Parse(base); err == nil && u.Hostname() == vendor {
			o.API = APIResponses
		}
	case APIResponses, APIChat:
	default:
		return nil, fmt.Errorf("open model: API must be auto, responses or chat, not %q", o.API)
	}
	c, err := transport.NewClient(transport.ClientOptions{
		Provider: cmp.Or(o.Provider, "openai"), BaseURL: base, Key: o.Key, KeyEnv: cmp.Or(o.KeyEnv, "OPENAI_API_KEY"),
		Model: o.Model,
		API:   string(o.API) + " API", AddressHint: "check the server's address; most end in /v1", VendorHost: vendor,
		UnknownCaps: llm.Caps{Tools: true}, HTTPClient: o.HTTPClient,
		RetryPolicy: o.Retry,
	})
	if err != nil {
		return nil, err
	}
	m := &Model{Client: c, api: o.API, baseURL: base}
	if c.URL.Hostname() == "generativelanguage.googleapis.com" && needsThoughtSignatures(c.Model) {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: m.Name(),
			Message: "Gemini 3 and later cannot use tools through the OpenAI-compatible address: its thought signatures are " +
				"lost on the way",
			Hint: "reach it through OpenRouter, or choose another model",
		}
	}
	return m, nil
}

// needsThoughtSignatures says whether a Gemini model demands its thought signatures back, as those from 3 on do.
func needsThoughtSignatures(model string) bool {
	name := strings.TrimPrefix(strings.ToLower(model), "models/")
	return strings.HasPrefix(name, "gemini-") && !strings.HasPrefix(name, "gemini-1") &&
		!strings.HasPrefix(name, "gemini-2")
}

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
	reply, err := m.call(ctx, func(llm.Delta) {},
		func(ctx context.Context, c *client.Client) (eventStream, replyDecoder, error) {
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
	return status.Code == "previous_response_not_found" || strings.Contains(said, "previous response") ||
		strings.Contains(said, "previous_response_id")
}
