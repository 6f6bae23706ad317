package browsermgr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/browsermgr/breaker"
	"clank/browsermgr/chrome"
	"clank/browsermgr/connect"
	"clank/browsermgr/plan"
	"clank/browsermgr/tabset"
)

// profile is one user data directory and the browser that runs on it, if one does.
type profile struct {
	manager *Manager
	name    string
	turn    chan struct{} // holds a token while the browser is being started, exchanged or ended

	breaker breaker.Breaker // used by whoever has the turn
	numbers tabset.Numbers  // of tabs; they go on from one browser to the next

	mu      sync.Mutex
	browser *browser // the last that was started; set only by whoever has the turn
}

func newProfile(m *Manager, name string) *profile {
	return &profile{manager: m, name: name, turn: make(chan struct{}, 1)}
}

// profile returns the profile of that name.
func (m *Manager) profile(name string) *profile {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.profiles[name]
	if p == nil {
		p = newProfile(m, name)
		m.profiles[name] = p
	}
	return p
}

// use returns the running browser, or starts one: headless or not, if it matters to the caller. The caller gives it back
// with leave.
func (p *profile) use(ctx context.Context, headless *bool) (*browser, error) {
	if err := take(ctx, p.turn); err != nil {
		return nil, err
	}
	defer give(p.turn)
	return p.useNow(ctx, headless)
}

// useNow is use for whoever has the turn.
func (p *profile) useNow(ctx context.Context, headless *bool) (*browser, error) {
	select {
	case <-p.manager.closed:
		return nil, ErrClosed
	default:
	}
	if b := p.look(); b != nil {
		if err := p.fit(ctx, b, headless); err != nil {
			return nil, err
		}
		if b.enter() {
			return b, nil
		}
		// It is ending: the next one can start when it has left the directory.
		select {
		case <-b.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := p.breaker.Check(p.name); err != nil {
		return nil, err
	}
	b, err := p.start(ctx, headless)
	p.note(ctx, err)
	if err != nil {
		return nil, err
	}
	p.set(b)
	b.enter()
	return b, nil
}

// fit ends a browser that is not as it is wanted, if nobody uses it.
func (p *profile) fit(ctx context.Context, b *browser, headless *bool) error {
	if headless == nil || b.plan.Mode != plan.Launched || b.headless == *headless || b.isGone() {
		return nil
	}
	if n := b.windowCount(); n > 0 {
		how := map[bool]string{true: "runs headless", false: "has a window"}[b.headless]
		return fmt.Errorf("%w: the browser of profile %q %s and is in use: close its windows first (%d open)", ErrUnavailable, p.name, how, n)
	}
	return b.stop(ctx)
}

// start launches a browser, or joins one, and connects to it.
func (p *profile) start(ctx context.Context, headless *bool) (*browser, error) {
	m := p.manager
	ctx, release := m.untilClosed(ctx)
	defer release()
	stored, err := m.roster.Ensure(p.name)
	if err != nil {
		return nil, err
	}
	pl, err := m.plan(stored)
	if err != nil {
		return nil, err
	}
	switch {
	case pl.Config.Disabled:
		return nil, ErrDisabled
	case pl.Mode != plan.Launched && headless != nil:
		return nil, errNotOurs(p.name)
	}
	if pl.Mode == plan.Launched && pl.CDPURL != "" && connect.Listens(ctx, pl.CDPPort) {
		// Somebody runs it already. Whether it is a browser is found out by connecting.
		pl.Mode = plan.Attached
		if pl.At, err = stored.Endpoint(); err != nil {
			return nil, err
		}
	}
	if !pl.Remote() {
		m.door(pl.Port())
	}
	b := newBrowser(p, pl)
	switch {
	case pl.Mode == plan.Launched:
		err = p.launch(ctx, b, headless)
	case pl.Mode == plan.Joined && pl.At.IsZero():
		err = p.join(ctx, b)
	default:
		err = p.attach(ctx, b)
	}
	if err != nil {
		b.closeObservers()
		return nil, unavailable(p.name, err)
	}
	m.wg.Go(b.run)
	return b, nil
}

// note counts the outcome of a start. What the caller asked for wrongly, or gave up, is no failure of the browser's.
func (p *profile) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.breaker.Close()
	case ctx.Err() != nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrClosed), errors.Is(err, chrome.ErrNoDisplay):
	default:
		p.breaker.Failed(err)
	}
}

// launch starts a process and connects to it.
func (p *profile) launch(ctx context.Context, b *browser, headless *bool) error {
	m, pl := p.manager, b.plan
	b.headless, b.headlessSource = pl.Windowless(headless)
	if !b.headless && !chrome.HasDisplay() {
		return &NoDisplayError{Profile: p.name, HeadlessSource: b.headlessSource}
	}
	executable, err := chrome.Find(ctx, cmp.Or(pl.Executable, pl.Config.Executable))
	if err != nil {
		return err
	}
	ports, err := m.roster.Ports(pl.Profile)
	if err != nil {
		return err
	}
	if b.proxy, err = p.proxyFor(ctx, pl); err != nil {
		return err
	}
	got, err := connect.Launch(ctx, executable, chrome.Options{
		Proxy: b.proxy, UserDataDir: m.userDataDir(p.name), Headless: b.headless, NoSandbox: pl.Config.NoSandbox,
		Ports: ports, ProfileName: p.name, Color: pl.Color, Args: slices.Concat(pl.Config.Args, pl.Args),
		Timeout: pl.Config.LaunchTimeout, ReadyTimeout: pl.Config.ReadyTimeout, Logger: m.Logger,
	}, b.connection())
	if err != nil {
		return err
	}
	if err := m.roster.Keep(pl.Profile, got.Port); err != nil {
		return errors.Join(err, got.Close(context.WithoutCancel(ctx)))
	}
	b.has(got)
	return nil
}

// set is called by whoever has the turn.
func (p *profile) set(b *browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browser = b
}

// look returns the last browser, running or not, without waiting for a launch; nil if there was none.
func (p *profile) look() *browser {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.browser
}

func (p *profile) status() Status {
	s := Status{Profile: p.name}
	b := p.look()
	if b == nil || b.isGone() {
		return s
	}
	s.Running, s.Port, s.Headless, s.Windows = true, b.port, b.headless, b.windowCount()
	if b.process != nil {
		s.PID, s.Version = b.process.PID, b.process.Version
		s.Sandbox, s.SandboxNote = b.process.Sandbox, b.process.SandboxNote
	}
	return s
}

// close ends the browser. A launch that is under way has been told already, and is waited for.
func (p *profile) close(ctx context.Context) error {
	p.turn <- struct{}{}
	defer give(p.turn)
	b := p.look()
	if b == nil {
		return nil
	}
	if err := b.stop(ctx); err != nil {
		return fmt.Errorf("stop browser of profile %q: %w", p.name, err)
	}
	return nil
}

// take waits for a turn, for as long as ctx allows.
func take(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func give(turn chan struct{}) { <-turn }
