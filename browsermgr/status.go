package browsermgr

import (
	"cmp"
	"context"
	"sync"
	"time"

	"clank/browsermgr/endpoint"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
	"clank/browsermgr/survey"
)

// How long a look may take. A look never starts a browser.
const (
	listProbe  = 200 * time.Millisecond
	listAtOnce = 8
)

type (
	// ProfileStatus is what is known of one profile and its browser.
	ProfileStatus = report.ProfileStatus
	// ProfileInfo is one line of the list of profiles.
	ProfileInfo = report.ProfileInfo
	// Report is what the doctor found.
	Report = report.Doctor
)

// Status looks at the profile and its browser. It starts nothing, connects to no person's browser, and takes about a second
// at most.
func (p *Profile) Status(ctx context.Context) (ProfileStatus, error) {
	pl, err := p.profile.setup()
	if err != nil {
		return ProfileStatus{}, err
	}
	pl = p.profile.manager.withPort(pl)
	s := survey.Planned(pl, p.profile.manager.userDataDir(p.Name()))
	s.Guard = p.profile.guard(pl, nil)
	if b := p.profile.look(); b != nil && b.enter() {
		defer b.uses.Away()
		b.describe(ctx, &s)
		s.Guard = p.profile.guard(pl, b)
		return s, nil
	}
	survey.Detect(ctx, pl, &s)
	survey.Probe(ctx, pl, p.profile.manager.connector(pl.Config), &s)
	return s, nil
}

// describe tells of a browser that we are connected to.
func (b *browser) describe(ctx context.Context, s *ProfileStatus) {
	var wg sync.WaitGroup
	at := b.plan.At
	if b.plan.Mode == plan.Launched {
		at = endpoint.Local(b.port)
	}
	if !at.IsZero() && !at.Direct() {
		wg.Go(func() {
			c := endpoint.Connector{HTTPTimeout: survey.HTTPTime}
			_, version, err := c.Discover(ctx, at)
			s.CDPHTTP, s.Version = err == nil, version
		})
	}
	err := b.ping(ctx, survey.SocketTime)
	wg.Wait()
	s.CDPReady = err == nil
	if err != nil {
		s.ProbeError = "connected, but it does not answer: stop and start it again: " + err.Error()
	}
	s.Running = s.CDPReady
	s.PageReady = s.CDPReady && len(b.conn.Tabs()) > 0
	s.CDPPort = &b.port
	if s.CDPURL == nil || b.plan.Mode == plan.Launched {
		s.CDPURL = report.Optional(endpoint.Local(b.port).String())
	}
	if pid := b.pid(); pid != 0 {
		s.PID = &pid
		s.Headless, s.HeadlessSource = b.headless, b.headlessSource
		s.NoSandbox, s.SandboxNote = !b.process.Sandbox, b.process.SandboxNote
	}
	kind := string(b.executable.Kind)
	s.ChosenBrowser, s.DetectedBrowser, s.DetectedExecutablePath = report.Optional(kind), report.Optional(kind), report.Optional(b.executable.Path)
	s.Graphics = b.graphics.Load()
}

// Profiles lists the profiles, the default one first. Browsers that we are not connected to are looked at side by side and
// briefly; none is started.
func (m *Manager) Profiles(ctx context.Context) ([]ProfileInfo, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	stored, err := m.roster.List()
	if err != nil {
		return nil, err
	}
	list := make([]ProfileInfo, len(stored))
	var looks sync.WaitGroup
	places := make(chan struct{}, listAtOnce)
	for i, one := range stored {
		pl, err := m.plan(one)
		if err != nil {
			list[i] = ProfileInfo{Name: one.Name, Transport: survey.Transport, Color: one.Color, Driver: pl.DriverName(), ReconcileReason: report.Optional(err.Error())}
			continue
		}
		looks.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			list[i] = m.profile(one.Name).info(ctx, pl)
		})
	}
	looks.Wait()
	return append(list, m.strays(list)...), nil
}

// withPort is the plan with the port that a first start would try first, for those who look.
func (m *Manager) withPort(pl plan.Plan) plan.Plan {
	if ports, err := m.roster.Ports(pl.Profile); err == nil && pl.Mode == plan.Launched {
		pl.CDPPort = cmp.Or(pl.CDPPort, ports[0])
	}
	return pl
}

func (p *profile) info(ctx context.Context, pl plan.Plan) ProfileInfo {
	own := pl.CDPPort
	pl = p.manager.withPort(pl)
	info := ProfileInfo{
		Name: p.name, Transport: survey.Transport, CDPPort: pl.Port(), CDPURL: pl.URL(), Color: pl.Color, Driver: pl.DriverName(),
		IsDefault: p.name == p.manager.Profile, IsRemote: pl.Remote(),
	}
	if b := p.look(); b != nil && b.enter() {
		defer b.uses.Away()
		info.Running, info.TabCount = true, len(b.conn.Tabs())
		if was := b.plan; was.Mode != pl.Mode && pl.CDPURL == "" || was.CDPURL != pl.CDPURL || own != 0 && b.port != own && pl.Mode == plan.Launched {
			info.ReconcileReason = report.Optional("its setup has changed since it was started: stop and start it")
		}
		return info
	}
	if pl.Mode != plan.Launched && !pl.At.IsZero() {
		c := p.manager.connector(pl.Config)
		c.HTTPTimeout, c.Handshake = listProbe, listProbe
		info.Running = c.Probe(ctx, pl.At).Ready
	}
	return info
}

// strays are the profiles that run and are not on the list: taken off it by another program, or by hand.
func (m *Manager) strays(listed []ProfileInfo) []ProfileInfo {
	known := map[string]bool{}
	for _, info := range listed {
		known[info.Name] = true
	}
	var found []ProfileInfo
	for _, s := range m.Status() {
		if known[s.Profile] || !s.Running {
			continue
		}
		b := m.profile(s.Profile).look()
		found = append(found, ProfileInfo{
			Name: s.Profile, Transport: survey.Transport, CDPPort: &s.Port, Color: b.plan.Color, Driver: b.plan.DriverName(), Running: true,
			TabCount: len(b.conn.Tabs()), IsRemote: b.plan.Remote(), MissingFromConfig: true,
			ReconcileReason: report.Optional("it is not on the list of profiles any more"),
		})
	}
	return found
}
