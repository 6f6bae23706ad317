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

	"github.com/go-rod/rod/lib/proto"
)

// connectRounds are the tries of [ConnectEndpoint]: how long each may take, and how long it is waited afterwards.
var connectRounds = []struct{ limit, pause time.Duration }{
	{5 * time.Second, 250 * time.Millisecond},
	{7 * time.Second, 500 * time.Millisecond},
	{9 * time.Second, 0},
}

// ConnectEndpoint finds the browser's LayerWebSocket and has dial open it, up to three times. dial keeps to its context
// and to the bound that it is given for the handshake and first commands. What it returns is the caller's. The error is
// an *[Error]; a provider's rate limit, a refused login and ErrEndpointBlocked end the tries at once.
func ConnectEndpoint[T any](ctx context.Context, c Connector, e Endpoint, dial func(ctx context.Context, t DialTarget, bound time.Duration) (T, error)) (T, error) {
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
		if ctx.Err() != nil || isFinal(tries[len(tries)-1].Err) || !waitPause(ctx, round.pause) {
			break
		}
	}
	if ctx.Err() != nil {
		return zero, fmt.Errorf("%w: %w", failure, context.Cause(ctx))
	}
	return zero, failure
}

// targets yields the WebSockets that may be the endpoint's, in the order in which to try them, and the failure of
// discovery in its place.
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

func waitPause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// ProbeResult is what can be seen of an endpoint without using it.
type ProbeResult struct {
	HTTP    bool   // discovery was answered
	Ready   bool   // a command was answered over a LayerWebSocket
	Version string // what the browser calls itself
	Err     error  // why it is not ready; nil if it is, or if only a connection would tell
}

// Probe looks at an endpoint once and keeps no connection. A hosted browser, a bare LayerWebSocket on another machine
// that answers no discovery, is not connected to: there each connection is a session, which may be limited and cost
// money.
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
			p.Err = &ConnectError{Endpoint: e.String(), Attempts: []ConnectAttempt{{LayerDiscovery, redactParsedURL(versionURL(e.url)), err}}}
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
		p.Err = &ConnectError{Endpoint: e.String(), Attempts: []ConnectAttempt{{LayerWebSocket, t.String(), presentableError(ctx, e.url.Hostname(), err)}}}
		return p
	}
	p.Ready, p.Version = true, version
	return p
}

