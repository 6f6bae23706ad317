package browsertool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Errors for requests that got no answer. All other errors of [APIClient.Call] are the cause of the context.
var (
	// ErrAPIUnreachable says that nothing listens, or that the connection broke before an answer arrived.
	ErrAPIUnreachable = errors.New("the browser control service cannot be reached")
	// ErrAPITimedOut says that the service accepted the request but did not answer in time.
	ErrAPITimedOut = errors.New("the browser control service did not answer in time")
	// ErrAPIBadAnswer says that the answer does not come from this API or is unreadable.
	ErrAPIBadAnswer = errors.New("the answer of the browser control service cannot be read")
)

// maxAPIAnswer is the largest accepted answer, in bytes: several files of 10 MiB in base64.
const maxAPIAnswer = 64 << 20

// APIClient calls a control API. It is safe for concurrent use once its fields are set.
type APIClient struct {
	URL   string       // of the API, such as "http://127.0.0.1:18791"
	Token string       // bearer token; if empty, none is sent
	HTTP  *http.Client // nil for a client that uses no proxy and follows no redirects
}

// Call sends one request. query and body may be nil; body is encoded as JSON. If the answer is not JSON, Call returns
// {"error": text} for a status other than 2xx, and [ErrAPIBadAnswer] otherwise. A nil error means that the API, or a
// proxy in front of it, answered.
func (c *APIClient) Call(ctx context.Context, method, path string, query url.Values,
	body any,
) (status int, answer json.RawMessage, err error) {
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return 0, nil, err
	}
	client := c.HTTP
	if client == nil {
		client = directHTTP
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, transportError(ctx, c.host(), err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAPIAnswer+1))
	if err != nil {
		return 0, nil, transportError(ctx, c.host(), err)
	}
	if len(raw) > maxAPIAnswer {
		return 0, nil, fmt.Errorf("%w: it is larger than %d MiB", ErrAPIBadAnswer, maxAPIAnswer>>20)
	}
	answer, err = readAnswer(res.StatusCode, raw)
	return res.StatusCode, answer, err
}

// request prepares the request.
func (c *APIClient) request(ctx context.Context, method, path string, query url.Values,
	body any,
) (*http.Request, error) {
	target, err := url.Parse(strings.TrimRight(c.URL, "/") + path)
	if err != nil || target.Host == "" {
		return nil, fmt.Errorf("%w: its address is not a URL", ErrAPIUnreachable)
	}
	if len(query) > 0 {
		target.RawQuery = query.Encode()
	}
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		payload = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, target.String(), payload)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if id, ok := ctx.Value(askKey{}).(string); ok {
		req.Header.Set(askHeader, id)
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	return req, nil
}

// askHeader identifies the people to ask for approval of the request.
const askHeader = "X-Clank-Ask"

type askKey struct{}

// WithAskID marks calls with the context as made on behalf of a model: id, which is opaque, identifies the people to
// ask for approval.
func WithAskID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, askKey{}, id)
}

// hasAskID reports whether the context is marked by [WithAskID].
func hasAskID(ctx context.Context) bool {
	_, ok := ctx.Value(askKey{}).(string)
	return ok
}

// host returns the address that c calls, without credentials, for messages.
func (c *APIClient) host() string {
	if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "its address"
}

// directHTTP is shared to reuse connections. It does not follow redirects, which would send the token elsewhere.
var directHTTP = &http.Client{
	Transport: &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		ExpectContinueTimeout: time.Second,
		// A node may take minutes, such as until a person has answered. Pings find out sooner that it cannot be reached.
		ForceAttemptHTTP2: true,
		HTTP2:             &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second},
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// transportError says why there was no answer.
func transportError(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
			return cause
		}
		return fmt.Errorf("%w (%s)", ErrAPITimedOut, host)
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return fmt.Errorf("%w (%s)", ErrAPITimedOut, host)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which may contain secrets
	}
	return fmt.Errorf("%w at %s: %w", ErrAPIUnreachable, host, err)
}

// readAnswer checks that an answer is JSON, or converts it.
func readAnswer(status int, raw []byte) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if json.Valid(raw) {
		return raw, nil
	}
	if status >= 200 && status < 300 {
		return nil, fmt.Errorf("%w: it is not JSON (status %d)", ErrAPIBadAnswer, status)
	}
	const most = 2000
	text := strings.ToValidUTF8(string(raw[:min(len(raw), most)]), "\ufffd")
	if text == "" {
		text = http.StatusText(status)
	}
	answer, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAPIBadAnswer, err)
	}
	return answer, nil
}
