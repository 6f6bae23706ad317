package gemini

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"clank/llm"
	"clank/llm/transport"
)

// What applies when the options leave it open.
const (
	defaultBaseURL  = "https://generativelanguage.googleapis.com"
	defaultKeyEnv   = "GEMINI_API_KEY"
	defaultProvider = "gemini"
)

// Options say which model to ask, where and how. Only Model is required.
type Options struct {
	Provider string // in front of the model's name; "gemini" if empty
	BaseURL  string // Google's own if empty; without the version of the API
	Key      string // may be empty for servers that want none
	KeyEnv   string // where Key comes from, to be named in hints; GEMINI_API_KEY if empty
	Model    string // as the server calls it

	Level    string // of thinking (minimal, low, medium, high, as the model allows), from Gemini 3 on; "" leaves it to the model
	Thoughts bool   // ask for readable summaries of what it thinks

	Timeout     time.Duration // of a whole call, repeated tries included; 10 min if 0
	IdleTimeout time.Duration // between two bytes of an answer that has begun; 90 s if 0
	Backoff     time.Duration // before the second try, unless the server says; doubled for the third; 0.5 s if 0

	HTTPClient *http.Client               // its Timeout should be 0; nil: a plain client on the default transport
	Logger     *slog.Logger               // nil: no log
	Price      *llm.Price                 // nil: by the table in package llm
	Caps       *llm.Caps                  // nil: by the table in package llm
	OnRetry    func(transport.RetryEvent) // called before each repeated try, on the goroutine that asks; may be nil
}

// Model asks one model of one server. It is safe for concurrent use.
type Model struct {
	opts        Options
	retryPolicy transport.RetryPolicy
	endpoint    transport.Endpoint
	url         string // of the method
	caps        llm.Caps
	http        *http.Client
	clean       func(string) string // removes secrets from text of the server
}

// New checks the options. It does not reach for the network. A missing key for
// Google itself is an [*llm.Error] of kind auth.
func New(o Options) (*Model, error) {
	o = withDefaults(o)
	if o.Model == "" {
		return nil, errors.New("open model: no model is named")
	}
	if strings.ContainsAny(o.Model, "?&#%/\\ \t\r\n") || strings.Contains(o.Model, "..") {
		return nil, fmt.Errorf("open model: %q is not a name of a Gemini model", o.Model)
	}
	u, err := transport.ParseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := checkLevel(o); err != nil {
		return nil, err
	}
	m := &Model{
		opts: o, caps: capsFor(o), http: transport.NoRedirects(o.HTTPClient), clean: transport.SecretRemover(o.Key, u),
		retryPolicy: transport.RetryPolicy{
			Timeout: o.Timeout, Idle: o.IdleTimeout, Backoff: o.Backoff, Logger: o.Logger, OnRetry: o.OnRetry,
		}.WithDefaults(),
		endpoint: transport.Endpoint{
			Host: u.Host, DisplayURL: u.Redacted(), API: "Gemini API", KeyEnv: o.KeyEnv, HasKey: o.Key != "", Model: o.Model,
		},
	}
	method := u.JoinPath("v1beta", "models", o.Model+":streamGenerateContent")
	method.RawQuery = "alt=sse"
	m.url = method.String()
	if o.Key == "" && u.Hostname() == "generativelanguage.googleapis.com" {
		return nil, &llm.Error{Kind: llm.ErrAuth, Model: m.Name(), Message: "there is no key for " + u.Host, Hint: "set " + o.KeyEnv}
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
	o.Key, o.BaseURL = strings.TrimSpace(o.Key), strings.TrimSuffix(strings.TrimSpace(o.BaseURL), "/")
	o.Model = strings.TrimPrefix(strings.TrimSpace(o.Model), "models/")
	text(&o.Provider, defaultProvider)
	text(&o.BaseURL, defaultBaseURL)
	text(&o.KeyEnv, defaultKeyEnv)
	return o
}

// capsFor returns what the model can do with these options. Images of tools always arrive if the model sees:
// models before Gemini 3 get them beside the result.
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

func checkLevel(o Options) error {
	switch strings.ToLower(o.Level) {
	case "":
		return nil
	case "minimal", "low", "medium", "high":
	default:
		return fmt.Errorf("open model: the level of thinking must be minimal, low, medium or high, not %q", o.Level)
	}
	if isOld(o.Model) {
		return fmt.Errorf("open model: %s has no levels of thinking; Gemini 3 and later have", o.Model)
	}
	return nil
}

// isOld says whether a model is older than Gemini 3, with which signatures of
// calls became compulsory and results of tools got pictures.
func isOld(model string) bool {
	name := strings.ToLower(model)
	return strings.HasPrefix(name, "gemini-1") || strings.HasPrefix(name, "gemini-2")
}
