package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/pageorigin"
)

// MaxAnswer is the maximum size of a response body, in bytes.
const MaxAnswer = 64 << 20

const dialTimeout = 10 * time.Second

// Config identifies the server.
type Config struct {
	URL     string        // http or https, may have a path; the scheme may be omitted
	Secret  Secret        // credentials
	Profile string        // the profile of every call; "" means the server's default
	Timeout time.Duration // of each call; 0 derives it from the call; see [CallTimeOf]
}

// Client sends requests to one control server. It is safe for concurrent use.
type Client struct {
	base    *url.URL
	secret  Secret
	profile string
	timeout time.Duration
	http    *http.Client
}

// New returns a client for the server of cfg without sending anything. The caller calls Close.
func New(cfg Config) (*Client, error) {
	base, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	secret := cfg.Secret
	if base.User != nil {
		if password, ok := base.User.Password(); ok && secret.empty() {
			secret = Secret{Password: password, AnyHost: true}
		}
		base.User = nil
	}
	return &Client{
		base: base, secret: secret, profile: cfg.Profile, timeout: cfg.Timeout,
		http: &http.Client{
			Transport:     transportTo(base),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// transportTo returns the transport for a server.
func transportTo(base *url.URL) http.RoundTripper {
	dial := (&net.Dialer{Timeout: dialTimeout}).DialContext
	local := pageorigin.IsLoopback(base.Hostname())
	if local && base.Scheme == "http" {
		return &exchange{dial}
	}
	transport := &http.Transport{
		DialContext:            dial,
		MaxResponseHeaderBytes: maxResponseHeader,
		IdleConnTimeout:        time.Minute,
		DisableCompression:     true,
	}
	if !local {
		transport.Proxy = http.ProxyFromEnvironment
	}
	return transport
}

// URL returns the address of the server, without credentials.
func (c *Client) URL() string { return c.base.String() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Do sends a request and decodes the response into out, unless out is nil. path begins with a slash and is escaped;
// body is sent as JSON unless it is nil. The call ends with ctx or its own time limit (see [Config.Timeout]), and the
// server then cancels its work. Errors are an [*Error] if the server responded with one, and otherwise wrap
// [ErrNotListening], [ErrTimeout], [ErrBroken], [ErrBadAnswer] or the cause of ctx.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body, out any) error {
	status, data, err := c.Call(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	if status < http.StatusInternalServerError && bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return fmt.Errorf("%w: it is a web page (%d), and %s is no control server: check --url; \"clank serve\" prints "+
			"the address", ErrBadAnswer, status, c.URL())
	}
	if err := errorIn(status, data); err != nil {
		return c.explain(err)
	}
	switch out := out.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		if !json.Valid(data) {
			return badAnswer(status, data, errors.New("it is not JSON"))
		}
		*out = data
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return badAnswer(status, data, err)
	}
	return nil
}

// Call sends a request and returns the status and body of the response, including error responses. It is Do for callers
// that interpret the response themselves; err is never an [*Error].
func (c *Client) Call(ctx context.Context, method, path string, query url.Values,
	body any,
) (status int, answer json.RawMessage, err error) {
	var payload []byte
	if body != nil {
		if payload, err = json.Marshal(body); err != nil {
			return 0, nil, fmt.Errorf("write the request of %s %s: %w", method, path, err)
		}
	}
	limit := c.timeout
	if own := CallTimeOf(method, path, query, payload); limit == 0 {
		limit = own.Total()
	} else if own.Explicit {
		limit = max(limit, own.Total()) // the call does not end before the action's own limit
	}
	callCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := c.request(callCtx, method, path, query, payload)
	if err != nil {
		return 0, nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.explainNoAnswer(ctx, callCtx, limit, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return 0, nil, c.explainNoAnswer(ctx, callCtx, limit, err)
	}
	if len(data) > MaxAnswer {
		return 0, nil, fmt.Errorf("%w: it is larger than %d MiB; ask for less", ErrBadAnswer, MaxAnswer>>20)
	}
	return resp.StatusCode, data, nil
}

func (c *Client) request(ctx context.Context, method, path string, query url.Values,
	payload []byte,
) (*http.Request, error) {
	target := strings.TrimSuffix(c.base.String(), "/") + path
	values := url.Values{}
	maps.Copy(values, query)
	if c.profile != "" && !values.Has("profile") {
		values.Set("profile", c.profile)
	}
	if len(values) > 0 {
		target += "?" + values.Encode()
	}
	var body io.Reader
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if c.sendsSecret() {
		c.secret.attach(req.Header)
	}
	return req, nil
}

// sendsSecret reports whether the secret may be sent to this server.
func (c *Client) sendsSecret() bool {
	return c.secret.AnyHost || pageorigin.IsLoopback(c.base.Hostname())
}

// explain adds what to do to a refusal because the secret was not sent, missing or wrong.
func (c *Client) explain(err *Error) error {
	if err.Status != http.StatusUnauthorized {
		return err
	}
	switch {
	case c.secret.empty():
		err.Message = "the server wants a secret (401 " + err.Message + "): give it with --token or CLANK_BROWSER_TOKEN"
	case !c.sendsSecret():
		err.Message = "the server wants a secret (401 " + err.Message + "): none was sent, because " + c.base.Host +
			" is not this machine; give it with --token"
	default:
		err.Message = "the server refused the secret (401 " + err.Message + "): check --token, CLANK_BROWSER_TOKEN and the " +
			"server's configuration"
	}
	return err
}

// explainNoAnswer returns why there is no response. parent is the caller's context, own that of the call.
func (c *Client) explainNoAnswer(parent, own context.Context, limit time.Duration, err error) error {
	var dial *net.OpError
	switch {
	case parent.Err() != nil && !errors.Is(parent.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the request was cancelled: %w", context.Cause(parent))
	case parent.Err() != nil:
		return fmt.Errorf("%w from %s in the time that was given", ErrTimeout, c.URL())
	case own.Err() != nil:
		return fmt.Errorf("%w from %s within %s; the server was told to stop", ErrTimeout, c.URL(), limit)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%w at %s (%w): start it with \"clank serve\", or name another with --url", ErrNotListening,
			c.URL(), dial.Err)
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	return fmt.Errorf("%w: %s: %w", ErrBroken, c.URL(), err)
}

// Time limits of the server, from the contract.
const (
	stateTime    = 25 * time.Second // requests that only read or change the server's state
	pageTime     = 20 * time.Second // requests for a page that name no limit
	transferTime = 120 * time.Second
	launchTime   = 90 * time.Second // the first start of a profile, and a second attempt, or one on a busy machine
	networkSlack = 5 * time.Second
	maxTimeout   = 120 * time.Second // maximum of timeoutMs
)

// CallTime bounds a call.
type CallTime struct {
	Inner    time.Duration // the server's limits, in sequence
	Guarded  int           // number of interactions after which it watches for navigations
	Launch   time.Duration // for starting the browser first, if necessary
	Explicit bool          // set by the request itself
}

// Total returns how long to wait for the response, so that the server's own limits apply first.
func (a CallTime) Total() time.Duration {
	return a.Inner + time.Duration(a.Guarded)*actiontable.GuardTime + a.Launch + networkSlack
}

// CallTimeOf returns how long a call may take on the server. payload is the JSON body, or nil.
func CallTimeOf(method, path string, query url.Values, payload []byte) CallTime {
	var body map[string]any
	_ = json.Unmarshal(payload, &body) // on error there are no fields; the server reports it
	given := timeoutOf(body["timeoutMs"])
	if text := query.Get("timeoutMs"); text != "" {
		given = timeoutOf(text)
	}
	a := CallTime{Launch: launchTime, Explicit: given > 0}
	switch routeName(method, path) {
	case "GET /", "GET /profiles", "GET /tabs", "POST /tabs/focus", "POST /tabs/action", "POST /profiles/create",
		"DELETE /tabs":
		return CallTime{Inner: stateTime, Explicit: a.Explicit}
	case "GET /doctor":
		return CallTime{Inner: stateTime + pageTime}
	case "POST /stop", "POST /reset-profile", "DELETE /profiles":
		return CallTime{Inner: 2 * stateTime}
	case "POST /start":
		return a
	case "POST /act":
		w := actiontable.WaitFor(body)
		return CallTime{Inner: w.Limit, Guarded: w.Actions, Launch: launchTime, Explicit: w.Explicit}
	case "POST /hooks/file-chooser", "POST /hooks/dialog", "POST /wait/download", "POST /download":
		a.Inner = cmp.Or(given, transferTime)
	default:
		a.Inner = cmp.Or(given, pageTime)
	}
	a.Guarded = 1
	return a
}

// timeoutOf reads a number of milliseconds, clamped to the server's maximum; 0 if there is none.
func timeoutOf(v any) time.Duration {
	n, given, ok := actiontable.ParseNumber(v, false)
	if !given || !ok || n <= 0 {
		return 0
	}
	return time.Duration(min(n, float64(maxTimeout.Milliseconds()))) * time.Millisecond
}

// routeName returns the method and the first words of a path, without the name of a tab or profile.
func routeName(method, path string) string {
	if method == http.MethodDelete {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return method + " /" + first
	}
	return method + " " + path
}
