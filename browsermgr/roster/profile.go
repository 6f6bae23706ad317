// Package roster knows which browser profiles there are and how each is set up, and keeps that in one file.
//
// A profile has a name, a driver, a colour and a place: a port of its own, the address of a browser that runs elsewhere,
// or the user data directory of a browser that a person uses. Ports are given out once and kept. Some profiles are built
// in; they are listed whether the file names them or not. Several programs may use one file at the same time.
//
// The package does not know whether a browser runs.
package roster

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/endpoint"
	"clank/browsermgr/fault"
)

// Driver says who starts and ends the browser of a profile.
type Driver string

// The drivers.
const (
	Managed  Driver = "clank"            // we do
	Existing Driver = "existing-session" // a person does: we join the browser that they use
)

// ReadDriver reads a driver as clients write it. Empty means Managed. The error wraps [fault.ErrInvalid].
func ReadDriver(text string) (Driver, error) {
	switch text {
	case "", "clank", "openclaw", "clawd":
		return Managed, nil
	case string(Existing):
		return Existing, nil
	case "extension":
		return "", fault.Invalidf("unsupported profile driver %q: there is no browser extension; to use your own browser take %s, "+
			"and switch remote debugging on in chrome://inspect/#remote-debugging", text, Existing)
	default:
		return "", fault.Invalidf("unsupported profile driver %q: use %s or %s", text, Managed, Existing)
	}
}

// The profiles that are built in.
const (
	DefaultName = "clank"
	UserName    = "user"
	// AliasName leads to the default profile where nobody has made a profile of that name.
	AliasName = "openclaw"

	DefaultColor = "#FF4500"
	UserColor    = "#00AA00"
)

// palette holds the colours that profiles get which ask for none.
var palette = []string{
	DefaultColor, "#0066CC", UserColor, "#9933FF", "#FF6699", "#00CCCC", "#FF9900", "#6666FF", "#CC3366", "#339966",
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

// Endpoint is the address of the profile's browser, if it names one. An outdated direct address gives way to the port.
func (p Profile) Endpoint() (endpoint.Endpoint, error) {
	if p.CDPURL == "" {
		return endpoint.Endpoint{}, nil
	}
	e, err := endpoint.Parse(p.CDPURL)
	if err != nil {
		return endpoint.Endpoint{}, fmt.Errorf("profile %q: %w", p.Name, err)
	}
	return e.Fresh(p.CDPPort), nil
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

// check settles what follows from the rest, and refuses what cannot be. The error wraps [fault.ErrInvalid].
func (p *Profile) check() error {
	if err := CheckName(p.Name); err != nil {
		return err
	}
	driver, err := ReadDriver(string(p.Driver))
	if err != nil {
		return err
	}
	p.Driver = driver
	if p.CDPPort < 0 || p.CDPPort > 65535 {
		return fault.Invalidf("profile %q: cdpPort %d is no port", p.Name, p.CDPPort)
	}
	if p.CDPURL != "" {
		if _, err := endpoint.Parse(p.CDPURL); err != nil {
			return err
		}
	}
	if p.UserDataDir != "" && p.Driver != Existing {
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

// attaches reports whether the profile never needs a port of its own.
func (p Profile) attaches() bool { return p.Driver == Existing || p.CDPURL != "" }
