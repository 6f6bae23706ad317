package profile

import (
	"cmp"
	"context"
	"strings"
	"time"

	"clank/browsermgr/chrome"
)

// Status describes one profile and its browser, in the form of the control API. Pointers are nil where there
// is nothing to say.
type Status struct {
	Enabled                bool        `json:"enabled"`
	Profile                string      `json:"profile"`
	Driver                 string      `json:"driver"` // openclaw or existing-session, as clients know them
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
	ProbeError             string      `json:"probeError,omitempty"` // why a browser that should be there is not ready
	MemoryMB               int         `json:"memoryMb,omitempty"`   // of all its processes together
	Graphics               *Graphics   `json:"graphics"`
	Guard                  GuardStatus `json:"guard"`
}

// How the pages of a browser are kept from where they may not go.
const (
	GuardProxy      = "proxy"       // all traffic goes through a proxy that checks it
	GuardBestEffort = "best-effort" // requests are held and judged where the protocol tells of them
	GuardOff        = "off"         // nothing is checked
)

// GuardStatus says what stands between a profile's pages and the network, in the form of the control API.
type GuardStatus struct {
	Mode     string `json:"mode"`     // see the Guard constants
	Refusals uint64 `json:"refusals"` // requests of pages that were refused since the program started
	Note     string `json:"note,omitempty"`
}

// BestEffortNote says what best effort leaves open.
const BestEffortNote = "this browser is not started here, so its requests are judged before they are sent, as far as its protocol tells of them: " +
	"WebSockets, WebRTC, shared and service workers, and names that change their address are not covered"

// Info is one line of the list of profiles, in the form of the control API.
type Info struct {
	Name              string  `json:"name"`
	Transport         string  `json:"transport"`
	CDPPort           *int    `json:"cdpPort"`
	CDPURL            *string `json:"cdpUrl"` // redacted
	Color             string  `json:"color"`
	Driver            string  `json:"driver"`
	Running           bool    `json:"running"`
	Listening         bool    `json:"listening,omitempty"` // its DevTools can be reached at that port or address now
	TabCount          int     `json:"tabCount"`
	IsDefault         bool    `json:"isDefault"`
	IsRemote          bool    `json:"isRemote"`
	Place             string  `json:"place,omitempty"`             // whose state it has, of the instances of a profile
	MemoryMB          int     `json:"memoryMb,omitempty"`          // of a browser started here, all its processes together
	MissingFromConfig bool    `json:"missingFromConfig,omitempty"` // it runs, but is not on the list any more
	ReconcileReason   *string `json:"reconcileReason"`             // why it runs otherwise than it is set up
}

// DoctorReport lists what the doctor found, in the form of the control API.
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

// stringOrEmpty returns the empty text for nil.
func stringOrEmpty(s *string) string { return *cmp.Or(s, new(string)) }

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
