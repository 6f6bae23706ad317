package field

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/hostile/names"
)

// guarded starts clank's browser behind its guard: a Manager as the program has it, and a Gate with the rules that hold
// where nobody has set any.
func guarded(ctx context.Context, o Options, p *pass) (*browser, error) {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	rules := p.rules(o)
	gate := &egress.Gate{Rules: func() policy.Rules { return rules }, Resolver: p.resolver()}
	if err := gate.Open(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	manager := &browsermgr.Manager{
		Home: home, Headless: true, Proxy: gate.Listen,
		Args: append(candour(), append(o.Flags, "--disable-features="+frankness)...),
	}
	if !p.ground.Namespace {
		manager.Args = append(manager.Args, "--ignore-certificate-errors")
	}
	b := &browser{close: func(ctx context.Context) error {
		return errors.Join(manager.Close(ctx), gate.Close(ctx), os.RemoveAll(home))
	}}
	if err := manager.Open(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if _, _, err := manager.Window(ctx, browsermgr.WindowOptions{Key: "range"}); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	at, err := started(manager.Status())
	if err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if b.devtools, err = endpoint(ctx, at); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// rules are those of the guard.
func (p *pass) rules(o Options) policy.Rules {
	var rules policy.Rules
	if !p.ground.Namespace {
		// Here the site itself is on an address that no page may reach.
		for _, zone := range []string{names.Evil, names.Other} {
			for _, port := range []uint16{p.site.plain, p.site.tls} {
				rules.AllowedHosts = append(rules.AllowedHosts, "*."+zone+":"+strconv.Itoa(int(port)))
			}
		}
	}
	if o.Hole != "" {
		rules.AllowedHosts = append(rules.AllowedHosts, o.Hole)
	}
	return rules
}

// resolver asks the name server of the range.
func (p *pass) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", p.names4u.String())
	}}
}

// started is where the DevTools of the one browser that runs listen.
func started(running []browsermgr.Status) (netip.AddrPort, error) {
	if len(running) != 1 {
		return netip.AddrPort{}, fmt.Errorf("find the guarded browser: %d are running", len(running))
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(running[0].Port)), nil
}

// endpoint asks a browser for the address of its DevTools.
func endpoint(ctx context.Context, at netip.AddrPort) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.String()+"/json/version", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("find the guarded browser: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("find the guarded browser: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&version); err != nil || !strings.HasPrefix(version.URL, "ws://") {
		return "", errors.Join(errors.New("find the guarded browser: it does not say where its DevTools are"), err)
	}
	return version.URL, nil
}
