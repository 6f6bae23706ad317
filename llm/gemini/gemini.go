package gemini

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"clank/llm"
	"clank/llm/transport"
)

const defaultBaseURL = "https://generativelanguage.googleapis.com"

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	BaseURL string // Google's own if empty; without the version of the API
	Key     string // may be empty for servers that want none
	Model   string // as the server calls it

	Retry      transport.RetryPolicy
	HTTPClient *http.Client // its Timeout should be 0; nil: a plain client on the default transport
}

// Model asks one model of one server. It is safe for concurrent use.
type Model struct {
	*transport.Client

	url string // of the method
}

// New checks the options. It does not reach for the network. A missing key for
// Google itself is an [*llm.Error] of kind auth.
func New(o Options) (*Model, error) {
	name := strings.TrimPrefix(strings.TrimSpace(o.Model), "models/")
	if strings.ContainsAny(name, "?&#%/\\ \t\r\n") || strings.Contains(name, "..") {
		return nil, fmt.Errorf("open model: %q is not a name of a Gemini model", name)
	}
	c, err := transport.NewClient(transport.ClientOptions{
		Provider: "gemini", BaseURL: strings.TrimSuffix(cmp.Or(strings.TrimSpace(o.BaseURL), defaultBaseURL), "/"),
		Key: o.Key, KeyEnv: "GEMINI_API_KEY", Model: name, API: "Gemini API", VendorHost: "generativelanguage.googleapis.com",
		UnknownCaps: llm.Caps{Tools: true}, HTTPClient: o.HTTPClient,
		RetryPolicy: o.Retry,
	})
	if err != nil {
		return nil, err
	}
	method := c.URL.JoinPath("v1beta", "models", name+":streamGenerateContent")
	method.RawQuery = "alt=sse"
	return &Model{Client: c, url: method.String()}, nil
}

// isOld says whether a model is older than Gemini 3, with which signatures of
// calls became compulsory and results of tools got pictures.
func isOld(model string) bool {
	name := strings.ToLower(model)
	return strings.HasPrefix(name, "gemini-1") || strings.HasPrefix(name, "gemini-2")
}
