// Package survey finds out about a profile's browser from outside: how it would be had, whether it is there, what keeps it from
// working. It starts nothing and owns nothing; what a connection knows is told by whoever has it.
package survey

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/connect"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/plan"
	"clank/browsermgr/report"
)

// Transport is how browsers are spoken to.
const Transport = "cdp"

// How long a look may take.
const (
	HTTPTime   = 300 * time.Millisecond
	SocketTime = 600 * time.Millisecond
	detectTime = time.Second // searching for a browser may ask the desktop
)

// Planned tells how a profile's browser would be had. dir is where it keeps its data if we start it.
func Planned(pl plan.Plan, dir string) report.ProfileStatus {
	s := report.ProfileStatus{
		Enabled: !pl.Config.Disabled, Profile: pl.Name, Driver: pl.DriverName(), Transport: Transport,
		CDPPort: pl.Port(), CDPURL: pl.URL(), Color: pl.Color, NoSandbox: pl.Config.NoSandbox, AttachOnly: pl.Mode != plan.Launched,
		ExecutablePath: report.Optional(cmp.Or(pl.Executable, pl.Config.Executable)),
	}
	s.Headless, s.HeadlessSource = pl.Windowless(nil)
	if pl.Mode == plan.Launched {
		s.UserDataDir = &dir
	} else {
		s.UserDataDir = report.Optional(pl.UserDataDir)
	}
	return s
}

// Detect tells which browser would be started.
func Detect(ctx context.Context, pl plan.Plan, s *report.ProfileStatus) {
	if pl.Mode != plan.Launched {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, detectTime)
	defer cancel()
	found, err := chrome.Find(ctx, cmp.Or(pl.Executable, pl.Config.Executable))
	if err != nil {
		s.DetectError = report.Optional(err.Error())
		return
	}
	s.DetectedBrowser, s.DetectedExecutablePath = report.Optional(string(found.Kind)), &found.Path
}

// Probe tells of a browser that nobody here is connected to. c is how one connects.
func Probe(ctx context.Context, pl plan.Plan, c endpoint.Connector, s *report.ProfileStatus) {
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
		if !pl.Remote() { // others get the time that the settings give them
			c.HTTPTimeout, c.Handshake = HTTPTime, SocketTime
		}
		found := c.Probe(ctx, pl.At)
		s.CDPHTTP, s.CDPReady, s.Running, s.Version = found.HTTP, found.Ready, found.Ready, found.Version
		if found.Err != nil {
			s.ProbeError = found.Err.Error()
		}
	}
}

// Watch is what keeps an eye on what pages reach.
type Watch struct {
	Launched bool   // the browser is started here, or would be
	Proxied  bool   // its traffic goes through a proxy that checks it, or would
	Proxy    bool   // there is such a proxy
	Guard    bool   // requests are judged where the protocol tells of them
	Flag     string // of the settings, which leads around the proxy; "" if there is none
}

// Status tells how pages are guarded by that. refusals is how many requests were refused.
func (w Watch) Status(refusals uint64) report.GuardStatus {
	s := report.GuardStatus{Refusals: refusals}
	switch {
	case w.Proxied:
		s.Mode = report.GuardProxy
	case !w.Launched && w.Guard:
		s.Mode, s.Note = report.GuardBestEffort, report.BestEffortNote
	case w.Launched && w.Proxy && w.Flag != "":
		s.Mode, s.Note = report.GuardOff, fmt.Sprintf("the flag %s of the settings leads around the proxy, which they allow because pages may reach everything", w.Flag)
	default:
		s.Mode, s.Note = report.GuardOff, "nothing checks what pages reach"
	}
	return s
}
