package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"

	"github.com/go-rod/rod/lib/proto"
)

// Profile is one profile, for those who work all tabs of its browser rather than a [Window] of their own. It is safe
// for concurrent use.
type Profile struct{ state *profileState }

// FindProfile returns the profile of that name, or the default one if name is empty. The error wraps
// [profile.ErrNotFound], and lists those that there are.
func (m *Manager) FindProfile(name string) (*Profile, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	p, err := m.store.Find(name)
	if err != nil {
		return nil, err
	}
	return &Profile{m.profileState(p.Name)}, nil
}

// Name returns the profile's name.
func (p *Profile) Name() string { return p.state.name }

// Lease is a running browser that no rule ends for idleness until Release.
type Lease struct {
	Browser *page.Browser
	// Observers are those that [Manager.NewObservers] made for this connection, in its order, and then its
	// live views.
	Observers []page.Observer
	// Model is the id by which those are asked on whose behalf a model uses the browser; "" for a person's own use.
	Model string

	browser *browser
}

// Release gives the browser back. It is called once.
func (u *Lease) Release() { u.browser.release() }

// Local reports whether the browser was started by us, on this machine.
func (u *Lease) Local() bool { return u.browser.isLocal() }

// WebSocketURL returns where the DevTools of the tab with that target id are reached, with a token; "" if no port is
// open, or if we did not start the browser, whose address may hold secrets.
func (u *Lease) WebSocketURL(target string) string {
	if u.browser.devTools == nil {
		return ""
	}
	return fmt.Sprintf("ws://127.0.0.1:%d/devtools/page/%s", u.browser.port, target)
}

// Joined reports whether it is the browser that a person uses, of the driver existing-session.
func (u *Lease) Joined() bool { return u.browser.resolved.Mode == profile.ModeJoined }

// Acquire returns the profile's browser. If it does not run it is started, or the error wraps [ErrNotRunning] if launch
// is false. Other errors are [ErrUnavailable], [ErrInvalid], [ErrDisabled], [ErrClosed] or the end of ctx. The caller
// releases it.
func (p *Profile) Acquire(ctx context.Context, launch bool) (*Lease, error) {
	if !launch {
		b := p.state.current()
		if b == nil || !b.acquire() {
			return nil, fmt.Errorf("profile %q: %w", p.Name(), ErrNotRunning)
		}
		return b.lease(), nil
	}
	b, err := p.state.acquire(ctx, nil)
	if err != nil {
		return nil, err
	}
	return b.lease(), nil
}

// lease returns the browser for a caller who has entered it.
func (b *browser) lease() *Lease { return &Lease{Browser: b.conn, Observers: b.observers, browser: b} }

// StartOptions adjusts one start.
type StartOptions struct {
	// Headless decides for this start; nil leaves it to the environment, the profile and the settings. It is refused
	// ([ErrInvalid]) where we do not start the browser.
	Headless *bool
}

// Start sees to it that the profile's browser runs and answers: one that does not is started again. For a browser that
// a person uses, it asks that person again also after a refusal.
func (p *Profile) Start(ctx context.Context, opts StartOptions) error {
	if err := acquireTurn(ctx, p.state.startTurn); err != nil {
		return err
	}
	defer releaseTurn(p.state.startTurn)
	stored, err := p.state.manager.store.Ensure(p.Name())
	if err != nil {
		return err
	}
	pl, err := p.state.manager.resolve(stored)
	if err != nil {
		return err
	}
	if opts.Headless != nil && pl.Mode != profile.ModeLaunched {
		return errNotLaunchedByUs(p.Name())
	}
	if pl.Mode == profile.ModeJoined {
		p.state.breaker.Close()
	}
	b, err := p.state.acquireWithTurn(ctx, opts.Headless)
	if err != nil {
		return err
	}
	const well = 5 * time.Second
	// It may be given up as silent just now.
	if err = b.ping(ctx, well); err == nil || !errors.Is(err, cdp.ErrNoAnswer) && !errors.Is(err, cdp.ErrGone) {
		b.release()
		return err
	}
	b.manager.Logger.Warn("the browser does not answer, and is started again", "profile", p.Name(), "pid", b.pid())
	b.release()
	if err := b.stop(ctx); err != nil {
		return err
	}
	if b, err = p.state.acquireWithTurn(ctx, opts.Headless); err != nil {
		return err
	}
	b.release()
	return nil
}

// ping has one command answered.
func (b *browser) ping(ctx context.Context, limit time.Duration) error {
	return b.conn.RootSession().BeginWithin(limit, proto.BrowserGetVersion{}).Wait(ctx, nil)
}

// Stop ends the profile's browser, in the way that keeps cookies. stopped is false if none ran. A browser that we did
// not start is left alone: the connection to it is dropped, and stopped is true; in a person's browser the tabs that we
// opened are closed.
func (p *Profile) Stop(ctx context.Context) (stopped bool, err error) {
	if err := acquireTurn(ctx, p.state.startTurn); err != nil {
		return false, err
	}
	defer releaseTurn(p.state.startTurn)
	return p.state.stopWithTurn(ctx)
}

// stopWithTurn is like Stop; the caller holds the turn.
func (p *profileState) stopWithTurn(ctx context.Context) (stopped bool, err error) {
	b := p.current()
	if b == nil || b.isGone() {
		stored, err := p.manager.store.Find(p.name)
		if err != nil {
			return false, nil //nolint:nilerr // nothing runs, and the profile is no more
		}
		pl, err := p.manager.resolve(stored)
		return err == nil && pl.Mode != profile.ModeLaunched, nil
	}
	if err := b.stop(ctx); err != nil {
		return false, fmt.Errorf("stop browser of profile %q: %w", p.name, err)
	}
	return true, nil
}

// resolve returns how the profile is stored, and what that means now. One that runs and is not on the list any more is
// as it was.
func (p *profileState) resolve() (profile.Resolved, error) {
	stored, err := p.manager.store.Find(p.name)
	if b := p.current(); errors.Is(err, profile.ErrNotFound) && b != nil {
		return b.resolved, nil
	}
	if err != nil {
		return profile.Resolved{}, err
	}
	return p.manager.resolve(stored)
}
