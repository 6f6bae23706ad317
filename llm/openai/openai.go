package openai

import (
	"errors"
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

// The ways. Auto is Responses for api.openai.com and chat completions for
// every other server.
const (
	APIAuto      API = "auto"
	APIResponses API = "responses"
	APIChat      API = "chat"
)

// What applies when the options leave it open.
const (
	defaultBaseURL  = "https://api.openai.com/v1"
	defaultKeyEnv   = "OPENAI_API_KEY"
	defaultProvider = "openai"
)

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	Provider string // in front of the model's name; "openai" if empty
	BaseURL  string // OpenAI's own if empty; most others end in /v1
	Key      string // may be empty for servers that want none
	KeyEnv   string // where Key comes from, to be named in hints; OPENAI_API_KEY if empty
	Model    string // as the server calls it
	API      API    // [APIAuto] if empty

	Effort  string // reasoning effort (none … max, as the model allows); "" leaves it to the model
	Summary string // reasoning summaries on the Responses API: auto, concise, detailed; "" for none

	Timeout     time.Duration // of a whole call, repeated tries included; 10 min if 0
	IdleTimeout time.Duration // between two bytes of an answer that has begun; 90 s if 0
	Backoff     time.Duration // before the second try, unless the server says; doubled for the third; 0.5 s if 0

	HTTPClient *http.Client               // its Timeout should be 0; nil: a plain client on the default transport
	Logger     *slog.Logger               // nil: no log
	Price      *llm.Price                 // nil: by the table in package llm
	Caps       *llm.Caps                  // nil: by the table in package llm
	OnRetry    func(transport.RetryEvent) // called before each repeated try, on the goroutine that generates; may be nil
}

// Model asks one model of one server. It is safe for concurrent use.
type Model struct {
	opts        Options
	retryPolicy transport.RetryPolicy
	endpoint    transport.Endpoint
	caps        llm.Caps
	http        *http.Client
	clean       func(string) string // removes secrets from text of the server
}

// New checks the options. It does not reach for the network. A missing key for
// OpenAI itself is an [*llm.Error] of kind auth.
func New(o Options) (*Model, error) {
	o = withDefaults(o)
	if o.Model == "" {
		return nil, errors.New("open model: no model is named")
	}
	u, err := transport.ParseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	switch o.API {
	case APIAuto:
		o.API = APIChat
		if isOpenAI(u) {
			o.API = APIResponses
		}
	case APIResponses, APIChat:
	default:
		return nil, fmt.Errorf("open model: API must be auto, responses or chat, not %q", o.API)
	}
	m := &Model{
		opts: o, caps: capsFor(o), http: transport.NoRedirects(o.HTTPClient), clean: transport.SecretRemover(o.Key, u),
		retryPolicy: transport.RetryPolicy{
			Timeout: o.Timeout, Idle: o.IdleTimeout, Backoff: o.Backoff, Logger: o.Logger, OnRetry: o.OnRetry,
		}.WithDefaults(),
		endpoint: transport.Endpoint{
			Host: u.Host, DisplayURL: u.Redacted(), API: string(o.API) + " API", KeyEnv: o.KeyEnv, HasKey: o.Key != "", Model: o.Model,
			AddressHint: "check the server's address; most end in /v1",
		},
	}
	if o.Key == "" && isOpenAI(u) {
		return nil, &llm.Error{Kind: llm.ErrAuth, Model: m.Name(), Message: "there is no key for " + u.Host, Hint: "set " + o.KeyEnv}
	}
	if u.Hostname() == "generativelanguage.googleapis.com" && needsThoughtSignatures(o.Model) {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: m.Name(),
			Message: "Gemini 3 and later cannot use tools through the OpenAI-compatible address: its thought signatures are lost on the way",
			Hint:    "reach it through OpenRouter, or choose another model",
		}
	}
	return m, nil
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.opts.Provider + ":" + m.opts.Model }

// Caps returns what the model can do, from the options or the table. An unknown model is assumed to use tools
// and see no images.
func (m *Model) Caps() llm.Caps { return m.caps }

func withDefaults(o Options) Options {
	text := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	o.Key, o.BaseURL, o.Model = strings.TrimSpace(o.Key), strings.TrimSpace(o.BaseURL), strings.TrimSpace(o.Model)
	text(&o.Provider, defaultProvider)
	text(&o.BaseURL, defaultBaseURL)
	text(&o.KeyEnv, defaultKeyEnv)
	text((*string)(&o.API), string(APIAuto))
	return o
}

// capsFor returns what the model can do with these options. Images in tool results always arrive if the model
// sees: over chat completions they follow in a separate message.
func capsFor(o Options) llm.Caps {
	if o.Caps != nil {
		return *o.Caps
	}
	caps, known := llm.CapsOf(o.Model)
	if !known {
		caps = llm.Caps{Tools: true}
	}
	caps.ToolImages = caps.Vision
	return caps
}

func isOpenAI(u *url.URL) bool { return u.Hostname() == "api.openai.com" }

// needsThoughtSignatures says whether a Gemini model demands its thought signatures
// back, as those from 3 on do.
func needsThoughtSignatures(model string) bool {
	name := strings.TrimPrefix(strings.ToLower(model), "models/")
	return strings.HasPrefix(name, "gemini-") && !strings.HasPrefix(name, "gemini-1") && !strings.HasPrefix(name, "gemini-2")
}
