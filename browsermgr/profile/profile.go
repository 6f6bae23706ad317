package profile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/fault"
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

// Profile is how one profile is set up. Pointers are nil where the profile leaves it to the settings.
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

// needsNoPort reports whether the profile never needs a port of its own.
func (p Profile) needsNoPort() bool { return p.Driver == DriverExistingSession || p.CDPURL != "" }
