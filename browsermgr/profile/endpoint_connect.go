package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"clank/browsermgr/cdp"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// connectRounds are the attempts of [ConnectEndpoint]: the time limit of each and the pause after it.
var connectRounds = []struct{ limit, pause time.Duration }{
	{5 * time.Second, 250 * time.Millisecond},
	{7 * time.Second, 500 * time.Millisecond},
	{9 * time.Second, 0},
}

// ConnectEndpoint discovers the browser's WebSocket and opens it with dial, in up to three attempts. dial must obey its
// context and bound, the limit for the handshake and first commands. The caller owns the result. The error is a
// *[ConnectError]; a provider's rate limit, a refused login and ErrEndpointBlocked are not retried.
func ConnectEndpoint[T any](ctx context.Context, c Connector, e Endpoint,
	dial func(ctx context.Context, t DialTarget, bound time.Duration) (T, error),
) (T, error) {
	var zero T
	var failure *ConnectError
	for i, round := range connectRounds {
		bound := cmp.Or(c.Handshake, round.limit)
		var tries []ConnectAttempt
		try := func(t DialTarget) (T, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("nothing within %s", bound))
			defer cancel()
			opened, err := dial(ctx, t, bound)
			if err != nil {
				err = presentableError(ctx, e.url.Hostname(), err)
				tries = append(tries, ConnectAttempt{LayerWebSocket, t.String(), err})
			}
			return opened, err
		}
		for t, err := range c.targets(ctx, e) {
			if err != nil {
				tries = append(tries, ConnectAttempt{LayerDiscovery, redactParsedURL(versionURL(e.url)), err})
			} else if opened, err := try(t); err == nil {
				return opened, nil
			}
			if isFinal(tries[len(tries)-1].Err) {
				break
			}
		}
		failure = &ConnectError{Endpoint: e.String(), Attempts: tries, Rounds: i + 1}
		if ctx.Err() != nil || isFinal(tries[len(tries)-1].Err) || cancel.Sleep(ctx, round.pause) != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return zero, fmt.Errorf("%w: %w", failure, context.Cause(ctx))
	}
	return zero, failure
}

// targets yields the WebSockets to try for an endpoint, in order, or the error of a failed discovery.
func (c Connector) targets(ctx context.Context, e Endpoint) func(yield func(DialTarget, error) bool) {
	return func(yield func(DialTarget, error) bool) {
		if !e.IsDirect() {
			t, _, err := c.Discover(ctx, e)
			if !yield(t, err) || !isWebSocketURL(e.url) {
				return
			}
		}
		if err := c.checkURLAllowed(ctx, e.url); err != nil {
			yield(DialTarget{}, err)
			return
		}
		yield(c.dialTargetOf(e.url), nil)
	}
}

// ProbeResult is what is known about an endpoint without using it.
type ProbeResult struct {
	HTTP    bool   // discovery succeeded
	Ready   bool   // a command was answered over a WebSocket
	Version string // as reported by the browser
	Err     error  // why it is not ready; nil if it is, or if only a connection could tell
}

// Probe checks an endpoint once without keeping a connection. It does not connect to a hosted browser, a WebSocket on
// another machine without discovery: there each connection is a session, which may be limited and cost money.
func (c Connector) Probe(ctx context.Context, e Endpoint) ProbeResult {
	var p ProbeResult
	t := c.dialTargetOf(e.url)
	if !e.IsDirect() {
		found, version, err := c.Discover(ctx, e)
		p.HTTP, p.Version = err == nil, version
		switch {
		case err == nil:
			t = found
		case !isWebSocketURL(e.url):
			p.Err = &ConnectError{
				Endpoint: e.String(),
				Attempts: []ConnectAttempt{{LayerDiscovery, redactParsedURL(versionURL(e.url)), err}},
			}
			return p
		case !e.IsLoopback():
			if isFinal(err) {
				p.Err = err
			}
			return p
		}
	}
	bound := cmp.Or(c.Handshake, DefaultProbeTimeout)
	if err := c.checkURLAllowed(ctx, e.url); err != nil {
		p.Err = err
		return p
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("nothing within %s", bound))
	defer cancel()
	version, err := queryVersion(ctx, t, bound)
	if err != nil {
		p.Err = &ConnectError{
			Endpoint: e.String(),
			Attempts: []ConnectAttempt{{LayerWebSocket, t.String(), presentableError(ctx, e.url.Hostname(), err)}},
		}
		return p
	}
	p.Ready, p.Version = true, version
	return p
}

