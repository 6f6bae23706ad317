package client

import "encoding/json"

// Status is what a server knows about one profile, without having started anything.
type Status struct {
	Enabled         bool    `json:"enabled"`
	Profile         string  `json:"profile"`
	Driver          string  `json:"driver"`
	Transport       string  `json:"transport"`
	Running         bool    `json:"running"`
	CDPReady        bool    `json:"cdpReady"`
	CDPHTTP         bool    `json:"cdpHttp"`
	PageReady       bool    `json:"pageReady"`
	PID             *int    `json:"pid"`
	CDPPort         *int    `json:"cdpPort"`
	CDPURL          *string `json:"cdpUrl"`
	ChosenBrowser   *string `json:"chosenBrowser"`
	DetectedBrowser *string `json:"detectedBrowser"`
	DetectedPath    *string `json:"detectedExecutablePath"`
	DetectError     *string `json:"detectError"`
	UserDataDir     *string `json:"userDataDir"`
	Color           string  `json:"color"`
	Headless        bool    `json:"headless"`
	HeadlessSource  string  `json:"headlessSource"`
	NoSandbox       bool    `json:"noSandbox"`
	ExecutablePath  *string `json:"executablePath"`
	AttachOnly      bool    `json:"attachOnly"`
	Graphics        any     `json:"graphics"` // of the running process, or nil
	Guard           Guard   `json:"guard"`
}

// Guard says what checks where the pages of a profile go.
type Guard struct {
	Mode     string `json:"mode"` // proxy, best-effort or off
	Refusals uint64 `json:"refusals"`
	Note     string `json:"note,omitempty"`
}

// Tab is one tab of a browser.
type Tab struct {
	SuggestedTargetID    string `json:"suggestedTargetId"` // label, else TabID: what to name it by
	TabID                string `json:"tabId"`             // t1, t2, …; never used again
	Label                string `json:"label,omitempty"`
	TargetID             string `json:"targetId"` // of the DevTools protocol
	Title                string `json:"title"`
	URL                  string `json:"url"`
	URLUnavailableReason string `json:"urlUnavailableReason,omitempty"`
	Type                 string `json:"type"`
	Refused              string `json:"refused,omitempty"` // what an opened page lacks, such as a frame
}

// TabList is the tabs of a profile; a browser that is not running has none.
type TabList struct {
	Running bool  `json:"running"`
	Tabs    []Tab `json:"tabs"`
}

// ProfileInfo is one entry of the list of profiles.
type ProfileInfo struct {
	Name              string  `json:"name"`
	Transport         string  `json:"transport"`
	Driver            string  `json:"driver"`
	CDPPort           *int    `json:"cdpPort"`
	CDPURL            *string `json:"cdpUrl"`
	Color             string  `json:"color"`
	Running           bool    `json:"running"`
	TabCount          int     `json:"tabCount"`
	IsDefault         bool    `json:"isDefault"`
	IsRemote          bool    `json:"isRemote"`
	MissingFromConfig bool    `json:"missingFromConfig,omitempty"`
	ReconcileReason   *string `json:"reconcileReason"`
}

// Report is the outcome of a doctor's visit.
type Report struct {
	OK        bool    `json:"ok"` // no check failed
	Profile   string  `json:"profile"`
	Transport string  `json:"transport"`
	Checks    []Check `json:"checks"`
}

// Check is one line of a [Report].
type Check struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Status  string `json:"status"` // pass, warn, fail or info
	Summary string `json:"summary"`
	FixHint string `json:"fixHint,omitempty"`
}

// Dialog is an open or answered alert, confirm, prompt or beforeunload.
type Dialog struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Message  string `json:"message"`
	Default  string `json:"defaultValue,omitempty"`
	OpenedAt string `json:"openedAt"`
	ClosedAt string `json:"closedAt,omitempty"`
	ClosedBy string `json:"closedBy,omitempty"`
}

// BrowserState is what stands in the way of a page.
type BrowserState struct {
	Dialogs struct {
		Pending []Dialog `json:"pending"`
		Recent  []Dialog `json:"recent"`
	} `json:"dialogs"`
}

// Download is a file that the browser saved, on the server's machine.
type Download struct {
	URL               string `json:"url"`
	SuggestedFilename string `json:"suggestedFilename"`
	Path              string `json:"path"`
}

// Result is the answer to an action or a navigation.
type Result struct {
	TargetID        string          `json:"targetId"`
	URL             string          `json:"url,omitempty"`
	Value           json.RawMessage `json:"result,omitempty"`  // of evaluate
	Results         []BatchEntry    `json:"results,omitempty"` // of batch
	Aborted         *Aborted        `json:"aborted,omitempty"` // of batch
	Download        *Download       `json:"download,omitempty"`
	Downloads       []Download      `json:"downloads,omitempty"`
	BlockedByDialog bool            `json:"blockedByDialog,omitempty"` // the action was left, not failed
	BrowserState    *BrowserState   `json:"browserState,omitempty"`
	Refused         string          `json:"refused,omitempty"` // what the page lacks, such as a frame
}

// BatchEntry is the outcome of one action of a batch.
type BatchEntry struct {
	OK        bool            `json:"ok"`
	Error     string          `json:"error,omitempty"`
	Value     json.RawMessage `json:"result,omitempty"` // of evaluate
	Navigated bool            `json:"navigated,omitempty"`
	URL       string          `json:"url,omitempty"`
}

// Aborted says why the rest of a batch was not done.
type Aborted struct {
	Reason      string `json:"reason"`
	AfterAction int    `json:"afterAction"` // how many were done
	URL         string `json:"url,omitempty"`
	Skipped     int    `json:"skipped"`
}

// Ref is one entry of a snapshot's map of refs.
type Ref struct {
	Role string `json:"role"`
	Name string `json:"name,omitempty"`
	Nth  *int   `json:"nth,omitempty"`
}

// Node is one node of a snapshot in the form aria.
type Node struct {
	Ref         string `json:"ref"`
	Role        string `json:"role"`
	Name        string `json:"name"`
	Value       string `json:"value,omitempty"`
	Description string `json:"description,omitempty"`
	Depth       int    `json:"depth"`
}

// Snapshot is the content of a page: a text with refs, or nodes in the form aria.
type Snapshot struct {
	Format          string         `json:"format"`
	TargetID        string         `json:"targetId"`
	URL             string         `json:"url"`
	Text            string         `json:"snapshot"`
	Refs            map[string]Ref `json:"refs,omitempty"`
	Stats           *Stats         `json:"stats,omitempty"`
	Nodes           []Node         `json:"nodes,omitempty"`
	Truncated       bool           `json:"truncated,omitempty"`
	NewElements     *int           `json:"newElements,omitempty"`
	ImagePath       string         `json:"imagePath,omitempty"` // on the server's machine
	BlockedByDialog bool           `json:"blockedByDialog,omitempty"`
	BrowserState    *BrowserState  `json:"browserState,omitempty"`
}

// Stats counts what a snapshot holds.
type Stats struct {
	Lines       int `json:"lines"`
	Chars       int `json:"chars"` // UTF-16 units
	Refs        int `json:"refs"`
	Interactive int `json:"interactive"`
}

// SavedFile is a file with an image or a document of a page, on the server's machine.
type SavedFile struct {
	Path     string `json:"path"`
	TargetID string `json:"targetId"`
	URL      string `json:"url"`
}
