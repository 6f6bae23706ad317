// Package plan settles how a profile's browser is to be had: started or joined, where, with which flags, with a window or
// without. It puts together what the profile says, what the settings say and what the environment says. It does nothing.
package plan

import (
	"cmp"
	"os"
	"slices"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/endpoint"
	"clank/browsermgr/fault"
	"clank/browsermgr/roster"
)

// Config is what holds for all profiles, unless one says otherwise. Zero values mean the defaults.
type Config struct {
	Disabled   bool     // no browser is started
	Executable string   // a path, or a name on PATH; empty means the first that [chrome.Find] finds
	Headless   *bool    // nil: with a window, except on a Linux machine without a display
	NoSandbox  bool     // without Chromium's sandbox even where it could be had
	AttachOnly bool     // browsers are joined, never started
	Color      string   // in place of [roster.DefaultColor]
	Args       []string // flags for Chromium besides our own
	Unguarded  bool     // Args may lead around the proxy: pages may reach everything anyway

	LaunchTimeout   time.Duration // until the DevTools listen; [chrome.DefaultTimeout]
	ReadyTimeout    time.Duration // from then to the first answer; [chrome.DefaultReadyTimeout]
	RemoteTimeout   time.Duration // discovery of a browser that runs elsewhere; [endpoint.DefaultHTTPTimeout]
	RemoteHandshake time.Duration // each WebSocket handshake with one; see [endpoint.Connector]

	Cleanup TabCleanup
}

// TabCleanup says when tabs are closed that were opened for somebody; see browsermgr.Use.NewTab. The zero value is the default.
type TabCleanup struct {
	Off         bool
	IdleAfter   time.Duration // unused for so long; 2 h
	MaxPerOwner int           // beyond so many, those unused the longest; 8
	Every       time.Duration // how often is looked; 5 min
}

// Filled has the defaults in place of zero values.
func (c TabCleanup) Filled() TabCleanup {
	c.IdleAfter = cmp.Or(c.IdleAfter, 2*time.Hour)
	c.MaxPerOwner = cmp.Or(c.MaxPerOwner, 8)
	c.Every = cmp.Or(c.Every, 5*time.Minute)
	return c
}

// Mode is how we come by a profile's browser.
type Mode int

// The modes.
const (
	Launched Mode = iota // we start and end it
	Attached             // it runs, here or elsewhere; we connect and leave it alone
	Joined               // a person uses it; we connect, and close only what we opened
)

// Plan is how a profile's browser is to be had now: the profile's own setup, and what the settings add.
type Plan struct {
	roster.Profile
	Config Config
	Mode   Mode
	At     endpoint.Endpoint // of attached and joined ones; zero: look for a session
}

// Make settles how the profile is to be used. The error wraps [fault.ErrInvalid].
func Make(p roster.Profile, config Config) (Plan, error) {
	pl := Plan{Profile: p, Config: config}
	if p.Color == roster.DefaultColor && config.Color != "" {
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
		e = endpoint.Local(p.CDPPort)
	}
	switch {
	case p.Driver == roster.Existing:
		pl.Mode, pl.At = Joined, e
	case !e.IsZero() && (attachOnly || !e.Loopback()):
		pl.Mode, pl.At = Attached, e
	case attachOnly:
		return pl, fault.Invalidf("profile %q is attach-only and says neither cdpUrl nor cdpPort: give it one", p.Name)
	case p.CDPURL != "":
		pl.CDPPort = e.Port() // an address on this machine: ours to start, unless somebody listens there
	}
	return pl, nil
}

// Around is the first of the flags that would lead pages around a proxy; "" if there is none.
func (pl Plan) Around() string { return chrome.GoesAround(pl.Flags()) }

// Flags are those of the operator for the browser, the profile's last.
func (pl Plan) Flags() []string { return slices.Concat(pl.Config.Args, pl.Args) }

// Remote reports whether the browser runs on another machine.
func (pl Plan) Remote() bool {
	return pl.Mode != Launched && !pl.At.IsZero() && !pl.At.Loopback()
}

// The sources of a choice between a browser with and one without a window.
const (
	FromRequest  = "request"
	FromEnv      = "env"
	FromProfile  = "profile"
	FromConfig   = "config"
	FromDisplay  = "linux-display-fallback"
	FromDefaults = "default"
)

// headlessVariables are the environment's say, ours first.
var headlessVariables = []string{"CLANK_BROWSER_HEADLESS", "OPENCLAW_BROWSER_HEADLESS"}

// Windowless decides between a browser with a window and one without: what was asked for counts before the environment,
// the profile, the settings, and whether there is a display.
func (pl Plan) Windowless(asked *bool) (headless bool, source string) {
	if asked != nil {
		return *asked, FromRequest
	}
	for _, name := range headlessVariables {
		switch os.Getenv(name) {
		case "1", "true", "yes":
			return true, FromEnv
		case "0", "false", "no":
			return false, FromEnv
		}
	}
	switch {
	case pl.Headless != nil:
		return *pl.Headless, FromProfile
	case pl.Config.Headless != nil:
		return *pl.Config.Headless, FromConfig
	case !chrome.HasDisplay():
		return true, FromDisplay
	default:
		return false, FromDefaults
	}
}

// DriverName is the driver as clients of the control API know it.
func (pl Plan) DriverName() string {
	if pl.Mode == Joined {
		return "existing-session"
	}
	return "openclaw"
}

// Port is the DevTools port as far as it is settled; nil otherwise.
func (pl Plan) Port() *int {
	port := pl.CDPPort
	if port == 0 && !pl.At.IsZero() {
		port = pl.At.Port()
	}
	if port == 0 {
		return nil
	}
	return &port
}

// URL is the address of the DevTools as it may be shown; nil if it is not settled.
func (pl Plan) URL() *string {
	switch {
	case pl.CDPURL != "":
		return new(endpoint.Redact(pl.CDPURL))
	case pl.CDPPort != 0:
		return new(endpoint.Local(pl.CDPPort).String())
	default:
		return nil
	}
}
