package endpoint

import (
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

// Target is a WebSocket to dial: its address without user information, and the header that stands for it.
type Target struct {
	URL    string
	Header http.Header
}

// String is the target as it may be shown.
func (t Target) String() string { return Redact(t.URL) }

// DefaultHTTPTimeout bounds discovery, DefaultProbe the handshake and the first command of a probe.
const (
	DefaultHTTPTimeout = 1500 * time.Millisecond
	DefaultProbe       = 3 * time.Second
)

// Connector reaches endpoints. The zero value is ready for use. It is safe for concurrent use.
type Connector struct {
	// HTTPTimeout bounds discovery; 0 means [DefaultHTTPTimeout].
	HTTPTimeout time.Duration
	// Handshake bounds the WebSocket's handshake and first commands; 0 means what the round has (5, 7, 9 s), and
	// [DefaultProbe] for a probe.
	Handshake time.Duration
	// Allow is asked for each address, also those that an endpoint names; its error refuses. Nil allows all. Addresses
	// of this machine are not asked for.
	Allow func(ctx context.Context, address *url.URL) error
}

// Discover asks /json/version, and nothing else, for the browser's WebSocket. version is what the browser calls itself.
func (c Connector) Discover(ctx context.Context, e Endpoint) (t Target, version string, err error) {
	limit := c.HTTPTimeout
	if limit <= 0 {
		limit = DefaultHTTPTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("nothing within %s", limit))
	defer cancel()
	if err := c.allow(ctx, e.url); err != nil {
		return Target{}, "", err
	}
	u := versionURL(e.url)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Target{}, "", errors.New("the address makes no request")
	}
	maps.Copy(req.Header, header(e.url))
	resp, err := client(e).Do(req)
	if err != nil {
		return Target{}, "", clean(ctx, e.url.Hostname(), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Target{}, "", discoveryStatus(e.url.Hostname(), resp.StatusCode)
	}
	var answer struct {
		Browser   string `json:"Browser"`
		WebSocket string `json:"webSocketDebuggerUrl"`
	}
	const enough = 64 << 10
	if err := json.NewDecoder(io.LimitReader(resp.Body, enough)).Decode(&answer); err != nil {
		if ctx.Err() != nil {
			return Target{}, "", clean(ctx, e.url.Hostname(), err)
		}
		return Target{}, "", errNoWebSocket
	}
	found, err := repair(e.url, answer.WebSocket)
	if err != nil {
		return Target{}, "", err
	}
	if err := c.allow(ctx, found); err != nil {
		return Target{}, "", err
	}
	return target(found), answer.Browser, nil
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

// versionURL is where discovery asks. The query stays: it may be what lets us in.
func versionURL(asked *url.URL) *url.URL {
	u := *asked
	u.User = nil
	u.Scheme = httpScheme(u.Scheme)
	u.RawPath = ""
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/json/version") + "/json/version"
	return &u
}

// client asks without a proxy where the browser is on this machine, and follows no redirect to another host.
func client(e Endpoint) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	if e.Loopback() {
		transport.Proxy = nil
	}
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 3 || req.URL.Host != via[0].URL.Host {
			return errors.New("it redirects elsewhere: name the final address as cdpUrl")
		}
		return nil
	}}
}

// Permit is nil if a rule of ours lets us connect there. The error wraps [ErrBlocked].
func (c Connector) Permit(ctx context.Context, e Endpoint) error { return c.allow(ctx, e.url) }

func (c Connector) allow(ctx context.Context, u *url.URL) error {
	if c.Allow == nil || isLoopback(u.Hostname()) {
		return nil
	}
	if err := c.Allow(ctx, u); err != nil {
		return fmt.Errorf("%w: %w", ErrBlocked, err)
	}
	return nil
}
