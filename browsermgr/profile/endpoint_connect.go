package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
		yield(dialTargetOf(e.url), nil)
	}
}

func waitPause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
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
	t := dialTargetOf(e.url)
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
	conn, err := cdp.Dial(ctx, t.URL, cdp.Options{CallTimeout: bound, HandshakeHeader: t.Header})
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
