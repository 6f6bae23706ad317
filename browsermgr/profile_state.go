package browsermgr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

// moveToTrash stops the browser and moves a folder of the profile to the trash, unless another program uses it.
// The caller holds startTurn.
func (p *profileState) moveToTrash(ctx context.Context, dir string) (TrashResult, error) {
	moved := TrashResult{From: dir}
	if _, err := p.stopWithTurn(ctx); err != nil {
		return moved, err
	}
	p.manager.forgetParked(p.name)
	if p.manager.isPacked(p.name) { // the trash would keep it unencrypted or unnoticed
		return p.removeState(ctx)
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return moved, nil
	}
	if err := chrome.Reap(ctx, p.manager.userDataDir(p.name)); err != nil {
		return moved, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	to, err := profile.MoveToTrash(ctx, dir)
	if err != nil {
		return moved, err
	}
	moved.Moved, moved.To = true, to
	return moved, nil
}

// profileState is a user data directory and the browser running on it, if any.
type profileState struct {
	manager   *Manager
	name      string
	startTurn chan struct{} // holds a token while the browser is being started, replaced or ended

	breaker    LaunchBreaker // used while holding startTurn
	tabNumbers tabNumbers    // continue from one browser to the next

	mu       sync.Mutex
	browser  *browser // the last one started; set only while holding startTurn
	starting bool     // a browser is being started; see [Manager.makeRoom]
}

func newProfileState(m *Manager, name string) *profileState {
	return &profileState{manager: m, name: name, startTurn: make(chan struct{}, 1)}
}

// profileState returns the state of the profile with that name, creating it if necessary.
func (m *Manager) profileState(name string) *profileState {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.profiles[name]
	if p == nil {
		p = newProfileState(m, name)
		m.profiles[name] = p
	}
	return p
}

// acquire returns the running browser or starts one. A non-nil headless requires a headless or a visible browser.
// The caller calls release.
func (p *profileState) acquire(ctx context.Context, headless *bool) (*browser, error) {
	if err := acquireTurn(ctx, p.startTurn); err != nil {
		return nil, err
	}
	defer releaseTurn(p.startTurn)
	return p.acquireWithTurn(ctx, headless)
}

// acquireWithTurn is acquire for callers that hold startTurn.
func (p *profileState) acquireWithTurn(ctx context.Context, headless *bool) (*browser, error) {
	select {
	case <-p.manager.closed:
		return nil, ErrClosed
	default:
	}
	if b := p.current(); b != nil {
		if err := p.restartIfHeadlessDiffers(ctx, b, headless); err != nil {
			return nil, err
		}
		if b.acquire() {
			return b, nil
		}
		// It is ending: the next one can start once it has released the directory.
		select {
		case <-b.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if err := p.breaker.Check(p.name); err != nil {
		return nil, err
	}
	defer p.endStarting()
	b, err := p.start(ctx, headless)
	p.recordStart(ctx, err)
	if err != nil {
		return nil, err
	}
	p.setBrowser(b)
	b.acquire()
	return b, nil
}

// endStarting resets starting: the browser, if one was started, counts as running.
func (p *profileState) endStarting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting = false
}

// restartIfHeadlessDiffers stops a browser in the wrong mode, or returns an error if it is in use.
func (p *profileState) restartIfHeadlessDiffers(ctx context.Context, b *browser, headless *bool) error {
	if headless == nil || b.resolved.Mode != profile.ModeLaunched || b.headless == *headless || b.isGone() {
		return nil
	}
	if n := b.windowCount(); n > 0 {
		how := map[bool]string{true: "runs headless", false: "has a window"}[b.headless]
		return fmt.Errorf("%w: the browser of profile %q %s and is in use: close its windows first (%d open)", ErrUnavailable,
			p.name, how, n)
	}
	if !*headless && !chrome.HasDisplay() { // it could not be started again
		return &NoDisplayError{Profile: p.name, HeadlessSource: "request"}
	}
	return b.stop(ctx)
}

// start launches, attaches or joins a browser and connects to it.
func (p *profileState) start(ctx context.Context, headless *bool) (*browser, error) {
	m := p.manager
	ctx, release := m.untilClosed(ctx)
	defer release()
	stored, err := m.store.Find(p.name)
	if err != nil {
		return nil, err
	}
	pl, err := m.resolve(stored)
	if err != nil {
		return nil, err
	}
	switch {
	case pl.Config.Disabled:
		return nil, ErrDisabled
	case pl.Mode != profile.ModeLaunched && headless != nil:
		return nil, errNotLaunchedByUs(p.name)
	}
	if !pl.IsRemote() {
		m.reportDevToolsPort(pl.KnownPort())
	}
	b := newBrowser(p, pl)
	switch {
	case pl.Mode == profile.ModeLaunched:
		err = p.launch(ctx, b, headless)
	case pl.Mode == profile.ModeJoined && pl.Address.IsZero():
		err = p.join(ctx, b)
	default:
		err = p.attach(ctx, b)
	}
	if err != nil {
		b.closeObservers()
		b.stopProxy()
		return nil, wrapUnavailable(p.name, err)
	}
	m.wg.Go(b.run)
	return b, nil
}

// recordStart records the outcome of a start in the breaker. Invalid requests and cancellation do not count as
// failures.
func (p *profileState) recordStart(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.breaker.Close()
	case ctx.Err() != nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrClosed), errors.Is(err, chrome.ErrNoDisplay),
		errors.Is(err, errNoRoom):
	default:
		p.breaker.RecordFailure(err)
	}
}

