package profile

import (
	"cmp"
	"os"
	"slices"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
)

// Config is what holds for all profiles, unless one says otherwise. Zero values mean the defaults.
type Config struct {
	Disabled         bool     // no browser is started
	Executable       string   // a path, or a name on PATH; empty means the first that [chrome.Find] finds
	Headless         *bool    // nil: with a window, except on a Linux machine without a display
	NoSandbox        bool     // without Chromium's sandbox even where it could be had
	AttachOnly       bool     // browsers are joined, never started
	Color            string   // in place of [DefaultColor]
	Args             []string // flags for Chromium besides our own
	AllowProxyBypass bool     // Args may lead around the proxy: pages may reach everything anyway

	LaunchTimeout   time.Duration // until the DevTools listen; [chrome.DefaultLaunchTimeout]
	ReadyTimeout    time.Duration // from then to the first answer; [chrome.DefaultReadyTimeout]
	RemoteTimeout   time.Duration // discovery of a browser that runs elsewhere; [DefaultDiscoveryTimeout]
	RemoteHandshake time.Duration // each WebSocket handshake with one; see [Connector]

	Cleanup TabCleanup
}

// TabCleanup says when tabs are closed that were opened for somebody; see browsermgr.Lease.NewTab. The zero value is
// the default.
type TabCleanup struct {
	Disabled    bool
	IdleAfter   time.Duration // unused for so long; 2 h
	MaxPerOwner int           // beyond so many, those unused the longest; 8
	Interval    time.Duration // how often is looked; 5 min
}

// WithDefaults has the defaults in place of zero values.
func (c TabCleanup) WithDefaults() TabCleanup {
	c.IdleAfter = cmp.Or(c.IdleAfter, 2*time.Hour)
	c.MaxPerOwner = cmp.Or(c.MaxPerOwner, 8)
	c.Interval = cmp.Or(c.Interval, 5*time.Minute)
	return c
}

// Mode is how we come by a profile's browser.
type Mode int

// The modes.
const (
	ModeLaunched Mode = iota // we start and end it
	ModeAttached             // it runs, here or elsewhere; we connect and leave it alone
	ModeJoined               // a person uses it; we connect, and close only what we opened
)

// Resolved is how a profile's browser is to be had now: the profile's own setup, and what the settings add.
type Resolved struct {
	Profile
	Config  Config
	Mode    Mode
	Address Endpoint // of attached and joined ones; zero: look for a session
}

// Resolve settles how the profile is to be used. The error wraps [fault.ErrInvalid].
func Resolve(p Profile, config Config) (Resolved, error) {
	pl := Resolved{Profile: p, Config: config}
	if p.Color == DefaultColor && config.Color != "" {
		pl.Color = config.Color
	}
	e, err := p.Endpoint()
	if err != nil {
		return pl, err
	}
	attachOnly := pl.Config.AttachOnly
	if p.AttachOnly != nil {
		attachOnly = *p.AttachOnly
	}
	if e.IsZero() && p.CDPPort != 0 {
		e = LocalEndpoint(p.CDPPort)
	}
	switch {
	case p.Driver == DriverExistingSession:
		pl.Mode, pl.Address = ModeJoined, e
	case !e.IsZero() && (attachOnly || !e.IsLoopback()):
		pl.Mode, pl.Address = ModeAttached, e
	case attachOnly:
		return pl, fault.Invalidf("profile %q is attach-only and says neither cdpUrl nor cdpPort: give it one", p.Name)
	case p.CDPURL != "":
		pl.CDPPort = e.Port() // an address on this machine: ours to start, unless somebody listens there
	}
	return pl, nil
}

// ProxyBypassFlag returns the first of the flags that would lead pages around a proxy; "" if there is none.
func (pl Resolved) ProxyBypassFlag() string { return chrome.ProxyBypassFlag(pl.Flags()) }

// Flags returns the operator's flags for the browser, those of the profile last.
func (pl Resolved) Flags() []string { return slices.Concat(pl.Config.Args, pl.Args) }

// IsRemote reports whether the browser runs on another machine.
func (pl Resolved) IsRemote() bool {
	return pl.Mode != ModeLaunched && !pl.Address.IsZero() && !pl.Address.IsLoopback()
}

// The sources of a choice between a browser with and one without a window.
const (
	HeadlessFromRequest  = "request"
	HeadlessFromEnv      = "env"
	HeadlessFromProfile  = "profile"
	HeadlessFromConfig   = "config"
	HeadlessFromDisplay  = "linux-display-fallback"
	HeadlessFromDefaults = "default"
)

// headlessVariables are the environment's say, ours first.
var headlessVariables = []string{"CLANK_BROWSER_HEADLESS", "OPENCLAW_BROWSER_HEADLESS"}

// ResolveHeadless decides between a browser with a window and one without: what was asked for counts before the
// environment, the profile, the settings, and whether there is a display.
func (pl Resolved) ResolveHeadless(asked *bool) (headless bool, source string) {
	if asked != nil {
		return *asked, HeadlessFromRequest
	}
	for _, name := range headlessVariables {
		switch os.Getenv(name) {
		case "1", "true", "yes":
			return true, HeadlessFromEnv
		case "0", "false", "no":
			return false, HeadlessFromEnv
		}
	}
	switch {
	case pl.Headless != nil:
		return *pl.Headless, HeadlessFromProfile
	case pl.Config.Headless != nil:
		return *pl.Config.Headless, HeadlessFromConfig
	case !chrome.HasDisplay():
		return true, HeadlessFromDisplay
	default:
		return false, HeadlessFromDefaults
	}
}

// DriverName returns the driver as clients of the control API know it.
func (pl Resolved) DriverName() string {
	if pl.Mode == ModeJoined {
		return "existing-session"
	}
	return "openclaw"
}

// KnownPort returns the DevTools port as far as it is settled; nil otherwise.
func (pl Resolved) KnownPort() *int {
	port := pl.CDPPort
	if port == 0 && !pl.Address.IsZero() {
		port = pl.Address.Port()
	}
	if port == 0 {
		return nil
	}
	return &port
}

// DisplayURL returns the address of the DevTools as it may be shown; nil if it is not settled.
func (pl Resolved) DisplayURL() *string {
	switch {
	case pl.CDPURL != "":
		return new(RedactURL(pl.CDPURL))
	case pl.CDPPort != 0:
		return new(LocalEndpoint(pl.CDPPort).String())
	default:
		return nil
	}
}