// queryVersion connects, asks for the version and closes the connection.
func queryVersion(ctx context.Context, t DialTarget, bound time.Duration) (version string, err error) {
	conn, err := cdp.Dial(ctx, t.URL, cdp.Options{
		CallTimeout: bound, HandshakeHeader: t.Header,
		HandshakeClient: t.Client,
	})
	if err != nil {
		return "", err
	}
	conn.Start(func(cdp.Event) {}) // it ends with Close
	defer conn.Close()
	root := conn.Session("", cdp.ErrGone)
	res, err := cdp.Ask[proto.BrowserGetVersionResult](ctx, root, proto.BrowserGetVersion{})
	if err != nil {
		if errors.Is(err, cdp.ErrNoAnswer) || ctx.Err() != nil {
			return "", errNoResponse
		}
		return "", err
	}
	return res.Product, nil
}

// DialTarget is a WebSocket to dial: its URL without user information, the corresponding header, and the client allowed
// to connect to it.
type DialTarget struct {
	URL    string
	Header http.Header
	Client *http.Client
}

// String returns the URL with secrets redacted.
func (t DialTarget) String() string { return RedactURL(t.URL) }

// DefaultDiscoveryTimeout bounds discovery, DefaultProbeTimeout the handshake and first command of a probe.
const (
	DefaultDiscoveryTimeout = 1500 * time.Millisecond
	DefaultProbeTimeout     = 3 * time.Second
)

// Connector connects to endpoints. The zero value is ready for use. It is safe for concurrent use.
type Connector struct {
	// HTTPTimeout bounds discovery; 0 means [DefaultDiscoveryTimeout].
	HTTPTimeout time.Duration
	// Handshake bounds the WebSocket handshake and first commands; 0 means the limit of the attempt (5, 7, 9 s), and
	// [DefaultProbeTimeout] for a probe.
	Handshake time.Duration
	// Policy, if set, checks addresses that are not on this machine.
	Policy EndpointPolicy
}

// EndpointPolicy decides where browsers on other machines may be. An error refuses.
type EndpointPolicy interface {
	// AllowEndpoint checks a URL, including one that an endpoint advertises.
	AllowEndpoint(ctx context.Context, address *url.URL) error
	// AllowEndpointAddr checks the IP address that a name resolves to when connecting, since DNS may give another
	// answer by then.
	AllowEndpointAddr(address *url.URL, at netip.Addr) error
}

// Discover requests /json/version for the browser's WebSocket. version is the browser's name and version.
func (c Connector) Discover(ctx context.Context, e Endpoint) (t DialTarget, version string, err error) {
	limit := cmp.Or(c.HTTPTimeout, DefaultDiscoveryTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nothing within %s", limit))
	defer cancel()
	if err := c.checkURLAllowed(ctx, e.url); err != nil {
		return DialTarget{}, "", err
	}
	u := versionURL(e.url)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return DialTarget{}, "", errors.New("no request can be sent to the address")
	}
	maps.Copy(req.Header, basicAuthHeader(e.url))
	resp, err := c.client(e.url).Do(req)
	if err != nil {
		return DialTarget{}, "", presentableError(ctx, e.url.Hostname(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// Hosted browsers without discovery do this.
		missing := fmt.Errorf("HTTP %d %s instead of the browser's version", resp.StatusCode,
			http.StatusText(resp.StatusCode))
		return DialTarget{}, "", statusError(e.url.Hostname(), resp.StatusCode, missing)
	}
	var answer struct {
		Browser   string `json:"Browser"`
		WebSocket string `json:"webSocketDebuggerUrl"`
	}
	const enough = 64 << 10
	if err := json.NewDecoder(io.LimitReader(resp.Body, enough)).Decode(&answer); err != nil {
		if ctx.Err() != nil {
			return DialTarget{}, "", presentableError(ctx, e.url.Hostname(), err)
		}
		return DialTarget{}, "", errNoWebSocket
	}
	found, err := rewriteWebSocketURL(e.url, answer.WebSocket)
	if err != nil {
		return DialTarget{}, "", err
	}
	if err := c.checkURLAllowed(ctx, found); err != nil {
		return DialTarget{}, "", err
	}
	return c.dialTargetOf(found), answer.Browser, nil
}

// versionURL returns the URL for discovery. It keeps the query, which may contain credentials.
func versionURL(asked *url.URL) *url.URL {
	u := *asked
	u.User = nil
	u.Scheme = httpScheme(u.Scheme)
	u.RawPath = ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/json/version") + "/json/version"
	return &u
}

// client returns an HTTP client that uses no proxy for browsers on this machine, connects only where the policy allows,
// and follows no redirect to another host.
func (c Connector) client(u *url.URL) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if isLoopbackHost(u.Hostname()) {
		transport.Proxy = nil
	} else if c.Policy != nil {
		checked := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err == nil {
				err = c.Policy.AllowEndpointAddr(u, at.Addr().Unmap())
			}
			if err != nil {
				return fmt.Errorf("%w: %w", ErrEndpointBlocked, err)
			}
			return nil
		}}
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err == nil && host != u.Hostname() {
				return new(net.Dialer).DialContext(ctx, network, address) // to a proxy, which the operator configured
			}
			return checked.DialContext(ctx, network, address)
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 || req.URL.Host != via[0].URL.Host {
			return errors.New("it redirects elsewhere: name the final address as cdpUrl")
		}
		return nil
	}}
}

