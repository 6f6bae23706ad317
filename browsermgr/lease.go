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

// Profile gives access to all tabs of a profile's browser, for callers that do not use a [Window]. It is safe for
// concurrent use.
type Profile struct{ state *profileState }

// FindProfile returns the profile of that name, or the default one if name is empty. The error wraps
// [profile.ErrNotFound] and lists the existing profiles.
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

// Lease is a running browser that is not stopped for idleness until Release.
type Lease struct {
	Browser *page.Browser
	// Observers are those that [Manager.NewObservers] made for this connection, in its order, followed by its
	// screencasts.
	Observers []page.Observer
	// Model identifies who approves what a model does in the browser; "" for a person's own use.
	Model string

	browser *browser
}

// Release returns the browser. It must be called once.
func (u *Lease) Release() { u.browser.release() }

// TakeNotes returns, in sentences and only once, what happened to the browser that a user of its tabs should know.
func (u *Lease) TakeNotes() []string {
	b := u.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeNetworkLoss(&b.unreportedRestart)
}

// Local reports whether we started the browser, on this machine.
func (u *Lease) Local() bool { return u.browser.isLocal() }

// WebSocketURL returns the DevTools address of the tab with that target id, with a token. It is "" if no port is open,
// or if we did not start the browser, whose address may contain secrets.
func (u *Lease) WebSocketURL(target string) string {
	if u.browser.devTools == nil {
		return ""
	}
	return fmt.Sprintf("ws://127.0.0.1:%d/devtools/page/%s", u.browser.port, target)
}

// Joined reports whether it is a person's own browser, of the driver existing-session.
func (u *Lease) Joined() bool { return u.browser.resolved.Mode == profile.ModeJoined }

// Acquire returns the profile's browser. If it is not running, it is started, or with launch false the error wraps
// [ErrNotRunning]. Other errors wrap [ErrUnavailable], [ErrInvalid], [ErrDisabled], [ErrClosed] or the cause of ctx.
// The caller calls Release.
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

// lease returns a Lease for a caller that has called acquire.
func (b *browser) lease() *Lease { return &Lease{Browser: b.conn, Observers: b.observers, browser: b} }

// StartOptions adjusts one start.
type StartOptions struct {
	// Headless applies to this start; nil leaves the choice to the environment, the profile and the settings. It is
	// refused with [ErrInvalid] if we do not start the browser.
	Headless *bool
}

// Start ensures that the profile's browser runs and answers, and restarts one that does not answer. A person whose own
// browser is to be joined is asked again even after a refusal.
func (p *Profile) Start(ctx context.Context, opts StartOptions) error {
	if err := acquireTurn(ctx, p.state.startTurn); err != nil {
		return err
	}
	defer releaseTurn(p.state.startTurn)
	stored, err := p.state.manager.store.Find(p.Name())
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
	// The connection may just have been given up as silent.
	if err = b.ping(ctx, well); err == nil || !errors.Is(err, cdp.ErrNoAnswer) && !errors.Is(err, cdp.ErrGone) {
		b.release()
		return err
	}
	b.manager.Logger.Warn("browser does not answer; restarting it", "profile", p.Name(), "pid", b.pid())
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

// ping sends a command and waits for its answer.
func (b *browser) ping(ctx context.Context, limit time.Duration) error {
	return b.conn.RootSession().BeginWithin(limit, proto.BrowserGetVersion{}).Wait(ctx, nil)
}

// Stop shuts down the profile's browser so that cookies are saved. stopped is false if none was running. A browser that
// we did not start keeps running: only the connection is closed, and stopped is true. In a person's own browser the
// tabs that we opened are closed.
func (p *Profile) Stop(ctx context.Context) (stopped bool, err error) {
	if err := acquireTurn(ctx, p.state.startTurn); err != nil {
		return false, err
	}
	defer releaseTurn(p.state.startTurn)
	return p.state.stopWithTurn(ctx)
}

// stopWithTurn is Stop for callers that hold startTurn.
func (p *profileState) stopWithTurn(ctx context.Context) (stopped bool, err error) {
	b := p.current()
	if b == nil || b.isGone() {
		stored, err := p.manager.store.Find(p.name)
		if err != nil {
			return false, nil //nolint:nilerr // nothing runs, and the profile no longer exists
		}
		pl, err := p.manager.resolve(stored)
		return err == nil && pl.Mode != profile.ModeLaunched, nil
	}
	if err := b.stop(ctx); err != nil {
		return false, fmt.Errorf("stop browser of profile %q: %w", p.name, err)
	}
	return true, nil
}

// resolve returns the launch or attach settings of the profile. A running profile that is no longer listed keeps its
// settings.
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
