package profile

import (
	"cmp"
	"context"
	"strings"
	"time"

	"clank/browsermgr/chrome"
)

// Status describes a profile and its browser, in the form of the control API. Nil pointers mean unknown or not
// applicable.
type Status struct {
	Enabled                bool        `json:"enabled"`
	Profile                string      `json:"profile"`
	Driver                 string      `json:"driver"` // openclaw or existing-session, the names in the control API
	Transport              string      `json:"transport"`
	Running                bool        `json:"running"`
	CDPReady               bool        `json:"cdpReady"` // a command was answered
	CDPHTTP                bool        `json:"cdpHttp"`
	PageReady              bool        `json:"pageReady"` // and there is a tab
	PID                    *int        `json:"pid"`
	CDPPort                *int        `json:"cdpPort"`
	CDPURL                 *string     `json:"cdpUrl"` // redacted
	ChosenBrowser          *string     `json:"chosenBrowser"`
	DetectedBrowser        *string     `json:"detectedBrowser"`
	DetectedExecutablePath *string     `json:"detectedExecutablePath"`
	DetectError            *string     `json:"detectError"`
	UserDataDir            *string     `json:"userDataDir"`
	Color                  string      `json:"color"`
	Headless               bool        `json:"headless"`
	HeadlessSource         string      `json:"headlessSource"`
	NoSandbox              bool        `json:"noSandbox"`
	SandboxNote            string      `json:"sandboxNote,omitempty"` // why the browser runs without its sandbox
	ExecutablePath         *string     `json:"executablePath"`        // the configured one
	AttachOnly             bool        `json:"attachOnly"`
	Version                string      `json:"version,omitempty"`
	ProbeError             string      `json:"probeError,omitempty"` // why a browser is not ready
	MemoryMB               int         `json:"memoryMb,omitempty"`   // of all its processes
	Graphics               *Graphics   `json:"graphics"`
	Guard                  GuardStatus `json:"guard"`
}

// How requests of a browser's pages are checked.
const (
	GuardProxy      = "proxy"       // all traffic goes through a checking proxy
	GuardBestEffort = "best-effort" // requests are intercepted with CDP where possible
	GuardOff        = "off"         // requests are not checked
)

// GuardStatus says how requests of a profile's pages are checked, in the form of the control API.
type GuardStatus struct {
	Mode     string `json:"mode"`     // see the Guard constants
	Refusals uint64 `json:"refusals"` // requests refused since the program started
	Note     string `json:"note,omitempty"`
}

// BestEffortNote explains the limits of best effort.
const BestEffortNote = "this browser is not started here, so its requests are judged before they are sent, as far as " +
	"its protocol reports them: WebSockets, WebRTC, shared and service workers, and names that change their address are " +
	"not covered"

// Info is an entry of the list of profiles, in the form of the control API.
type Info struct {
	Name              string  `json:"name"`
	Transport         string  `json:"transport"`
	CDPPort           *int    `json:"cdpPort"`
	CDPURL            *string `json:"cdpUrl"` // redacted
	Color             string  `json:"color"`
	Driver            string  `json:"driver"`
	Running           bool    `json:"running"`
	Listening         bool    `json:"listening,omitempty"` // DevTools accepts connections at that port or address
	TabCount          int     `json:"tabCount"`
	IsDefault         bool    `json:"isDefault"`
	IsRemote          bool    `json:"isRemote"`
	Place             string  `json:"place,omitempty"`             // the place of an instance
	MemoryMB          int     `json:"memoryMb,omitempty"`          // of all processes of a browser started here
	MissingFromConfig bool    `json:"missingFromConfig,omitempty"` // it runs, but is no longer listed
	ReconcileReason   *string `json:"reconcileReason"`             // why the running browser differs from its settings
}

// DoctorReport is the result of the doctor's checks, in the form of the control API.
type DoctorReport struct {
	OK        bool           `json:"ok"` // no check has failed
	Profile   string         `json:"profile"`
	Transport string         `json:"transport"`
	Checks    []chrome.Check `json:"checks"`
	Status    Status         `json:"status"`
}

// NonBlank returns a pointer to s, or nil if s is blank.
func NonBlank(s string) *string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return &s
}

// stringOrEmpty returns *s, or "" for nil.
func stringOrEmpty(s *string) string { return *cmp.Or(s, new(string)) }

// TransportCDP names the protocol to browsers.
const TransportCDP = "cdp"

// Time limits of a status check.
const (
	ProbeHTTPTimeout   = 300 * time.Millisecond
	ProbeSocketTimeout = 600 * time.Millisecond
	detectTimeout      = time.Second // searching for a browser may run desktop tools
)

// ConfiguredStatus describes a profile's configuration. dir is its user data directory, if we start the browser.
func ConfiguredStatus(pl Resolved, dir string) Status {
	s := Status{
		Enabled: !pl.Config.Disabled, Profile: pl.Name, Driver: pl.DriverName(), Transport: TransportCDP,
		CDPPort: pl.KnownPort(), CDPURL: pl.DisplayURL(), Color: pl.Color, NoSandbox: pl.Config.NoSandbox,
		AttachOnly:     pl.Mode != ModeLaunched,
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

// DetectExecutable adds the browser that would be started.
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

// ProbeBrowser adds the state of a browser without a connection of ours. c is used to probe it.
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
		if !pl.IsRemote() { // others use the configured limits
			c.HTTPTimeout, c.Handshake = ProbeHTTPTimeout, ProbeSocketTimeout
		}
		found := c.Probe(ctx, pl.Address)
		s.CDPHTTP, s.CDPReady, s.Running, s.Version = found.HTTP, found.Ready, found.Ready, found.Version
		if found.Err != nil {
			s.ProbeError = found.Err.Error()
		}
	}
}
