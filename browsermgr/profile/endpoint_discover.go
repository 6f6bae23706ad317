package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DialTarget is a LayerWebSocket to dial: its address without user information, and the header that stands for it.
type DialTarget struct {
	URL    string
	Header http.Header
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
	// Allow is asked for each address, also those that an endpoint names; its error refuses. Nil allows all. Addresses
	// of this machine are not asked for.
	Allow func(ctx context.Context, address *url.URL) error
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
	resp, err := discoveryClient(e).Do(req)
	if err != nil {
		return DialTarget{}, "", presentableError(ctx, e.url.Hostname(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return DialTarget{}, "", discoveryStatus(e.url.Hostname(), resp.StatusCode)
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
	return dialTargetOf(found), answer.Browser, nil
}

func discoveryStatus(host string, code int) error {
	if code == http.StatusTooManyRequests {
		return &RateLimitError{Host: host}
	}
	return &noVersionError{code: code}
}

// noVersionError is a status that is no success. Hosted browsers without discovery answer so.
type noVersionError struct{ code int }

func (e *noVersionError) Error() string {
	return fmt.Sprintf("HTTP %d %s instead of the browser's version", e.code, http.StatusText(e.code))
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

// discoveryClient asks without a proxy where the browser is on this machine, and follows no redirect to another host.
func discoveryClient(e Endpoint) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if e.IsLoopback() {
		transport.Proxy = nil
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
	if c.Allow == nil || isLoopbackHost(u.Hostname()) {
		return nil
	}
	if err := c.Allow(ctx, u); err != nil {
		return fmt.Errorf("%w: %w", ErrEndpointBlocked, err)
	}
	return nil
}
