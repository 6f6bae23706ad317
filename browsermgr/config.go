package browsermgr

import (
	"cmp"
	"os"
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
	Args       []string // flags for Chromium besides our own

	LaunchTimeout   time.Duration // until the DevTools listen; [chrome.DefaultTimeout]
	ReadyTimeout    time.Duration // from then to the first answer; [chrome.DefaultReadyTimeout]
	RemoteTimeout   time.Duration // discovery of a browser that runs elsewhere; [endpoint.DefaultHTTPTimeout]
	RemoteHandshake time.Duration // each WebSocket handshake with one; see [endpoint.Connector]

	Cleanup TabCleanup
}

// TabCleanup says when tabs are closed that were opened for somebody; see [Use.NewTab]. The zero value is the default.
type TabCleanup struct {
	Off         bool
	IdleAfter   time.Duration // unused for so long; 2 h
	MaxPerOwner int           // beyond so many, those unused the longest; 8
	Every       time.Duration // how often is looked; 5 min
}

func (c TabCleanup) filled() TabCleanup {
	c.IdleAfter = cmp.Or(c.IdleAfter, 2*time.Hour)
	c.MaxPerOwner = cmp.Or(c.MaxPerOwner, 8)
	c.Every = cmp.Or(c.Every, 5*time.Minute)
	return c
}

// config is what holds now.
func (m *Manager) config() Config {
	if m.Config != nil {
		return m.Config()
	}
	c := Config{NoSandbox: m.NoSandbox, Args: m.Args, LaunchTimeout: m.LaunchTimeout}
	if m.Headless {
		c.Headless = &m.Headless
	}
	if m.Executable != nil {
		c.Executable = m.Executable()
	}
	return c
}

func (m *Manager) connector(c Config) endpoint.Connector {
	return endpoint.Connector{HTTPTimeout: c.RemoteTimeout, Handshake: c.RemoteHandshake, Allow: m.AllowEndpoint}
}

// mode is how we come by a profile's browser.
type mode int

const (
	launched mode = iota // we start and end it
	attached             // it runs, here or elsewhere; we connect and leave it alone
	joined               // a person uses it; we connect, and close only what we opened
)

// plan is how a profile's browser is to be had now: the profile's own setup, and what the settings add.
type plan struct {
	roster.Profile
	config   Config
	mode     mode
	endpoint endpoint.Endpoint // of attached and joined ones; zero: look for a session
}

// plan settles how the profile is to be used, from what is stored and set at this moment.
func (m *Manager) plan(p roster.Profile) (plan, error) {
	pl := plan{Profile: p, config: m.config()}
	e, err := p.Endpoint()
	if err != nil {
		return pl, err
	}
	attachOnly := pl.config.AttachOnly
	if p.AttachOnly != nil {
		attachOnly = *p.AttachOnly
	}
	if e.IsZero() && p.CDPPort != 0 {
		e = endpoint.Local(p.CDPPort)
	}
	switch {
	case p.Driver == roster.Existing:
		pl.mode, pl.endpoint = joined, e
	case !e.IsZero() && (attachOnly || !e.Loopback()):
		pl.mode, pl.endpoint = attached, e
	case attachOnly:
		return pl, fault.Invalidf("profile %q is attach-only and says neither cdpUrl nor cdpPort: give it one", p.Name)
	case p.CDPURL != "":
		pl.CDPPort = e.Port() // an address on this machine: ours to start
	}
	return pl, nil
}

// remote reports whether the browser runs on another machine.
func (pl plan) remote() bool {
	return pl.mode != launched && !pl.endpoint.IsZero() && !pl.endpoint.Loopback()
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

// headless decides between a browser with a window and one without: what was asked for counts before the environment,
// the profile, the settings, and whether there is a display.
func (pl plan) headless(asked *bool) (headless bool, source string) {
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
	case pl.config.Headless != nil:
		return *pl.config.Headless, FromConfig
	case !chrome.HasDisplay():
		return true, FromDisplay
	default:
		return false, FromDefaults
	}
}