// CheckAllowed returns nil if the policy allows connecting to e. The error wraps [ErrEndpointBlocked].
func (c Connector) CheckAllowed(ctx context.Context, e Endpoint) error {
	return c.checkURLAllowed(ctx, e.url)
}

func (c Connector) checkURLAllowed(ctx context.Context, u *url.URL) error {
	if c.Policy == nil || isLoopbackHost(u.Hostname()) {
		return nil
	}
	if err := c.Policy.AllowEndpoint(ctx, u); err != nil {
		return fmt.Errorf("%w: %w", ErrEndpointBlocked, err)
	}
	return nil
}

// ErrEndpointBlocked is returned if the policy forbids connecting.
var ErrEndpointBlocked = errors.New("browser endpoint blocked by policy")

var errNoWebSocket = errors.New("the answer names no WebSocket (webSocketDebuggerUrl): this is not a browser's " +
	"DevTools")

var errNoResponse = errors.New("it accepts connections, but answers no command: it is stopped, or hangs")

// Layer is a step in connecting to a browser.
type Layer string

// Values of Layer, in order.
const (
	LayerDiscovery Layer = "discovery" // GET /json/version
	LayerWebSocket Layer = "websocket" // the WebSocket and the first command over it
)

// ConnectAttempt is a failed step.
type ConnectAttempt struct {
	Layer   Layer
	Address string // redacted
	Err     error
}

// ConnectError says that a browser could not be reached, and at which layers.
type ConnectError struct {
	Endpoint string           // redacted
	Attempts []ConnectAttempt // of the last round
	Rounds   int
}

func (e *ConnectError) Error() string {
	parts := make([]string, 0, len(e.Attempts))
	for _, t := range e.Attempts {
		parts = append(parts, fmt.Sprintf("%s at %s: %v", t.Layer, t.Address, t.Err))
	}
	text := fmt.Sprintf("no browser at %s: %s", e.Endpoint, strings.Join(parts, "; "))
	if e.Rounds > 1 {
		text += fmt.Sprintf(" (tried %d times)", e.Rounds)
	}
	return text
}

// Unwrap returns the errors of the attempts.
func (e *ConnectError) Unwrap() []error {
	errs := make([]error, 0, len(e.Attempts))
	for _, t := range e.Attempts {
		errs = append(errs, t.Err)
	}
	return errs
}

// RateLimitError says that the provider of a hosted browser refuses another session for now. It is not retried.
type RateLimitError struct{ Host string }

func (e *RateLimitError) Error() string {
	way := "wait until another session has ended there, or raise the plan's limit"
	if e.Host == "browserbase.com" || strings.HasSuffix(e.Host, ".browserbase.com") {
		way = "Browserbase bounds the sessions of an account that run at once: end one in its dashboard, or raise the plan"
	}
	return fmt.Sprintf("%s refused with HTTP 429, its rate limit; do not retry at once: %s", e.Host, way)
}

// presentableError makes a network error suitable for display: short, and without the URL, which may contain a secret.
func presentableError(ctx context.Context, host string, err error) error {
	if status, ok := errors.AsType[*cdp.StatusError](err); ok {
		return statusError(host, status.Code, &cdp.StatusError{Code: status.Code})
	}
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		err = withURL.Err
	}
	switch text := err.Error(); {
	case errors.Is(err, errNoResponse):
		return err
	case errors.Is(err, cdp.ErrNoAnswer):
		return errNoResponse
	case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		return fmt.Errorf("no answer in time: what listens there is silent, or the way to it is slow: %w",
			cmp.Or(context.Cause(ctx), err))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"),
		strings.Contains(text, "first record does not look like a TLS handshake"):
		return errors.New("it does not speak TLS: use http:// or ws://")
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "readLoopPeekFailLocked"):
		// the server spoke first
		return errors.New("what answers there does not speak HTTP")
	default:
		return err
	}
}

// statusError returns a RateLimitError for such a status, or otherwise.
func statusError(host string, code int, otherwise error) error {
	if code == http.StatusTooManyRequests {
		return &RateLimitError{Host: host}
	}
	return otherwise
}

// isFinal reports whether retrying is useless.
func isFinal(err error) bool {
	if _, limited := errors.AsType[*RateLimitError](err); limited || errors.Is(err, ErrEndpointBlocked) {
		return true
	}
	status, ok := errors.AsType[*cdp.StatusError](err)
	return ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}
