package browsermgr

import (
	"cmp"
	"context"
	"sync"
	"time"

	"clank/browsermgr/profile"
)

// How long a look may take. A look never starts a browser.
const (
	listProbeTimeout = 200 * time.Millisecond
	listConcurrency  = 8
)

// Status looks at the profile and its browser. It starts nothing, connects to no person's browser, and takes about a
// second at most.
func (p *Profile) Status(ctx context.Context) (profile.Status, error) {
	pl, err := p.state.resolve()
	if err != nil {
		return profile.Status{}, err
	}
	pl = p.state.manager.withFirstPort(pl)
	s := profile.ConfiguredStatus(pl, p.state.manager.userDataDir(p.Name()))
	s.Guard = p.state.guardStatus(pl, nil)
	if b := p.state.current(); b != nil && b.acquire() {
		defer b.uses.ReleaseUnused()
		b.fillStatus(ctx, &s)
		s.Guard = p.state.guardStatus(pl, b)
		return s, nil
	}
	profile.DetectExecutable(ctx, pl, &s)
	profile.ProbeBrowser(ctx, pl, p.state.manager.connector(pl.Config), &s)
	return s, nil
}

// fillStatus tells of a browser that we are connected to.
func (b *browser) fillStatus(ctx context.Context, s *profile.Status) {
	var wg sync.WaitGroup
	at := b.resolved.Address
	if b.resolved.Mode == profile.ModeLaunched {
		at = profile.LocalEndpoint(b.port)
	}
	if !at.IsZero() && !at.IsDirect() {
		wg.Go(func() {
			c := profile.Connector{HTTPTimeout: profile.ProbeHTTPTimeout}
			_, version, err := c.Discover(ctx, at)
			s.CDPHTTP, s.Version = err == nil, version
		})
	}
	err := b.ping(ctx, profile.ProbeSocketTimeout)
	wg.Wait()
	s.CDPReady = err == nil
	if err != nil {
		s.ProbeError = "connected, but it does not answer: stop and start it again: " + err.Error()
	}
	s.Running = s.CDPReady
	s.PageReady = s.CDPReady && len(b.conn.Tabs()) > 0
	s.CDPPort = &b.port
	if s.CDPURL == nil || b.resolved.Mode == profile.ModeLaunched {
		s.CDPURL = profile.NonBlank(profile.LocalEndpoint(b.port).String())
	}
	if pid := b.pid(); pid != 0 {
		s.PID = &pid
		s.Headless, s.HeadlessSource = b.headless, b.headlessSource
		s.NoSandbox, s.SandboxNote = !b.process.Sandbox, b.process.SandboxNote
	}
	kind := string(b.executable.Kind)
	s.ChosenBrowser, s.DetectedBrowser, s.DetectedExecutablePath = profile.NonBlank(kind), profile.NonBlank(kind), profile.NonBlank(b.executable.Path)
	s.Graphics = b.graphics.Load()
}

// Profiles lists the profiles, the default one first. Browsers that we are not connected to are looked at side by side
// and briefly; none is started.
func (m *Manager) Profiles(ctx context.Context) ([]profile.Info, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	stored, err := m.store.List()
	if err != nil {
		return nil, err
	}
	list := make([]profile.Info, len(stored))
	var looks sync.WaitGroup
	places := make(chan struct{}, listConcurrency)
	for i, one := range stored {
		pl, err := m.resolve(one)
		if err != nil {
			list[i] = profile.Info{Name: one.Name, Transport: profile.TransportCDP, Color: one.Color, Driver: pl.DriverName(), ReconcileReason: profile.NonBlank(err.Error())}
			continue
		}
		looks.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			list[i] = m.profileState(one.Name).listEntry(ctx, pl)
		})
	}
	looks.Wait()
	return append(list, m.unlistedProfiles(list)...), nil
}

// withFirstPort returns the plan with the port that a first start would try first, for those who look.
func (m *Manager) withFirstPort(pl profile.Resolved) profile.Resolved {
	if ports, err := m.store.Ports(pl.Profile); err == nil && pl.Mode == profile.ModeLaunched {
		pl.CDPPort = cmp.Or(pl.CDPPort, ports[0])
	}
	return pl
}

func (p *profileState) listEntry(ctx context.Context, pl profile.Resolved) profile.Info {
	own := pl.CDPPort
	pl = p.manager.withFirstPort(pl)
	info := profile.Info{
		Name: p.name, Transport: profile.TransportCDP, CDPPort: pl.KnownPort(), CDPURL: pl.DisplayURL(), Color: pl.Color, Driver: pl.DriverName(),
		IsDefault: p.name == p.manager.Profile, IsRemote: pl.IsRemote(),
	}
	if b := p.current(); b != nil && b.acquire() {
		defer b.uses.ReleaseUnused()
		info.Running, info.TabCount = true, len(b.conn.Tabs())
		if was := b.resolved; was.Mode != pl.Mode && pl.CDPURL == "" || was.CDPURL != pl.CDPURL || own != 0 && b.port != own && pl.Mode == profile.ModeLaunched {
			info.ReconcileReason = profile.NonBlank("its setup has changed since it was started: stop and start it")
		}
		return info
	}
	if pl.Mode != profile.ModeLaunched && !pl.Address.IsZero() {
		c := p.manager.connector(pl.Config)
		c.HTTPTimeout, c.Handshake = listProbeTimeout, listProbeTimeout
		info.Running = c.Probe(ctx, pl.Address).Ready
	}
	return info
}

// unlistedProfiles returns the profiles that run and are not on the list: taken off it by another program, or by hand.
func (m *Manager) unlistedProfiles(listed []profile.Info) []profile.Info {
	known := map[string]bool{}
	for _, info := range listed {
		known[info.Name] = true
	}
	var found []profile.Info
	for _, s := range m.Status() {
		if known[s.Profile] || !s.Running {
			continue
		}
		b := m.profileState(s.Profile).current()
		found = append(found, profile.Info{
			Name: s.Profile, Transport: profile.TransportCDP, CDPPort: &s.Port, Color: b.resolved.Color, Driver: b.resolved.DriverName(), Running: true,
			TabCount: len(b.conn.Tabs()), IsRemote: b.resolved.IsRemote(), MissingFromConfig: true,
			ReconcileReason: profile.NonBlank("it is not on the list of profiles any more"),
		})
	}
	return found
}

// Doctor looks for what keeps the profile's browser from working: at the profile, the machine, and the browser if it
// runs. deep also looks at a page of it. It starts nothing.
func (p *Profile) Doctor(ctx context.Context, deep bool) (profile.DoctorReport, error) {
	s, err := p.Status(ctx)
	if err != nil {
		return profile.DoctorReport{}, err
	}
	pl, err := p.state.resolve()
	if err != nil {
		return profile.DoctorReport{}, err
	}
	x := profile.Diagnosis{Plan: pl, Status: s, Deep: deep}
	if running := p.state.current(); running != nil && running.acquire() {
		defer running.uses.ReleaseUnused()
		x.Connected, x.Tabs = true, running.conn.Tabs()
	}
	return x.Report(ctx), nil
}
