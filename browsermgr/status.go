package browsermgr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/profile"
)

// Time limits of a status check, which never starts a browser.
const (
	listProbeTimeout = 200 * time.Millisecond
	listConcurrency  = 8
)

// Status reports the state of the profile and its browser. It starts nothing, does not connect to a browser that a
// person uses, and takes about a second at most.
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

// fillStatus adds what is known about a connected browser.
func (b *browser) fillStatus(ctx context.Context, s *profile.Status) {
	var wg sync.WaitGroup
	at, launched := b.resolved.Address, b.resolved.Mode == profile.ModeLaunched
	if !launched && !at.IsZero() && !at.IsDirect() {
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
	switch {
	case launched:
		// The DevTools endpoint exists whether or not other programs may use it.
		s.CDPHTTP, s.Version = s.CDPReady, b.process.Version
		s.CDPPort, s.CDPURL = nil, nil
		if b.port != 0 {
			s.CDPPort, s.CDPURL = &b.port, profile.NonBlank(profile.LocalEndpoint(b.port).String())
		}
	default:
		s.CDPPort = &b.port
		if s.CDPURL == nil {
			s.CDPURL = profile.NonBlank(profile.LocalEndpoint(b.port).String())
		}
	}
	if pid := b.pid(); pid != 0 {
		s.PID = &pid
		s.Headless, s.HeadlessSource = b.headless, b.headlessSource
		s.NoSandbox, s.SandboxNote = !b.process.Sandbox, b.process.SandboxNote
		s.MemoryMB = b.memoryMB()
	}
	kind := string(b.executable.Kind)
	s.ChosenBrowser, s.DetectedBrowser, s.DetectedExecutablePath = profile.NonBlank(kind), profile.NonBlank(kind),
		profile.NonBlank(b.executable.Path)
	s.Graphics = b.graphics.Load()
}

// Profiles lists the profiles, the default one first. Browsers without a connection are probed concurrently and
// briefly; none is started.
func (m *Manager) Profiles(ctx context.Context) ([]profile.Info, error) {
	if err := m.checkOpen(); err != nil {
		return nil, err
	}
	stored, err := m.store.List()
	if err != nil {
		return nil, err
	}
	stored = append(stored, m.instances()...)
	list := make([]profile.Info, len(stored))
	var looks sync.WaitGroup
	places := make(chan struct{}, listConcurrency)
	for i, one := range stored {
		pl, err := m.resolve(one)
		if err != nil {
			list[i] = profile.Info{
				Name: one.Name, Transport: profile.TransportCDP, Color: one.Color, Driver: pl.DriverName(),
				ReconcileReason: profile.NonBlank(err.Error()),
			}
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

// instances lists the place profiles that have stored state, sorted by name.
func (m *Manager) instances() (list []profile.Profile) {
	for _, name := range m.placesWithState("*@*") {
		if p, err := m.store.Find(name); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// withFirstPort returns the plan with the port that a first start would try first, for status reports.
func (m *Manager) withFirstPort(pl profile.Resolved) profile.Resolved {
	if ports, err := m.store.Ports(pl.Profile); err == nil && pl.Mode == profile.ModeLaunched {
		pl.CDPPort = cmp.Or(pl.CDPPort, ports[0])
	}
	return pl
}

func (p *profileState) listEntry(ctx context.Context, pl profile.Resolved) profile.Info {
	own := pl.CDPPort
	_, place, instance := profile.SplitInstance(p.name)
	if !instance { // which has no port of its own
		pl = p.manager.withFirstPort(pl)
	}
	info := profile.Info{
		Name: p.name, Transport: profile.TransportCDP, CDPPort: pl.KnownPort(), CDPURL: pl.DisplayURL(), Color: pl.Color,
		Driver:    pl.DriverName(),
		IsDefault: p.name == p.manager.Profile, IsRemote: pl.IsRemote(), Place: place,
	}
	if b := p.current(); b != nil && b.acquire() {
		defer b.uses.ReleaseUnused()
		info.Running, info.TabCount, info.MemoryMB = true, len(b.conn.Tabs()), b.memoryMB()
		info.Listening = b.port != 0 || pl.Mode != profile.ModeLaunched
		if b.port != 0 && b.resolved.Mode == profile.ModeLaunched {
			info.CDPPort, info.CDPURL = &b.port, profile.NonBlank(profile.LocalEndpoint(b.port).String())
		}
		if was := b.resolved; was.Mode != pl.Mode && pl.CDPURL == "" || was.CDPURL != pl.CDPURL || own != was.CDPPort &&
			b.port != 0 && b.port != own && pl.Mode == profile.ModeLaunched {
			info.ReconcileReason = profile.NonBlank("its setup has changed since it was started: stop and start it")
		}
		return info
	}
	if pl.Mode != profile.ModeLaunched && !pl.Address.IsZero() {
		c := p.manager.connector(pl.Config)
		c.HTTPTimeout, c.Handshake = listProbeTimeout, listProbeTimeout
		info.Running = c.Probe(ctx, pl.Address).Ready
		info.Listening = info.Running
	}
	return info
}

// memoryMB returns the memory used by the browser's processes, in MB; 0 if we did not start it.
func (b *browser) memoryMB() int {
	if b.process == nil {
		return 0
	}
	return chrome.MemoryMB(b.process.PID)
}

// unlistedProfiles returns the running profiles that are not listed because another program or a person removed
// them.
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
		var port *int
		if s.Port != 0 {
			port = &s.Port
		}
		found = append(found, profile.Info{
			Name: s.Profile, Transport: profile.TransportCDP, CDPPort: port, Color: b.resolved.Color,
			Driver: b.resolved.DriverName(), Running: true,
			Listening: port != nil, MemoryMB: b.memoryMB(),
			TabCount: len(b.conn.Tabs()), IsRemote: b.resolved.IsRemote(), MissingFromConfig: true,
			ReconcileReason: profile.NonBlank("it is not on the list of profiles any more"),
		})
	}
	return found
}

// Doctor looks for problems that keep the profile's browser from working: in the profile, on the machine and, if
// the browser runs, in the browser; with deep, in one of its pages too. It starts nothing.
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

// guardStatus describes how requests of the profile's pages are checked: in the running browser, or in the one
// that would be started or joined.
func (p *profileState) guardStatus(pl profile.Resolved, running *browser) profile.GuardStatus {
	m := p.manager
	launched, bypass := pl.Mode == profile.ModeLaunched, pl.ProxyBypassFlag()
	proxied := launched && m.Gate != nil && (bypass == "" || !pl.Config.AllowProxyBypass)
	if running != nil {
		launched, proxied = running.isLocal(), running.proxy != ""
	}
	s := profile.GuardStatus{Mode: profile.GuardOff, Note: "nothing checks what pages reach"}
	switch {
	case proxied:
		s.Mode, s.Note = profile.GuardProxy, ""
	case !launched && m.Gate != nil:
		s.Mode, s.Note = profile.GuardBestEffort, profile.BestEffortNote
	case launched && m.Gate != nil && bypass != "":
		s.Note = "the flag " + bypass + " of the settings leads around the proxy, which they allow because pages may reach " +
			"everything"
	}
	if m.Gate != nil {
		s.Refusals = m.Gate.RefusalCount(p.name)
	}
	return s
}

// reportDevToolsPort passes on the DevTools port of a browser unless it is unknown (nil or zero).
func (m *Manager) reportDevToolsPort(port *int) {
	if m.OnDevToolsPort != nil && port != nil && *port != 0 {
		m.OnDevToolsPort(*port)
	}
}

// proxyFor returns the proxy to start a browser with; "" for none.
func (p *profileState) proxyFor(ctx context.Context, pl profile.Resolved) (string, error) {
	m := p.manager
	if m.Gate == nil || pl.Config.AllowProxyBypass && pl.ProxyBypassFlag() != "" {
		return "", nil
	}
	address, err := m.Gate.Listen(ctx, p.name)
	if err != nil {
		return "", fmt.Errorf("find the proxy for its traffic: %w", err)
	}
	return address, nil
}

// withRefusals runs an action in a tab and finds out which requests of the tab the policy refused meanwhile. If
// the action failed, or led to a document that was refused (the proxy answers with 403), the refusal is returned
// as the error; otherwise, such as for a subframe, as a note.
func (w *Window) withRefusals(
	ctx context.Context, tab *page.Tab, do func() (page.Result, []files.Download, error),
) (notes []string, err error) {
	defer func() { err = w.explainGone(tab, err) }()
	if w.manager.Gate == nil {
		res, got, err := do()
		return ResultNotes(res, got), err
	}
	finish := w.manager.Gate.Watch(w.profile, tab.TargetID())
	res, got, err := do()
	refusal := finish(context.WithoutCancel(ctx))
	switch {
	case refusal == nil || ctx.Err() != nil:
		return ResultNotes(res, got), err
	case err != nil || res.Navigated && res.Status == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %w", ErrNavigationBlocked, refusal)
	}
	return append(ResultNotes(res, got), "refused: "+refusal.Error()), nil
}

// Navigate runs do, which loads an address in a tab. If that fails and Chromium does not know why, it asks the
// proxy. An error page that the proxy served in place of the document is an error as well.
func (u *Lease) Navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	res, err := u.browser.navigate(tab, url, do)
	if errors.Is(err, errNetworkLost) {
		u.TakeNotes() // which would tell it once more
	}
	return res, err
}

func (b *browser) navigate(tab *page.Tab, url string, do func() (page.Result, error)) (page.Result, error) {
	since, restarted := time.Now(), b.networkRestarted()
	res, err := do()
	why := b.explainUnreached(tab, url, since, res, err)
	if failure, ok := errors.AsType[*address.NetError](err); ok && failure.Code == "ERR_ABORTED" {
		select {
		case <-restarted:
			why = fmt.Errorf("%w: try again", errNetworkLost)
		case <-time.After(networkLossGrace):
		}
	}
	if why != nil {
		err = fmt.Errorf("navigate %s: %w", url, why)
	}
	if _, ok := errors.AsType[*address.NetError](err); ok {
		res.Status = 0 // that of the error page
	}
	return res, err
}

var errNetworkLost = errors.New("the browser's network process ended and was started again, so what was " +
	"loading is lost")

// networkLossGrace bounds how long after a failed load the browser may report that its network process has ended.
const networkLossGrace = 500 * time.Millisecond

// networkRestarted is [chrome.Process.NetworkRestarted]; nil, which blocks, for a browser that we did not start.
func (b *browser) networkRestarted() <-chan struct{} {
	if b.process == nil {
		return nil
	}
	return b.process.NetworkRestarted()
}

// takeNetworkLoss returns a note if the network process has ended since restarted was obtained, and resets restarted.
func (b *browser) takeNetworkLoss(restarted *<-chan struct{}) []string {
	select {
	case <-*restarted:
		*restarted = b.networkRestarted()
		return []string{errNetworkLost.Error() + ": look at the page before you try again"}
	default:
		return nil
	}
}

// explainUnreached returns why the server of a document could not be reached; nil if it was reached or the reason
// is unknown.
func (b *browser) explainUnreached(tab *page.Tab, url string, since time.Time, res page.Result, err error) error {
	gate := b.manager.Gate
	if gate == nil || b.proxy == "" {
		return nil
	}
	failure, failed := errors.AsType[*address.NetError](err)
	switch {
	case failed && failure.Code == "ERR_TUNNEL_CONNECTION_FAILED":
		return gate.ExplainDocument(b.resolved.Name, tab.TargetID(), url, since)
	case err == nil && (res.Status == http.StatusBadGateway || res.Status == http.StatusGatewayTimeout):
		return gate.ExplainDocument(b.resolved.Name, tab.TargetID(), tab.URL(), since)
	}
	return nil
}
