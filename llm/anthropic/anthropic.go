package anthropic

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"clank/llm"
	"clank/llm/transport"
)

// What applies when the options leave it open.
const (
	defaultBaseURL   = "https://api.anthropic.com"
	defaultKeyEnv    = "ANTHROPIC_API_KEY"
	defaultProvider  = "anthropic"
	defaultMaxTokens = 32_000
)

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	Provider string // in front of the model's name; "anthropic" if empty
	BaseURL  string // Anthropic's own if empty; a /v1 at its end does not matter
	Key      string // may be empty for gateways that want none
	KeyEnv   string // where Key comes from, to be named in hints; ANTHROPIC_API_KEY if empty
	Model    string // as the server calls it

	Effort       string // none, low, medium, high, xhigh or max, as the model allows; "" leaves it to the model
	ShowThinking bool   // ask for readable summaries of thinking
	MaxTokens    int    // of an answer whose request sets no bound; 32,000, or what the model allows, if 0

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
	url         string // of the method
	traits      modelTrait
	http        *http.Client
	clean       func(string) string // removes secrets from text of the server
}

// efforts are the values of [Options.Effort].
var efforts = []string{"", "none", "low", "medium", "high", "xhigh", "max"}

// New checks the options. It does not reach for the network. A missing key for
// Anthropic itself is an [*llm.Error] of kind auth; an effort that the model
// does not take is one of kind rejected.
func New(o Options) (*Model, error) {
	o = withDefaults(o)
	if o.Model == "" {
		return nil, errors.New("open model: no model is named")
	}
	u, err := transport.ParseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(efforts, o.Effort) {
		return nil, fmt.Errorf("open model: effort must be none, low, medium, high, xhigh or max, not %q", o.Effort)
	}
	m := &Model{
		opts: o, url: u.JoinPath("v1", "messages").String(), traits: traitsOf(o.Model), caps: capsFor(o), http: transport.NoRedirects(o.HTTPClient), clean: transport.SecretRemover(o.Key, u),
		retryPolicy: transport.RetryPolicy{
			Timeout: o.Timeout, Idle: o.IdleTimeout, Backoff: o.Backoff, Logger: o.Logger, OnRetry: o.OnRetry,
		}.WithDefaults(),
		endpoint: transport.Endpoint{
			Host: u.Host, DisplayURL: u.Redacted(), API: "Messages API", KeyEnv: o.KeyEnv, HasKey: o.Key != "", Model: o.Model,
		},
	}
	if o.Key == "" && u.Hostname() == "api.anthropic.com" {
		return nil, &llm.Error{Kind: llm.ErrAuth, Model: m.Name(), Message: "there is no key for " + u.Host, Hint: "set " + o.KeyEnv}
	}
	if o.Effort == "none" && m.traits.thinking == thinkAlways {
		return nil, &llm.Error{
			Kind: llm.ErrRejected, Model: m.Name(), Message: "the thinking of this model cannot be switched off",
			Hint: "set its effort to low, or choose another model",
		}
	}
	return m, nil
}

// Name returns "provider:model".
func (m *Model) Name() string { return m.opts.Provider + ":" + m.opts.Model }

// Caps returns what the model can do, from the options or the table. An unknown model is assumed to use tools
// and see images.
func (m *Model) Caps() llm.Caps { return m.caps }

// ModelID returns the server's name for the model.
func (m *Model) ModelID() string { return m.opts.Model }

// Owner marks what only this model of this server understands, such as the
// signatures of its thinking.
func (m *Model) Owner() string { return m.endpoint.Host + " messages " + m.opts.Model }

func withDefaults(o Options) Options {
	text := func(field *string, value string) {
		if *field = strings.TrimSpace(*field); *field == "" {
			*field = value
		}
	}
	text(&o.Key, "")
	text(&o.Model, "")
	text(&o.Provider, defaultProvider)
	text(&o.BaseURL, defaultBaseURL)
	text(&o.KeyEnv, defaultKeyEnv)
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return o
}

func capsFor(o Options) llm.Caps {
	if o.Caps != nil {
		return *o.Caps
	}
	caps, known := llm.CapsOf(o.Model)
	if !known {
		caps = llm.Caps{Tools: true, Vision: true}
	}
	caps.ToolImages = caps.Vision
	return caps
}
