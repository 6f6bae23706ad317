package browsermgr

import (
	"cmp"
	"context"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/connect"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
)

// transport is how browsers are spoken to.
const transport = "cdp"

// How long a look may take. A look never starts a browser.
const (
	statusHTTP   = 300 * time.Millisecond
	statusSocket = 600 * time.Millisecond
	listProbe    = 200 * time.Millisecond
	listAtOnce   = 8
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
	s := ProfileStatus{
		Enabled: !pl.Config.Disabled, Profile: p.Name(), Driver: pl.DriverName(), Transport: transport,
		CDPPort: pl.Port(), CDPURL: pl.URL(), Color: pl.Color, NoSandbox: pl.Config.NoSandbox, AttachOnly: pl.Mode != plan.Launched,
		ExecutablePath: report.Optional(cmp.Or(pl.Executable, pl.Config.Executable)),
	}
	s.Headless, s.HeadlessSource = pl.Windowless(nil)
	if pl.Mode == plan.Launched {
		dir := p.profile.manager.userDataDir(p.Name())
		s.UserDataDir = &dir
	} else {
		s.UserDataDir = report.Optional(pl.UserDataDir)
	}
	s.Guard = p.profile.guard(pl, nil)
	if b := p.profile.look(); b != nil && b.enter() {
		defer b.uses.Away()
		b.describe(ctx, &s)
		s.Guard = p.profile.guard(pl, b)
		return s, nil
	}
	p.detect(ctx, pl, &s)
	p.profile.probe(ctx, pl, &s)
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
			c := endpoint.Connector{HTTPTimeout: statusHTTP}
			_, version, err := c.Discover(ctx, at)
			s.CDPHTTP, s.Version = err == nil, version
		})
	}
	err := b.ping(ctx, statusSocket)
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

// detectTimeout bounds the search for a browser, which may ask the desktop.
const detectTimeout = time.Second

// detect tells which browser would be started.
func (p *Profile) detect(ctx context.Context, pl plan.Plan, s *ProfileStatus) {
	if pl.Mode != plan.Launched {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	found, err := chrome.Find(ctx, cmp.Or(pl.Executable, pl.Config.Executable))
	if err != nil {
		s.DetectError = report.Optional(err.Error())
		return
	}
	s.DetectedBrowser, s.DetectedExecutablePath = report.Optional(string(found.Kind)), &found.Path
}

// probe tells of a browser that we are not connected to.
func (p *profile) probe(ctx context.Context, pl plan.Plan, s *ProfileStatus) {
	switch {
	case pl.Mode == plan.Launched:
	case pl.Mode == plan.Joined && pl.At.IsZero():
		session, err := connect.FindSession(pl)
		if err != nil {
			s.ProbeError = err.Error()
			return
		}
		s.CDPPort, s.UserDataDir, s.ChosenBrowser = &session.Port, &session.Path, report.Optional(string(session.Kind))
	default:
		c := p.manager.connector(pl.Config)
		if !pl.Remote() { // others get the time that the settings give them
			c.HTTPTimeout, c.Handshake = statusHTTP, statusSocket
		}
		found := c.Probe(ctx, pl.At)
		s.CDPHTTP, s.CDPReady, s.Running, s.Version = found.HTTP, found.Ready, found.Ready, found.Version
		if found.Err != nil {
			s.ProbeError = found.Err.Error()
		}
	}
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
			list[i] = ProfileInfo{Name: one.Name, Transport: transport, Color: one.Color, Driver: pl.DriverName(), ReconcileReason: report.Optional(err.Error())}
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
		Name: p.name, Transport: transport, CDPPort: pl.Port(), CDPURL: pl.URL(), Color: pl.Color, Driver: pl.DriverName(),
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
			Name: s.Profile, Transport: transport, CDPPort: &s.Port, Color: b.plan.Color, Driver: b.plan.DriverName(), Running: true,
			TabCount: len(b.conn.Tabs()), IsRemote: b.plan.Remote(), MissingFromConfig: true,
			ReconcileReason: report.Optional("it is not on the list of profiles any more"),
		})
	}
	return found
}
