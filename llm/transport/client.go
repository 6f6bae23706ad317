package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/llm"
)

// ClientOptions say which model of which server is asked, and how.
type ClientOptions struct {
	Provider    string // in front of the model's name
	BaseURL     string
	Key         string // may be empty, but not for VendorHost
	KeyEnv      string // where Key comes from, to be named in hints
	Model       string // as the server calls it
	API         string // what is spoken there: "Messages API"
	AddressHint string // as in [Endpoint]
	VendorHost  string // the vendor's own server
	UnknownCaps llm.Caps
	HTTPClient  *http.Client // its Timeout should be 0; nil: a plain client on the default transport
	RetryPolicy RetryPolicy
}

// Client does what the clients of all vendors have in common. It is not changed after it was made.
type Client struct {
	Key, Model  string
	URL         *url.URL
	HTTP        *http.Client
	RetryPolicy RetryPolicy
	Endpoint    Endpoint
	Clean       func(string) string // removes secrets from text of the server

	name string
	caps llm.Caps
}

// NewClient checks the options. It does not reach for the network. A missing key for the vendor itself is an
// [*llm.Error] of kind auth.
func NewClient(o ClientOptions) (*Client, error) {
	o.Key, o.Model = strings.TrimSpace(o.Key), strings.TrimSpace(o.Model)
	if o.Model == "" {
		return nil, errors.New("open model: no model is named")
	}
	u, err := ParseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{
		Key: o.Key, Model: o.Model, URL: u, HTTP: NoRedirects(o.HTTPClient), RetryPolicy: o.RetryPolicy.WithDefaults(),
		Endpoint: Endpoint{
			Host: u.Host, DisplayURL: u.Redacted(), API: o.API, KeyEnv: o.KeyEnv, HasKey: o.Key != "", Model: o.Model,
			AddressHint: o.AddressHint,
		},
		Clean: SecretRemover(o.Key, u), name: o.Provider + ":" + o.Model,
	}
	if o.Key == "" && u.Hostname() == o.VendorHost {
		return nil, &llm.Error{Kind: llm.ErrAuth, Model: c.name, Message: "there is no key for " + u.Host, Hint: "set " +
			o.KeyEnv}
	}
	caps, known := llm.CapsOf(o.Model)
	if c.caps = caps; !known {
		c.caps = o.UnknownCaps
	}
	c.caps.ToolImages = c.caps.Vision // no API loses them, some get them beside the result
	return c, nil
}

// Name returns "provider:model".
func (c *Client) Name() string { return c.name }

// Caps returns what the model can do.
func (c *Client) Caps() llm.Caps { return c.caps }

// NewAttempt carries one request, whose context must end by cancel.
func (c *Client) NewAttempt(cancel context.CancelCauseFunc) *Attempt {
	return NewAttempt(c.HTTP, c.RetryPolicy.Idle, cancel, c.Clean)
}

// LogAnswer logs that a call was answered.
func (c *Client) LogAnswer(start time.Time, stop string, u llm.Usage) {
	c.RetryPolicy.Logger.Debug("model answered", "model", c.name, "took", time.Since(start), "stop", stop,
		"input_tokens", u.InputTokens, "output_tokens", u.OutputTokens)
}

// Describe says in e what err is, as [DescribeError] does.
func (c *Client) Describe(e *llm.Error, err error) (transient bool) {
	return DescribeError(e, err, c.Endpoint, c.RetryPolicy)
}

// Deltas returns a function that hands on to onDelta (which may be nil) what is not empty, until ctx ends.
func Deltas(ctx context.Context, onDelta func(llm.Delta)) func(llm.Delta) {
	return func(d llm.Delta) {
		if onDelta != nil && ctx.Err() == nil && (d.Text != "" || d.Reasoning != "") {
			onDelta(d)
		}
	}
}

// Endpoint names the server that was called, for what a person reads.
type Endpoint struct {
	Host         string // with port
	DisplayURL   string // the base URL without credentials
	API          string // what is spoken there: "Messages API"
	KeyEnv       string // where its key is set
	HasKey       bool   // one was sent
	Model        string // as the server calls it
	ModelSetting string // where people choose the model; "the settings under Models" if empty
	AddressHint  string // what to do if the address seems wrong; "check the server's address" if empty
}

// otherModelHint says how to come to a model that there is.
func (p Endpoint) otherModelHint() string {
	hint := "check the name, or choose another in " + cmp.Or(p.ModelSetting, "the settings under Models") +
		": it may have been retired"
	if r, ok := llm.DeprecationOf(p.Model); ok {
		hint += " (" + r.String() + ")"
	}
	return hint
}

func (p Endpoint) addressHint() string { return cmp.Or(p.AddressHint, "check the server's address") }

// ParseBaseURL reads where a server is. It must be an HTTP address that ends with its path.
func ParseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("open model: the base URL must be http:// or https:// and name a host")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("open model: the base URL must end with its path, without ? or #")
	}
	return u, nil
}
