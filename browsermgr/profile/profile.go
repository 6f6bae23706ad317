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

// Driver says who starts and ends the browser of a profile.
type Driver string

// The drivers.
const (
	DriverManaged         Driver = "clank"            // we do
	DriverExistingSession Driver = "existing-session" // a person does: we join the browser that they use
)

// parseDriver reads a driver as clients write it. Empty means Managed. The error wraps [fault.ErrInvalid].
func parseDriver(text string) (Driver, error) {
	switch text {
	case "", "clank", "openclaw", "clawd":
		return DriverManaged, nil
	case string(DriverExistingSession):
		return DriverExistingSession, nil
	case "extension":
		return "", fault.Invalidf("unsupported profile driver %q: there is no browser extension; to use your own browser take %s, "+
			"and switch remote debugging on in chrome://inspect/#remote-debugging", text, DriverExistingSession)
	default:
		return "", fault.Invalidf("unsupported profile driver %q: use %s or %s", text, DriverManaged, DriverExistingSession)
	}
}

// The profiles that are built in.
const (
	DefaultName     = "clank"
	builtInUserName = "user"
	// defaultAlias leads to the default profile where nobody has made a profile of that name.
	defaultAlias = "openclaw"

	DefaultColor     = "#FF4500"
	builtInUserColor = "#00AA00"
)

// profileColors holds the colours that profiles get which ask for none.
var profileColors = []string{
	DefaultColor, "#0066CC", builtInUserColor, "#9933FF", "#FF6699", "#00CCCC", "#FF9900", "#6666FF", "#CC3366", "#339966",
}

// Profile holds the setup of one profile. Pointers are nil where the profile leaves it to the settings.
type Profile struct {
	Name        string   `json:"-"`
	Driver      Driver   `json:"driver,omitempty"`
	Color       string   `json:"color,omitempty"`       // #RRGGBB
	CDPPort     int      `json:"cdpPort,omitempty"`     // 0: not given out yet, or none needed
	CDPURL      string   `json:"cdpUrl,omitempty"`      // may hold credentials
	UserDataDir string   `json:"userDataDir,omitempty"` // of Existing only: a person's
	AttachOnly  *bool    `json:"attachOnly,omitempty"`
	Headless    *bool    `json:"headless,omitempty"`
	Executable  string   `json:"executablePath,omitempty"`
	Args        []string `json:"extraArgs,omitempty"`

	// Stored says that the file names the profile, and not only this program.
	Stored bool `json:"-"`
}

// Endpoint returns the address of the profile's browser, if it names one. An outdated direct address gives way to the
// port.
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

// CheckName holds names to lower-case letters, digits and dashes, at most 64, not beginning with a dash.
func CheckName(name string) error {
	if !namePattern().MatchString(name) {
		return fault.Invalidf("invalid profile name %q: use lower-case letters, digits and dashes, at most 64", name)
	}
	return nil
}

// instancePattern holds what follows the @ to the names of places.
var instancePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(server|person)-[a-z0-9]{1,48}$`) })

// SplitInstance tells an instance of a profile, "<base>@<place>", by its name: a profile that is set up like base and
// has a state of its own. ok is false for other names.
func SplitInstance(name string) (base, place string, ok bool) {
	base, of := sessions.SplitProfile(name)
	return base, string(of), CheckName(base) == nil && instancePattern().MatchString(string(of))
}

// IsPersons reports whether a profile has the state of a person's place.
func IsPersons(name string) bool {
	_, place, ok := SplitInstance(name)
	return ok && strings.HasPrefix(place, "person-")
}

var colorPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`) })

// normalize settles what follows from the rest, and refuses what cannot be. The error wraps [fault.ErrInvalid].
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
		return fault.Invalidf("profile %q: cdpPort %d is no port", p.Name, p.CDPPort)
	}
	if p.CDPURL != "" {
		if _, err := ParseEndpoint(p.CDPURL); err != nil {
			return err
		}
	}
	if p.UserDataDir != "" && p.Driver != DriverExistingSession {
		return fault.Invalidf("driver=existing-session is required for a profile with a userDataDir: others have a directory of their own")
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

// WantsDevToolsPort reports whether other programs are to be let into the browser that we start.
func (pl Resolved) WantsDevToolsPort() bool { return pl.Mode == ModeLaunched && pl.Config.DevToolsPort }

// needsNoPort reports whether the profile never needs a port of its own.
func (p Profile) needsNoPort() bool { return p.Driver == DriverExistingSession || p.CDPURL != "" }

// Config holds for all profiles, unless one says otherwise. Zero values mean the defaults.
type Config struct {
	Disabled         bool     // no browser is started
	Executable       string   // a path, or a name on PATH; empty means the first that [chrome.Find] finds
	Headless         *bool    // nil: with a window, except on a Linux machine without a display
	NoSandbox        bool     // without Chromium's sandbox even where it could be had
	AttachOnly       bool     // browsers are joined, never started
	MaxRunning       int      // browsers that are started here and run at once; 0 = any number
	DevToolsPort     bool     // other programs are let in at the profile's port, with a token
	Color            string   // in place of [DefaultColor]
	Args             []string // flags for Chromium besides our own
	AllowProxyBypass bool     // Args may lead around the proxy: pages may reach everything anyway

	LaunchTimeout   time.Duration // until the DevTools listen; [chrome.DefaultLaunchTimeout]
	ReadyTimeout    time.Duration // from then to the first answer; [chrome.DefaultReadyTimeout]
	RemoteTimeout   time.Duration // discovery of a browser that runs elsewhere; [DefaultDiscoveryTimeout]
	RemoteHandshake time.Duration // each WebSocket handshake with one; see [Connector]

	Cleanup TabCleanup
}

// TabCleanup says when tabs are closed or frozen that were opened for somebody; see browsermgr.Lease.NewTab. The zero
// value is the default.
type TabCleanup struct {
	Disabled    bool
	IdleAfter   time.Duration // unused for so long; 2 h
	MaxPerOwner int           // beyond so many, those unused the longest; 8
	Interval    time.Duration // how often is looked; 5 min
	FreezeAfter time.Duration // pages of a session without a task are frozen when nobody has used them for so long; 0 never
}

// WithDefaults has the defaults in place of zero values.
func (c TabCleanup) WithDefaults() TabCleanup {
	c.IdleAfter = cmp.Or(c.IdleAfter, 2*time.Hour)
	c.MaxPerOwner = cmp.Or(c.MaxPerOwner, 8)
	c.Interval = cmp.Or(c.Interval, 5*time.Minute)
	return c
}

// Mode tells how we come by a profile's browser.
type Mode int

// The modes.
const (
	ModeLaunched Mode = iota // we start and end it
	ModeAttached             // it runs, here or elsewhere; we connect and leave it alone
	ModeJoined               // a person uses it; we connect, and close only what we opened
)

// Resolved holds the launch settings of a profile: the profile's own setup, and what the settings add.
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
	case p.CDPURL != "", !e.IsZero() && attachOnly: // at an address that somebody gave no other browser is started
		pl.Mode, pl.Address = ModeAttached, e
	case attachOnly:
		return pl, fault.Invalidf("profile %q is attach-only and says neither cdpUrl nor cdpPort: give it one", p.Name)
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