// launch starts a browser process and connects to it.
func (p *profileState) launch(ctx context.Context, b *browser, headless *bool) (err error) {
	m, pl := p.manager, b.resolved
	b.headless, b.headlessSource = pl.ResolveHeadless(headless)
	if !b.headless && !chrome.HasDisplay() {
		return &NoDisplayError{Profile: p.name, HeadlessSource: b.headlessSource}
	}
	executable, err := chrome.Find(ctx, cmp.Or(pl.Executable, pl.Config.Executable))
	if err != nil {
		return err
	}
	var ports []int
	if pl.WantsDevToolsPort() {
		if ports, err = m.store.Ports(pl.Profile); err != nil {
			return err
		}
	}
	if err := m.makeRoom(ctx, p, pl.Config.MaxRunning); err != nil {
		return err
	}
	if b.proxy, err = p.proxyFor(ctx, pl); err != nil {
		return err
	}
	if err := p.unpackState(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil { // no browser will pack the state when it ends
			m.packState(p.name)
		}
	}()
	got, err := profile.Launch(ctx, executable, chrome.LaunchOptions{
		Proxy: b.proxy, UserDataDir: m.userDataDir(p.name), Headless: b.headless, NoSandbox: pl.Config.NoSandbox,
		Sound:       b.headless,
		ProfileName: p.name, Color: pl.Color, Args: slices.Concat(pl.Config.Args, pl.Args),
		Timeout: pl.Config.LaunchTimeout, ReadyTimeout: pl.Config.ReadyTimeout, Logger: m.Logger,
	}, b.connectOptions())
	if err != nil {
		return err
	}
	if len(ports) > 0 {
		if b.devTools, err = m.serveDevTools(ctx, pl, got.Conn, ports); err != nil {
			return errors.Join(err, got.Close(context.WithoutCancel(ctx)))
		}
		got.Port = b.devTools.Port
	}
	b.setConnection(got)
	return nil
}

// serveDevTools opens a DevTools port for other programs and saves its number in the profile.
func (m *Manager) serveDevTools(ctx context.Context, pl profile.Resolved, conn *page.Browser,
	ports []int,
) (*profile.DevToolsServer, error) {
	token := m.DevToolsToken
	if token == nil {
		token = func(string) bool { return false }
	}
	s, err := profile.ServeDevTools(ctx, conn, ports, token, m.Logger)
	if err != nil {
		return nil, err
	}
	if err := m.store.AssignPort(pl.Profile, s.Port); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// setBrowser sets the profile's browser. The caller holds startTurn.
func (p *profileState) setBrowser(b *browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browser = b
}

// current returns the last browser, running or not, without waiting for a launch; nil if there was none.
func (p *profileState) current() *browser {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.browser
}

func (p *profileState) status() BrowserStatus {
	s := BrowserStatus{Profile: p.name}
	b := p.current()
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

// close stops the browser. It waits for a launch in progress, which the Manager has cancelled.
func (p *profileState) close(ctx context.Context) error {
	p.startTurn <- struct{}{}
	defer releaseTurn(p.startTurn)
	b := p.current()
	if b == nil {
		return nil
	}
	if err := b.stop(ctx); err != nil {
		return fmt.Errorf("stop browser of profile %q: %w", p.name, err)
	}
	return nil
}

// acquireTurn waits for a turn until ctx ends.
func acquireTurn(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func releaseTurn(turn chan struct{}) { <-turn }

// attach connects to a browser that is already running, here or on another machine.
func (p *profileState) attach(ctx context.Context, b *browser) error {
	got, err := profile.Attach(ctx, p.manager.connector(b.resolved.Config), b.resolved.Address, b.connectOptions())
	if err != nil {
		return err
	}
	b.setConnection(got)
	return nil
}

// join connects to a person's own browser. After a refusal the person is not asked again for a while.
func (p *profileState) join(ctx context.Context, b *browser) error {
	session, err := profile.FindSession(b.resolved)
	if err != nil {
		return err
	}
	p.manager.Logger.Info("connecting to a person's browser; it may ask there whether to allow it", "profile", p.name,
		"user_data_dir", session.Path)
	got, err := profile.JoinSession(ctx, session, b.connectOptions())
	if errors.Is(err, profile.ErrConnectionDenied) {
		p.breaker.Open(err)
	}
	if err != nil {
		return err
	}
	b.setConnection(got)
	return nil
}

// setConnection takes over an attached or joined browser.
func (b *browser) setConnection(got profile.RunningBrowser) {
	b.process, b.executable, b.conn, b.port = got.Process, got.Executable, got.Conn, got.Port
	b.unreportedRestart = b.networkRestarted()
	b.manager.reportDevToolsPort(&b.port)
}
