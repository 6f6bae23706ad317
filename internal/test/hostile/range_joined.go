package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/intercept"
	"clank/browsermgr/page"
)

// joinedPassLetter begins the tokens of the pass in which only requests count: a browser connects to where it is about to ask,
// before it is held back from asking.
const joinedPassLetter = "r"

// startJoinedBrowser starts a browser as somebody else would, without a proxy, and has clank join it: what its pages ask for is held
// and judged, which is the best that can be done there.
func startJoinedBrowser(ctx context.Context, o RangeOptions, p *rangePass) (*testedBrowser, error) {
	theirs, err := startBareChromium(ctx, p.makeshiftFlags()...)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, errors.Join(err, theirs.close(ctx))
	}
	rules := p.rules(o)
	gate := &egress.Proxy{Rules: func() policy.Rules { return rules }, Resolver: p.resolver()}
	manager := &browsermgr.Manager{Home: home, NewGuardObservers: func(profile string, _ bool) []page.Observer {
		return []page.Observer{intercept.NewRequestFilter(gate, profile, slog.New(slog.DiscardHandler))}
	}}
	b := &testedBrowser{devtools: theirs.devtools, close: func(ctx context.Context) error {
		return errors.Join(manager.Close(ctx), gate.Close(ctx), theirs.close(ctx), os.RemoveAll(home))
	}}
	use, err := joinAsProfile(ctx, gate, manager, theirs.devtools)
	if err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	end := b.close
	b.close = func(ctx context.Context) error {
		use.Release()
		return end(ctx)
	}
	b.open = func(ctx context.Context) (string, error) {
		tab, err := use.NewTab(ctx, page.TabOptions{})
		if err != nil {
			return "", err
		}
		return tab.TargetID(), nil
	}
	return b, nil
}

// joinAsProfile joins a browser as a profile.
func joinAsProfile(ctx context.Context, gate *egress.Proxy, manager *browsermgr.Manager, devtools string) (*browsermgr.Lease, error) {
	if err := errors.Join(gate.Open(ctx), manager.Open(ctx)); err != nil {
		return nil, err
	}
	if _, err := manager.CreateProfile(ctx, browsermgr.CreateProfileOptions{Name: "theirs", CDPURL: devtools}); err != nil {
		return nil, err
	}
	profile, err := manager.FindProfile("theirs")
	if err != nil {
		return nil, err
	}
	return profile.Acquire(ctx, true)
}

// runJoinedPass sends a browser that clank has only joined to one case of each attack. What can be held there must be.
func (r *rangeReport) runJoinedPass(ctx context.Context, o RangeOptions, all []rangeCase, without *passResult) error {
	var cases []rangeCase
	former := &passResult{}
	for i, c := range all {
		first := i == 0 || all[i-1].Group != c.Group || all[i-1].attackCase.Name != c.attackCase.Name
		if first && c.Never == "" && without.outcomes[i].hit() {
			cases = append(cases, c)
			former.outcomes = append(former.outcomes, without.outcomes[i])
		}
	}
	with, err := runPass(ctx, o, joinedPassLetter, 24000, cases, former, func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
		return startJoinedBrowser(ctx, o, p)
	})
	if err != nil {
		return err
	}
	for i, c := range cases {
		after := with.outcomes[i]
		c.canaryTarget.Name += ", joined"
		switch {
		case c.heldWhenJoined():
			r.Held++
			r.count(o, c, former.outcomes[i], after)
			if after.touched {
				r.Touched++
			}
		case after.hit() || after.touched:
			r.BestEffort++
			if o.Verbose {
				_, _ = fmt.Fprintf(o.Out, "%s: reached the canary, as is known\n", c.Title())
			}
		default:
			r.Beyond++
		}
	}
	return nil
}
