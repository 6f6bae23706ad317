package profile

import (
	"cmp"
	"strings"

	"clank/browsermgr/chrome"
)

// Status is what is known of one profile and its browser, in the form of the control API. Pointers are nil where
// there is nothing to say.
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
	TabCount          int     `json:"tabCount"`
	IsDefault         bool    `json:"isDefault"`
	IsRemote          bool    `json:"isRemote"`
	MissingFromConfig bool    `json:"missingFromConfig,omitempty"` // it runs, but is not on the list any more
	ReconcileReason   *string `json:"reconcileReason"`             // why it runs otherwise than it is set up
}

// DoctorReport is what the doctor found, in the form of the control API.
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
