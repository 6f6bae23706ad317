package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
)

// startGuardedBrowser starts clank's browser behind its guard: a Manager as the program has it, and a Gate with the rules that hold
// where nobody has set any.
func startGuardedBrowser(ctx context.Context, o RangeOptions, p *rangePass) (*testedBrowser, error) {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	rules := p.rules(o)
	gate := &egress.Proxy{Rules: func() policy.Rules { return rules }, Resolver: p.resolver()}
	if err := gate.Open(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	args := append(commonFlags(), "--disable-features="+disabledFeatures)
	if !p.ground.Namespace {
		args = append(args, "--ignore-certificate-errors")
	}
	manager := &browsermgr.Manager{
		Home: home, Proxy: gate.Listen, Config: func() profile.Config { return profile.Config{Headless: new(true), Args: args} },
	}
	b := &testedBrowser{close: func(ctx context.Context) error {
		return errors.Join(manager.Close(ctx), gate.Close(ctx), os.RemoveAll(home))
	}}
	if err := manager.Open(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if _, _, err := manager.Window(ctx, browsermgr.WindowOptions{Key: "range"}); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if n := len(manager.Status()); n != 1 {
		return nil, errors.Join(fmt.Errorf("find the guarded browser: %d are running", n), b.close(ctx))
	}
	if b.devtools, err = devToolsURL(ctx, manager.Status()[0].Port); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// rules returns the rules of the guard.
func (p *rangePass) rules(o RangeOptions) policy.Rules {
	var rules policy.Rules
	if !p.ground.Namespace {
		// Here the site itself is on an address that no page may reach.
		for _, zone := range []string{hostileZone, otherZone} {
			for _, port := range []uint16{p.site.plain, p.site.tls} {
				rules.AllowedHosts = append(rules.AllowedHosts, "*."+zone+":"+strconv.Itoa(int(port)))
			}
		}
	}
	if o.AllowedHost != "" {
		rules.AllowedHosts = append(rules.AllowedHosts, o.AllowedHost)
	}
	return rules
}

// resolver asks the name server of the range.
func (p *rangePass) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", p.names4u.String())
	}}
}

// devToolsURL asks a browser of this machine for the address of its DevTools.
func devToolsURL(ctx context.Context, port int) (string, error) {
	t, _, err := profile.Connector{}.Discover(ctx, profile.LocalEndpoint(port))
	if err != nil {
		return "", fmt.Errorf("find the guarded browser: %w", err)
	}
	return t.URL, nil
}