// queryVersion connects, has one command answered and leaves.
func queryVersion(ctx context.Context, t DialTarget, bound time.Duration) (version string, err error) {
	conn, err := cdp.Dial(ctx, t.URL, cdp.Options{CallTimeout: bound, HandshakeHeader: t.Header, HandshakeClient: t.Client})
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

// DialTarget is a LayerWebSocket to dial: its address without user information, the header that stands for it, and the
// client that may connect to it.
type DialTarget struct {
	URL    string
	Header http.Header
	Client *http.Client
}

// String returns the target as it may be shown.
func (t DialTarget) String() string { return RedactURL(t.URL) }

// DefaultDiscoveryTimeout bounds discovery, DefaultProbeTimeout the handshake and the first command of a probe.
const (
	DefaultDiscoveryTimeout = 1500 * time.Millisecond
	DefaultProbeTimeout     = 3 * time.Second
)

// Connector reaches endpoints. The zero value is ready for use. It is safe for concurrent use.
type Connector struct {
	// HTTPTimeout bounds discovery; 0 means [DefaultDiscoveryTimeout].
	HTTPTimeout time.Duration
	// Handshake bounds the LayerWebSocket's handshake and first commands; 0 means what the round has (5, 7, 9 s), and
	// [DefaultProbeTimeout] for a probe.
	Handshake time.Duration
	// Policy, if set, is asked for addresses that are not of this machine.
	Policy EndpointPolicy
}

// EndpointPolicy judges where browsers on other machines may be. Its errors refuse.
type EndpointPolicy interface {
	// AllowEndpoint judges an address, also one that an endpoint names.
	AllowEndpoint(ctx context.Context, address *url.URL) error
	// AllowEndpointAddr judges once more what a name leads to when it is connected to: the answer of the DNS may differ
	// by then.
	AllowEndpointAddr(address *url.URL, at netip.Addr) error
}

// Discover asks /json/version, and nothing else, for the browser's LayerWebSocket. version is what the browser calls
// itself.
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
		return DialTarget{}, "", errors.New("the address makes no request")
	}
	maps.Copy(req.Header, basicAuthHeader(e.url))
	resp, err := c.client(e.url).Do(req)
	if err != nil {
		return DialTarget{}, "", presentableError(ctx, e.url.Hostname(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// Hosted browsers without discovery answer so.
		missing := fmt.Errorf("HTTP %d %s instead of the browser's version", resp.StatusCode, http.StatusText(resp.StatusCode))
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

// versionURL returns where discovery asks. The query stays: it may be what lets us in.
func versionURL(asked *url.URL) *url.URL {
	u := *asked
	u.User = nil
	u.Scheme = httpScheme(u.Scheme)
	u.RawPath = ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/json/version") + "/json/version"
	return &u
}

// client asks without a proxy where the browser is on this machine, connects only where the policy lets it, and follows
// no redirect to another host.
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
				return new(net.Dialer).DialContext(ctx, network, address) // a proxy, which is the operator's
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

// CheckAllowed returns nil if our rules allow connecting to e. The error wraps [ErrEndpointBlocked].
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

// ErrEndpointBlocked says that a rule of ours forbids to connect there.
var ErrEndpointBlocked = errors.New("browser endpoint blocked by policy")

var errNoWebSocket = errors.New("the answer names no WebSocket (webSocketDebuggerUrl): this is not a browser's DevTools")

var errNoResponse = errors.New("it accepts connections, but answers no command: it is stopped, or hangs")

// Layer is a step on the way to a browser.
type Layer string

// The layers, from the outside in.
const (
	LayerDiscovery Layer = "discovery" // GET /json/version
	LayerWebSocket Layer = "websocket" // the LayerWebSocket and the first command over it
)

// ConnectAttempt is one step that failed.
type ConnectAttempt struct {
	Layer   Layer
	Address string // the address, redacted
	Err     error
}

// ConnectError says that a browser could not be reached, and at which layer.
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

// Unwrap lets errors.Is and errors.As look into the tries.
func (e *ConnectError) Unwrap() []error {
	errs := make([]error, 0, len(e.Attempts))
	for _, t := range e.Attempts {
		errs = append(errs, t.Err)
	}
	return errs
}

// RateLimitError says that the provider of a hosted browser wants no further session now. It is not tried again.
type RateLimitError struct{ Host string }

func (e *RateLimitError) Error() string {
	way := "wait until another session has ended there, or raise the plan's limit"
	if e.Host == "browserbase.com" || strings.HasSuffix(e.Host, ".browserbase.com") {
		way = "Browserbase bounds the sessions of an account that run at once: end one in its dashboard, or raise the plan"
	}
	return fmt.Sprintf("%s refused with HTTP 429, its rate limit; do not retry at once: %s", e.Host, way)
}

// presentableError makes an error of the network fit to be shown: without the address, which may hold a secret, and
// short.
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
		return fmt.Errorf("no answer in time: what listens there is silent, or the way to it is slow: %w", cmp.Or(context.Cause(ctx), err))
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "first record does not look like a TLS handshake"):
		return errors.New("it does not speak TLS: use http:// or ws://")
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "readLoopPeekFailLocked"): // the latter: it spoke first
		return errors.New("what answers there does not speak HTTP")
	default:
		return err
	}
}

// statusError returns a provider's rate limit, or otherwise.
func statusError(host string, code int, otherwise error) error {
	if code == http.StatusTooManyRequests {
		return &RateLimitError{Host: host}
	}
	return otherwise
}

// isFinal reports whether trying again is of no use.
func isFinal(err error) bool {
	if _, limited := errors.AsType[*RateLimitError](err); limited || errors.Is(err, ErrEndpointBlocked) {
		return true
	}
	status, ok := errors.AsType[*cdp.StatusError](err)
	return ok && (status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden)
}
