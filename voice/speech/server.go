package speech

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"clank/llm"
	"clank/llm/transport"
)

// DefaultBaseURL is where OpenAI's API is.
const DefaultBaseURL = "https://api.openai.com/v1"

// RemoteServer is a server for transcription or synthesis.
type RemoteServer struct {
	BaseURL      string // [DefaultBaseURL] if empty
	Key          string // may be empty for a local server
	KeyVariable  string // where the key is set, for messages; OPENAI_API_KEY if empty
	ModelSetting string // the setting that selects the model, for messages; may be empty
	Timeout      time.Duration
	HTTPClient   *http.Client // nil for a plain one
	Log          *slog.Logger // nil for none
}

// apiCaller calls one endpoint.
type apiCaller struct {
	url      *url.URL
	key      string
	http     *http.Client
	patience transport.RetryPolicy
	place    transport.Endpoint
	clean    func(string) string
}

func newAPICaller(s RemoteServer, endpoint, speaks, model string, timeout time.Duration) (*apiCaller, error) {
	if model == "" {
		return nil, errors.New("the model is not set")
	}
	u, err := transport.ParseBaseURL(cmp.Or(s.BaseURL, DefaultBaseURL))
	if err != nil {
		return nil, err
	}
	c := &apiCaller{
		url: u.JoinPath(endpoint), key: s.Key, http: transport.NoRedirects(s.HTTPClient),
		clean:    transport.SecretRemover(s.Key, u),
		patience: transport.RetryPolicy{Timeout: cmp.Or(s.Timeout, timeout), Idle: timeout, Logger: s.Log}.WithDefaults(),
	}
	c.place = transport.Endpoint{
		Host: u.Host, DisplayURL: u.Redacted(), API: speaks, KeyEnv: cmp.Or(s.KeyVariable, "OPENAI_API_KEY"),
		HasKey: s.Key != "", Model: model, ModelSetting: s.ModelSetting,
	}
	return c, nil
}

// explain turns what went wrong into what a person reads.
func (c *apiCaller) explain(err error) (*llm.Error, bool) {
	e := &llm.Error{Model: c.place.Model, Err: err}
	transient := transport.DescribeError(e, err, c.place, c.patience)
	var status *transport.StatusError
	if errors.As(err, &status) && status.Status == http.StatusRequestEntityTooLarge {
		e.Hint = "the sound is too long for this server; speak in shorter pieces, or raise its limit"
	}
	return e, transient
}

// send makes one request. The caller closes the response body and calls done, which ends the time limit.
func (c *apiCaller) send(ctx context.Context, cancel context.CancelCauseFunc, kind string,
	body []byte,
) (*http.Response, string, func(), error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.String(), bodyReader(body))
	if err != nil {
		return nil, "", nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", kind)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	a := transport.NewAttempt(c.http, c.patience.Idle, cancel, c.clean)
	resp, got, err := a.Send(req)
	if err != nil {
		a.StopTimer()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, "", nil, err
	}
	return resp, got, a.StopTimer, nil
}
