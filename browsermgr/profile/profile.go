package profile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/sessions"
)

// Driver says who starts and stops the browser of a profile.
type Driver string

// Values of Driver.
const (
	DriverManaged         Driver = "clank"            // we do
	DriverExistingSession Driver = "existing-session" // a person does: we join their own browser
)

// parseDriver parses a driver as clients write it. Empty means DriverManaged. The error wraps [fault.ErrInvalid].
func parseDriver(text string) (Driver, error) {
	switch text {
	case "", "clank", "openclaw", "clawd":
		return DriverManaged, nil
	case string(DriverExistingSession):
		return DriverExistingSession, nil
	case "extension":
		return "", fault.Invalidf("unsupported profile driver %q: there is no browser extension; to use your own browser "+
			"take %s, and switch remote debugging on in chrome://inspect/#remote-debugging", text, DriverExistingSession)
	default:
		return "", fault.Invalidf("unsupported profile driver %q: use %s or %s", text, DriverManaged, DriverExistingSession)
	}
}

// The built-in profiles.
const (
	DefaultName     = "clank"
	builtInUserName = "user"
	// defaultAlias names the default profile unless a profile of that name exists.
	defaultAlias = "openclaw"

	DefaultColor     = "#FF4500"
	builtInUserColor = "#00AA00"
)

// profileColors are the colours for profiles that name none.
var profileColors = []string{
	DefaultColor, "#0066CC", builtInUserColor, "#9933FF", "#FF6699", "#00CCCC", "#FF9900", "#6666FF", "#CC3366", "#339966",
}

// Profile is the configuration of one profile. Nil pointers leave a choice to the settings.
type Profile struct {
	Name        string   `json:"-"`
	Driver      Driver   `json:"driver,omitempty"`
	Color       string   `json:"color,omitempty"`       // #RRGGBB
	CDPPort     int      `json:"cdpPort,omitempty"`     // 0: not assigned yet, or not needed
	CDPURL      string   `json:"cdpUrl,omitempty"`      // may contain credentials
	UserDataDir string   `json:"userDataDir,omitempty"` // for existing-session only: a person's own
	AttachOnly  *bool    `json:"attachOnly,omitempty"`
	Headless    *bool    `json:"headless,omitempty"`
	Executable  string   `json:"executablePath,omitempty"`
	Args        []string `json:"extraArgs,omitempty"`

	// Stored reports that the profile is in the file rather than built in.
	Stored bool `json:"-"`
}

// Endpoint returns the address of the profile's browser, if it has one. A direct WebSocket address, which changes with
// each start, is replaced by the port if that is known.
func (p Profile) Endpoint() (Endpoint, error) {
	if p.CDPURL == "" {
		return Endpoint{}, nil
	}
	e, err := ParseEndpoint(p.CDPURL)
	if err != nil {
		return Endpoint{}, fmt.Errorf("profile %q: %w", p.Name, err)
	}
	return e.ForPort(p.CDPPort), nil
}

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`) })

// CheckName checks that a name consists of lower-case letters, digits and dashes, at most 64, and does not begin with a
// dash.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fault.Invalidf("invalid profile name %q: use lower-case letters, digits and dashes, at most 64", name)
	}
	return nil
}

// instancePattern matches the names of places, after the @.
var instancePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(server|person)-[a-z0-9]{1,48}$`)
})

// SplitInstance splits the name of an instance of a profile, "<base>@<place>": a profile configured like base with its
// own state. ok is false for other names.
func SplitInstance(name string) (base, place string, ok bool) {
	base, of := sessions.SplitProfile(name)
	return base, string(of), CheckName(base) == nil && instancePattern().MatchString(string(of))
}

// IsPersons reports whether a profile is an instance for a person's place.
func IsPersons(name string) bool {
	_, place, ok := SplitInstance(name)
	return ok && strings.HasPrefix(place, "person-")
}

var colorPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`) })

// normalize fills in derived fields and rejects invalid ones. The error wraps [fault.ErrInvalid].
func (p *Profile) normalize() error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	driver, err := parseDriver(string(p.Driver))
	if err != nil {
		return err
	}
	p.Driver = driver
	if p.CDPPort < 0 || p.CDPPort > 65535 {
		return fault.Invalidf("profile %q: cdpPort %d is not a port", p.Name, p.CDPPort)
	}
	if p.CDPURL != "" {
		if _, err := ParseEndpoint(p.CDPURL); err != nil {
			return err
		}
	}
	if p.UserDataDir != "" && p.Driver != DriverExistingSession {
		return fault.Invalidf("driver=existing-session is required for a profile with a userDataDir: others have a " +
			"directory of their own")
	}
	if p.UserDataDir != "" && !filepath.IsAbs(p.UserDataDir) {
		return fault.Invalidf("userDataDir must be an absolute path")
	}
	if !colorPattern().MatchString(p.Color) {
		p.Color = ""
	}
	p.Color = strings.ToUpper(p.Color)
	return nil
}

// WantsDevToolsPort reports whether to open a DevTools port for other programs in a browser that we start.
func (pl Resolved) WantsDevToolsPort() bool { return pl.Mode == ModeLaunched && pl.Config.DevToolsPort }

// needsNoPort reports whether the profile never needs its own port.
func (p Profile) needsNoPort() bool { return p.Driver == DriverExistingSession || p.CDPURL != "" }

// Config holds the settings for all profiles, which a profile may override. Zero values mean the defaults.
type Config struct {
	Disabled         bool     // no browser is started
	Executable       string   // a path, or a name on PATH; empty means the first that [chrome.Find] finds
	Headless         *bool    // nil: visible, except on Linux without a display
	NoSandbox        bool     // disable Chromium's sandbox
	AttachOnly       bool     // attach or join browsers, never start them
	MaxRunning       int      // limit of browsers started here; 0 means none
	DevToolsPort     bool     // open DevTools to other programs at the profile's port, with a token
	Color            string   // instead of [DefaultColor]
	Args             []string // flags for Chromium besides our own
	AllowProxyBypass bool     // Args may bypass the proxy, since pages may reach every address anyway

	LaunchTimeout   time.Duration // until DevTools listens; [chrome.DefaultLaunchTimeout]
	ReadyTimeout    time.Duration // from then to the first answer; [chrome.DefaultReadyTimeout]
	RemoteTimeout   time.Duration // discovery of a browser that runs elsewhere; [DefaultDiscoveryTimeout]
	RemoteHandshake time.Duration // each WebSocket handshake with one; see [Connector]

	Cleanup TabCleanup
}

// TabCleanup says when tabs that were opened for a session or caller are closed or frozen; see browsermgr.Lease.NewTab.
// The zero value means the defaults.
type TabCleanup struct {
	Disabled    bool
	IdleAfter   time.Duration // unused for so long; 2 h
	MaxPerOwner int           // above this number, the least recently used; 8
	Interval    time.Duration // between checks; 5 min
	FreezeAfter time.Duration // pages of a session without a task are frozen when unused for so long; 0 means never
}

// WithDefaults replaces zero values with the defaults.
func (c TabCleanup) WithDefaults() TabCleanup {
	c.IdleAfter = cmp.Or(c.IdleAfter, 2*time.Hour)
	c.MaxPerOwner = cmp.Or(c.MaxPerOwner, 8)
	c.Interval = cmp.Or(c.Interval, 5*time.Minute)
	return c
}

// Mode says how we obtain a profile's browser.
type Mode int

// Values of Mode.
const (
	ModeLaunched Mode = iota // we start and stop it
	ModeAttached             // it is running, here or elsewhere; we connect and never stop it
	ModeJoined               // a person uses it; we connect, and close only the tabs we opened
)

// Resolved holds the launch or attach settings of a profile: its own configuration combined with the settings.
type Resolved struct {
	Profile
	Config  Config
	Mode    Mode
	Address Endpoint // of attached and joined ones; zero: look for a session
}

// Resolve combines a profile's configuration with the settings. The error wraps [fault.ErrInvalid].
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
	case p.CDPURL != "", !e.IsZero() && attachOnly: // with an explicit address no other browser is started
		pl.Mode, pl.Address = ModeAttached, e
	case attachOnly:
		return pl, fault.Invalidf("profile %q is attach-only and says neither cdpUrl nor cdpPort: give it one", p.Name)
	}
	return pl, nil
}

// ProxyBypassFlag returns the first flag that would let pages bypass a proxy; "" for none.
func (pl Resolved) ProxyBypassFlag() string { return chrome.ProxyBypassFlag(pl.Flags()) }

// Flags returns the operator's flags for the browser, those of the profile last.
func (pl Resolved) Flags() []string { return slices.Concat(pl.Config.Args, pl.Args) }

// IsRemote reports whether the browser runs on another machine.
func (pl Resolved) IsRemote() bool {
	return pl.Mode != ModeLaunched && !pl.Address.IsZero() && !pl.Address.IsLoopback()
}

// Sources of the choice between a visible and a headless browser.
const (
	HeadlessFromRequest  = "request"
	HeadlessFromEnv      = "env"
	HeadlessFromProfile  = "profile"
	HeadlessFromConfig   = "config"
	HeadlessFromDisplay  = "linux-display-fallback"
	HeadlessFromDefaults = "default"
)

// headlessVariables are the environment variables for the choice, in order of precedence.
var headlessVariables = []string{"CLANK_BROWSER_HEADLESS", "OPENCLAW_BROWSER_HEADLESS"}

// ResolveHeadless chooses between a visible and a headless browser: asked takes precedence over the environment, then
// the profile, the settings, and whether there is a display.
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

// DriverName returns the driver's name in the control API.
func (pl Resolved) DriverName() string {
	if pl.Mode == ModeJoined {
		return "existing-session"
	}
	return "openclaw"
}

// KnownPort returns the DevTools port; nil if it is not known yet.
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

// DisplayURL returns the redacted address of DevTools; nil if it is not known yet.
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
