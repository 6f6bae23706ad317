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

// moveToTrash ends the browser and moves a folder of the profile's to the trash, unless another program uses it. The
// caller has the turn.
func (p *profileState) moveToTrash(ctx context.Context, dir string) (TrashResult, error) {
	moved := TrashResult{From: dir}
	if _, err := p.stopWithTurn(ctx); err != nil {
		return moved, err
	}
	p.manager.forgetParked(p.name)
	if p.manager.isPacked(p.name) { // in the trash it would lie in the clear, or where nobody looks for it
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

// profileState is one user data directory and the browser that runs on it, if one does.
type profileState struct {
	manager   *Manager
	name      string
	startTurn chan struct{} // holds a token while the browser is being started, exchanged or ended

	breaker    LaunchBreaker // used by whoever has the turn
	tabNumbers tabNumbers    // of tabs; they go on from one browser to the next

	mu       sync.Mutex
	browser  *browser // the last that was started; set only by whoever has the turn
	starting bool     // another is being started, see [Manager.makeRoom]
}

func newProfileState(m *Manager, name string) *profileState {
	return &profileState{manager: m, name: name, startTurn: make(chan struct{}, 1)}
}

// profileState returns the profile of that name.
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

// acquire returns the running browser, or starts one: headless or not, if it matters to the caller. The caller gives it
// back with leave.
func (p *profileState) acquire(ctx context.Context, headless *bool) (*browser, error) {
	if err := acquireTurn(ctx, p.startTurn); err != nil {
		return nil, err
	}
	defer releaseTurn(p.startTurn)
	return p.acquireWithTurn(ctx, headless)
}

// acquireWithTurn is like acquire; the caller holds the turn.
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

// endStarting lets the browser that was started, if any, be counted and stopped like others.
func (p *profileState) endStarting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting = false
}

// restartIfHeadlessDiffers ends a browser that is not as it is wanted, if nobody uses it.
func (p *profileState) restartIfHeadlessDiffers(ctx context.Context, b *browser, headless *bool) error {
	if headless == nil || b.resolved.Mode != profile.ModeLaunched || b.headless == *headless || b.isGone() {
		return nil
	}
	if n := b.windowCount(); n > 0 {
		how := map[bool]string{true: "runs headless", false: "has a window"}[b.headless]
		return fmt.Errorf("%w: the browser of profile %q %s and is in use: close its windows first (%d open)", ErrUnavailable, p.name, how, n)
	}
	return b.stop(ctx)
}

// start launches a browser, or joins one, and connects to it.
func (p *profileState) start(ctx context.Context, headless *bool) (*browser, error) {
	m := p.manager
	ctx, release := m.untilClosed(ctx)
	defer release()
	stored, err := m.store.Ensure(p.name)
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
		return nil, wrapUnavailable(p.name, err)
	}
	m.wg.Go(b.run)
	return b, nil
}

// recordStart counts the outcome of a start. What the caller asked for wrongly, or gave up, is no failure of the
// browser's.
func (p *profileState) recordStart(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.breaker.Close()
	case ctx.Err() != nil, errors.Is(err, ErrInvalid), errors.Is(err, ErrClosed), errors.Is(err, chrome.ErrNoDisplay), errors.Is(err, errNoRoom):
	default:
		p.breaker.RecordFailure(err)
	}
}

// launch starts a process and connects to it.
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
		if err != nil { // no browser will end that packs it
			m.packState(p.name)
		}
	}()
	got, err := profile.Launch(ctx, executable, chrome.LaunchOptions{
		Proxy: b.proxy, UserDataDir: m.userDataDir(p.name), Headless: b.headless, NoSandbox: pl.Config.NoSandbox, Sound: b.headless,
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

// serveDevTools opens the port of a profile for other programs.
func (m *Manager) serveDevTools(ctx context.Context, pl profile.Resolved, conn *page.Browser, ports []int) (*profile.DevToolsServer, error) {
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

// setBrowser sets the profile's browser. The caller holds the turn.
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

// close ends the browser. A launch that is under way has been told already, and is waited for.
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

// acquireTurn waits for a turn, for as long as ctx allows.
func acquireTurn(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func releaseTurn(turn chan struct{}) { <-turn }

// attach connects to a browser that runs already, here or elsewhere.
func (p *profileState) attach(ctx context.Context, b *browser) error {
	got, err := profile.Attach(ctx, p.manager.connector(b.resolved.Config), b.resolved.Address, b.connectOptions())
	if err != nil {
		return err
	}
	b.setConnection(got)
	return nil
}

// join connects to the browser that a person uses. After a refusal nobody is asked again for a while.
func (p *profileState) join(ctx context.Context, b *browser) error {
	session, err := profile.FindSession(b.resolved)
	if err != nil {
		return err
	}
	p.manager.Logger.Info("connecting to a person's browser; it may ask there whether to allow it", "profile", p.name, "user_data_dir", session.Path)
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

// setConnection takes over a browser that runs.
func (b *browser) setConnection(got profile.RunningBrowser) {
	b.process, b.executable, b.conn, b.port = got.Process, got.Executable, got.Conn, got.Port
	b.manager.reportDevToolsPort(&b.port)
}
