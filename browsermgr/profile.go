package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
)

// profile is one user data directory and the browser that runs on it, if one does.
type profile struct {
	manager *Manager
	name    string
	turn    chan struct{} // holds a token while the browser is being started, exchanged or ended

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

// use returns the running browser, or starts one. The caller gives it back with leave.
func (p *profile) use(ctx context.Context, headed bool) (*browser, error) {
	if err := take(ctx, p.turn); err != nil {
		return nil, err
	}
	defer give(p.turn)
	select {
	case <-p.manager.closed:
		return nil, ErrClosed
	default:
	}
	if b := p.look(); b != nil {
		if err := p.fit(ctx, b, headed); err != nil {
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
	b, err := p.start(ctx, headed)
	if err != nil {
		return nil, err
	}
	p.set(b)
	b.enter()
	return b, nil
}

// fit ends a browser without a window if one is wanted and nobody uses it.
func (p *profile) fit(ctx context.Context, b *browser, headed bool) error {
	if !headed || !b.headless || b.isGone() {
		return nil
	}
	if n := b.windowCount(); n > 0 {
		return fmt.Errorf("the browser of profile %q runs headless and is in use: close its windows first (%d open)", p.name, n)
	}
	return b.stop(ctx)
}

// start launches a browser and connects to it.
func (p *profile) start(ctx context.Context, headed bool) (*browser, error) {
	m := p.manager
	ctx, release := m.untilClosed(ctx)
	defer release()
	configured := ""
	if m.Executable != nil {
		configured = m.Executable()
	}
	executable, err := chrome.Find(ctx, configured)
	if err != nil {
		return nil, err
	}
	opts := chrome.Options{
		Executable: executable.Path, UserDataDir: m.userDataDir(p.name), Headless: m.Headless && !headed, NoSandbox: m.NoSandbox,
		FirstPort: m.FirstPort, LastPort: m.LastPort, ProfileName: p.name, Color: DefaultColor, Args: m.Args,
		Timeout: m.LaunchTimeout, Logger: m.Logger,
	}
	process, err := chrome.Launch(ctx, opts)
	if errors.Is(err, chrome.ErrNoDisplay) && !headed {
		m.Logger.Info("no display: the browser runs headless", "profile", p.name)
		opts.Headless = true
		process, err = chrome.Launch(ctx, opts)
	}
	if err != nil {
		return nil, err
	}
	conn, err := page.Connect(ctx, process.WebSocketURL, page.Options{Logger: m.Logger, Sent: m.Sent})
	if err != nil {
		return nil, errors.Join(err, process.Stop(context.WithoutCancel(ctx)))
	}
	b := newBrowser(m, process, conn, opts.Headless)
	m.wg.Go(b.run)
	return b, nil
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
	s.Running, s.PID, s.Port, s.Version = true, b.process.PID, b.process.Port, b.process.Version
	s.Headless, s.Sandbox, s.SandboxNote = b.headless, b.process.Sandbox, b.process.SandboxNote
	s.Windows = b.windowCount()
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
