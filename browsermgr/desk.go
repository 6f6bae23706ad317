package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/plan"
	"clank/browsermgr/roster"

	"github.com/go-rod/rod/lib/proto"
)

// Profile is one profile, for those who work all tabs of its browser rather than a [Window] of their own.
// It is safe for concurrent use.
type Profile struct{ profile *profile }

// FindProfile returns the profile of that name, or the default one if name is empty. The error wraps [ErrNoProfile], and
// lists those that there are.
func (m *Manager) FindProfile(name string) (*Profile, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	p, err := m.roster.Find(name)
	if err != nil {
		return nil, err
	}
	return &Profile{m.profile(p.Name)}, nil
}

// Name is the profile's name.
func (p *Profile) Name() string { return p.profile.name }

// Use is a running browser that no rule ends for idleness until Release.
type Use struct {
	Browser *page.Browser
	// Observers are those that [Manager.Observe] made for this connection, in its order.
	Observers []page.Observer

	browser *browser
}

// Release gives the browser back. It is called once.
func (u *Use) Release() { u.browser.leave() }

// Local reports whether the browser was started by us, on this machine.
func (u *Use) Local() bool { return u.browser.local() }

// WebSocketURL is where the DevTools of the tab with that target id are reached; "" if we did not start the browser, whose
// address may hold secrets.
func (u *Use) WebSocketURL(target string) string {
	if !u.Local() {
		return ""
	}
	return fmt.Sprintf("ws://127.0.0.1:%d/devtools/page/%s", u.browser.port, target)
}

// Joined reports whether it is the browser that a person uses, of the driver existing-session.
func (u *Use) Joined() bool { return u.browser.plan.Mode == plan.Joined }

// Use returns the profile's browser. If it does not run it is started, or the error wraps [ErrNotRunning] if launch is
// false. Other errors are [ErrUnavailable], [ErrInvalid], [ErrDisabled], [ErrClosed] or the end of ctx. The caller
// releases it.
func (p *Profile) Use(ctx context.Context, launch bool) (*Use, error) {
	if !launch {
		b := p.profile.look()
		if b == nil || !b.enter() {
			return nil, fmt.Errorf("profile %q: %w", p.Name(), ErrNotRunning)
		}
		return b.desk(), nil
	}
	b, err := p.profile.use(ctx, nil)
	if err != nil {
		return nil, err
	}
	return b.desk(), nil
}

// desk is the browser for a caller who has entered it.
func (b *browser) desk() *Use { return &Use{Browser: b.conn, Observers: b.observers, browser: b} }

// StartOptions adjusts one start.
type StartOptions struct {
	// Headless decides for this start; nil leaves it to the environment, the profile and the settings. It is refused
	// ([ErrInvalid]) where we do not start the browser.
	Headless *bool
}

// Start sees to it that the profile's browser runs and answers: one that does not is started again. For a browser that a
// person uses, it asks that person again also after a refusal.
func (p *Profile) Start(ctx context.Context, opts StartOptions) error {
	if err := take(ctx, p.profile.turn); err != nil {
		return err
	}
	defer give(p.profile.turn)
	stored, err := p.profile.manager.roster.Ensure(p.Name())
	if err != nil {
		return err
	}
	pl, err := p.profile.manager.plan(stored)
	if err != nil {
		return err
	}
	if opts.Headless != nil && pl.Mode != plan.Launched {
		return errNotOurs(p.Name())
	}
	if pl.Mode == plan.Joined {
		p.profile.breaker.Close()
	}
	b, err := p.profile.useNow(ctx, opts.Headless)
	if err != nil {
		return err
	}
	const well = 5 * time.Second
	if err = b.ping(ctx, well); err == nil || !errors.Is(err, cdp.ErrNoAnswer) {
		b.leave()
		return err
	}
	b.manager.Logger.Warn("the browser does not answer, and is started again", "profile", p.Name(), "pid", b.pid())
	b.leave()
	if err := b.stop(ctx); err != nil {
		return err
	}
	if b, err = p.profile.useNow(ctx, opts.Headless); err != nil {
		return err
	}
	b.leave()
	return nil
}

// ping has one command answered.
func (b *browser) ping(ctx context.Context, limit time.Duration) error {
	return b.conn.Root().BeginWithin(limit, proto.BrowserGetVersion{}).Wait(ctx, nil)
}

// Stop ends the profile's browser, in the way that keeps cookies. stopped is false if none ran. A browser that we did not
// start is left alone: the connection to it is dropped, and stopped is true; in a person's browser the tabs that we opened
// are closed.
func (p *Profile) Stop(ctx context.Context) (stopped bool, err error) {
	if err := take(ctx, p.profile.turn); err != nil {
		return false, err
	}
	defer give(p.profile.turn)
	return p.profile.stopNow(ctx)
}

// stopNow is Stop for whoever has the turn.
func (p *profile) stopNow(ctx context.Context) (stopped bool, err error) {
	b := p.look()
	if b == nil || b.isGone() {
		stored, err := p.manager.roster.Find(p.name)
		if err != nil {
			return false, nil //nolint:nilerr // nothing runs, and the profile is no more
		}
		pl, err := p.manager.plan(stored)
		return err == nil && pl.Mode != plan.Launched, nil
	}
	if err := b.stop(ctx); err != nil {
		return false, fmt.Errorf("stop browser of profile %q: %w", p.name, err)
	}
	return true, nil
}

// setup is how the profile is stored, and what that means now. One that runs and is not on the list any more is as it was.
func (p *profile) setup() (plan.Plan, error) {
	stored, err := p.manager.roster.Find(p.name)
	if b := p.look(); errors.Is(err, roster.ErrNotFound) && b != nil {
		return b.plan, nil
	}
	if err != nil {
		return plan.Plan{}, err
	}
	return p.manager.plan(stored)
}
