package anthropic

import (
	"cmp"
	"net/http"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

const (
	defaultBaseURL   = "https://api.anthropic.com"
	defaultMaxTokens = 32_000 // of an answer whose request sets no bound
)

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	BaseURL string // Anthropic's own if empty; a /v1 at its end does not matter
	Key     string // may be empty for gateways that want none
	Model   string // as the server calls it

	Retry      transport.RetryPolicy
	HTTPClient *http.Client // its Timeout should be 0; nil: a plain client on the default transport
}

// Model asks one model of one server. It is safe for concurrent use.
type Model struct {
	*transport.Client

	url    string // of the method
	traits modelTrait
}

// New checks the options. It does not reach for the network. A missing key for
// Anthropic itself is an [*llm.Error] of kind auth.
func New(o Options) (*Model, error) {
	base := strings.TrimRight(cmp.Or(strings.TrimSpace(o.BaseURL), defaultBaseURL), "/")
	c, err := transport.NewClient(transport.ClientOptions{
		Provider: "anthropic", BaseURL: strings.TrimSuffix(base, "/v1"), Key: o.Key, KeyEnv: "ANTHROPIC_API_KEY",
		Model: o.Model,
		API:   "Messages API", VendorHost: "api.anthropic.com", UnknownCaps: llm.Caps{Tools: true, Vision: true},
		HTTPClient:  o.HTTPClient,
		RetryPolicy: o.Retry,
	})
	if err != nil {
		return nil, err
	}
	return &Model{Client: c, url: c.URL.JoinPath("v1", "messages").String(), traits: traitsOf(c.Model)}, nil
}

// Owner marks what only this model of this server understands, such as the signatures of its thinking.
func (m *Model) Owner() string { return m.Endpoint.Host + " messages " + m.Model }

// modelTrait are what the vendor's models differ in, by the beginning of their names.
type modelTrait struct {
	prefix    string
	maxOutput int // tokens
}

// modelTraits follow the vendor's table of models as of llm.PricesAsOf. The
// longest prefix counts; the empty one is for names nobody knows.
var modelTraits = []modelTrait{
	{"", 32_000},
	{"claude-fable-5", 128_000},
	{"claude-mythos-5", 128_000},
	{"claude-opus-5-5", 128_000},
	{"claude-opus-5", 128_000},
	{"claude-sonnet-5", 128_000},
	{"claude-haiku-5", 128_000},
	{"claude-opus-4-8", 128_000},
	{"claude-opus-4-7", 128_000},
	{"claude-opus-4-6", 128_000},
	{"claude-sonnet-4-6", 64_000},
	{"claude-opus-4-5", 64_000},
	{"claude-sonnet-4", 64_000},
	{"claude-haiku-4-5", 64_000},
	{"claude-opus-4", 32_000},
	{"claude-3-7", 64_000},
	{"claude-3-5", 8_192},
	{"claude-3", 4_096},
}

func traitsOf(model string) modelTrait {
	name := strings.ToLower(model[strings.LastIndex(model, "/")+1:])
	best := modelTraits[0]
	for _, t := range modelTraits[1:] {
		if strings.HasPrefix(name, t.prefix) && len(t.prefix) > len(best.prefix) {
			best = t
		}
	}
	return best
}
