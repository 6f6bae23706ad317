package client

import "encoding/json"

// These types hold what commands print of the answers.

// Tab is one tab of a browser.
type Tab struct {
	TabID                string `json:"tabId"` // t1, t2, …; never used again
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
	ID      string `json:"id"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// BrowserState is what stands in the way of a page.
type BrowserState struct {
	Dialogs struct {
		Pending []Dialog `json:"pending"`
	} `json:"dialogs"`
}

// Download is a file that the browser saved, on the server's machine.
type Download struct {
	Path string `json:"path"`
	Size int64  `json:"size"` // bytes
}

// Result is the answer to an action or a navigation.
type Result struct {
	URL     string          `json:"url,omitempty"`
	Value   json.RawMessage `json:"result,omitempty"`  // of evaluate
	Results []BatchEntry    `json:"results,omitempty"` // of batch
	Aborted *struct {
		Reason      string `json:"reason"`
		AfterAction int    `json:"afterAction"`
		Skipped     int    `json:"skipped"`
	} `json:"aborted,omitempty"` // why the rest of a batch was not done
	Download        *Download     `json:"download,omitempty"`
	Downloads       []Download    `json:"downloads,omitempty"`
	Notes           []string      `json:"notes,omitempty"`           // in sentences, what else happened
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"` // the action was left, not failed
	BrowserState    *BrowserState `json:"browserState,omitempty"`
	Refused         string        `json:"refused,omitempty"` // what the page lacks, such as a frame
}

// BatchEntry is the outcome of one action of a batch.
type BatchEntry struct {
	OK        bool            `json:"ok"`
	Error     string          `json:"error,omitempty"`
	Value     json.RawMessage `json:"result,omitempty"` // of evaluate
	Navigated bool            `json:"navigated,omitempty"`
	URL       string          `json:"url,omitempty"`
}

// Node is one node of a snapshot in the form aria.
type Node struct {
	Ref   string `json:"ref"`
	Role  string `json:"role"`
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Depth int    `json:"depth"`
}

// Snapshot is the content of a page: a text with refs, or nodes in the form aria.
type Snapshot struct {
	URL             string        `json:"url"`
	Text            string        `json:"snapshot"`
	Nodes           []Node        `json:"nodes,omitempty"`
	ImagePath       string        `json:"imagePath,omitempty"` // on the server's machine
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"`
	BrowserState    *BrowserState `json:"browserState,omitempty"`
}

// SavedFile is a file with an image or a document of a page, on the server's machine.
type SavedFile struct {
	Path string `json:"path"`
}
