package openai

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/llm"
	"clank/llm/transport"
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

	Timeout     time.Duration // of a whole call, repeated tries included; 10 min if 0
	IdleTimeout time.Duration // between two bytes of an answer that has begun; 90 s if 0
	Backoff     time.Duration // before the second try, unless the server says; doubled for the third; 0.5 s if 0

	HTTPClient *http.Client               // its Timeout should be 0; nil: a plain client on the default transport
	Logger     *slog.Logger               // nil: no log
	OnRetry    func(transport.RetryEvent) // called before each repeated try, on the goroutine that generates; may be nil
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
		Provider: cmp.Or(o.Provider, "openai"), BaseURL: base, Key: o.Key, KeyEnv: cmp.Or(o.KeyEnv, "OPENAI_API_KEY"), Model: o.Model,
		API: string(o.API) + " API", AddressHint: "check the server's address; most end in /v1", VendorHost: vendor,
		UnknownCaps: llm.Caps{Tools: true}, HTTPClient: o.HTTPClient,
		RetryPolicy: transport.RetryPolicy{
			Timeout: o.Timeout, Idle: o.IdleTimeout, Backoff: o.Backoff, Logger: o.Logger, OnRetry: o.OnRetry,
		},
	})
	if err != nil {
		return nil, err
	}
	m := &Model{Client: c, api: o.API, baseURL: base}
	if c.URL.Hostname() == "generativelanguage.googleapis.com" && needsThoughtSignatures(c.Model) {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: m.Name(),
			Message: "Gemini 3 and later cannot use tools through the OpenAI-compatible address: its thought signatures are lost on the way",
			Hint:    "reach it through OpenRouter, or choose another model",
		}
	}
	return m, nil
}

// needsThoughtSignatures says whether a Gemini model demands its thought signatures back, as those from 3 on do.
func needsThoughtSignatures(model string) bool {
	name := strings.TrimPrefix(strings.ToLower(model), "models/")
	return strings.HasPrefix(name, "gemini-") && !strings.HasPrefix(name, "gemini-1") && !strings.HasPrefix(name, "gemini-2")
}
