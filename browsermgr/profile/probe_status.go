package profile

import (
	"cmp"
	"context"
	"time"

	"clank/browsermgr/chrome"
)

// TransportCDP is how browsers are spoken to.
const TransportCDP = "cdp"

// How long a look may take.
const (
	ProbeHTTPTimeout   = 300 * time.Millisecond
	ProbeSocketTimeout = 600 * time.Millisecond
	detectTimeout      = time.Second // searching for a browser may ask the desktop
)

// ConfiguredStatus tells how a profile's browser would be had. dir is where it keeps its data if we start it.
func ConfiguredStatus(pl Resolved, dir string) Status {
	s := Status{
		Enabled: !pl.Config.Disabled, Profile: pl.Name, Driver: pl.DriverName(), Transport: TransportCDP,
		CDPPort: pl.KnownPort(), CDPURL: pl.DisplayURL(), Color: pl.Color, NoSandbox: pl.Config.NoSandbox, AttachOnly: pl.Mode != ModeLaunched,
		ExecutablePath: NonBlank(cmp.Or(pl.Executable, pl.Config.Executable)),
	}
	s.Headless, s.HeadlessSource = pl.ResolveHeadless(nil)
	if pl.Mode == ModeLaunched {
		s.UserDataDir = &dir
	} else {
		s.UserDataDir = NonBlank(pl.UserDataDir)
	}
	return s
}

// DetectExecutable tells which browser would be started.
func DetectExecutable(ctx context.Context, pl Resolved, s *Status) {
	if pl.Mode != ModeLaunched {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, detectTimeout)
	defer cancel()
	found, err := chrome.Find(ctx, cmp.Or(pl.Executable, pl.Config.Executable))
	if err != nil {
		s.DetectError = NonBlank(err.Error())
		return
	}
	s.DetectedBrowser, s.DetectedExecutablePath = NonBlank(string(found.Kind)), &found.Path
}

// ProbeBrowser tells of a browser that nobody here is connected to. c is how one connects.
func ProbeBrowser(ctx context.Context, pl Resolved, c Connector, s *Status) {
	switch {
	case pl.Mode == ModeLaunched:
	case pl.Mode == ModeJoined && pl.Address.IsZero():
		session, err := FindSession(pl)
		if err != nil {
			s.ProbeError = err.Error()
			return
		}
		s.CDPPort, s.UserDataDir, s.ChosenBrowser = &session.Port, &session.Path, NonBlank(string(session.Kind))
	default:
		if !pl.IsRemote() { // others get the time that the settings give them
			c.HTTPTimeout, c.Handshake = ProbeHTTPTimeout, ProbeSocketTimeout
		}
		found := c.Probe(ctx, pl.Address)
		s.CDPHTTP, s.CDPReady, s.Running, s.Version = found.HTTP, found.Ready, found.Ready, found.Version
		if found.Err != nil {
			s.ProbeError = found.Err.Error()
		}
	}
}
