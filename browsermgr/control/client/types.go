package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"clank/internal/untrusted"
)

// These types hold the parts of answers that commands print. Importing the types of the server's packages would link
// CDP and the browser code into every command.

// Tab is a tab of a browser.
type Tab struct {
	TabID                string `json:"tabId"` // t1, t2, …; never reused
	Label                string `json:"label,omitempty"`
	TargetID             string `json:"targetId"` // CDP target id
	Title                string `json:"title"`
	URL                  string `json:"url"`
	URLUnavailableReason string `json:"urlUnavailableReason,omitempty"`
	Type                 string `json:"type"`
}

// OpenedTab is a tab that was opened.
type OpenedTab struct {
	Tab

	Refused string   `json:"refused,omitempty"` // a refused part of the page, such as a frame
	Notes   []string `json:"notes,omitempty"`   // side effects, in sentences
}

// TabList holds the tabs of a profile; a browser that is not running has none.
type TabList struct {
	Running bool  `json:"running"`
	Tabs    []Tab `json:"tabs"`
}

// ProfileStatus is the state of a profile and its browser. Nil, empty and 0 mean unknown.
type ProfileStatus struct {
	Profile                string  `json:"profile"`
	Driver                 string  `json:"driver"`
	Transport              string  `json:"transport"`
	Running                bool    `json:"running"`
	PID                    *int    `json:"pid"`
	CDPPort                *int    `json:"cdpPort"`
	CDPURL                 *string `json:"cdpUrl"`
	ChosenBrowser          *string `json:"chosenBrowser"`
	DetectedBrowser        *string `json:"detectedBrowser"`
	DetectedExecutablePath *string `json:"detectedExecutablePath"`
	DetectError            *string `json:"detectError"`
	UserDataDir            *string `json:"userDataDir"`
	Color                  string  `json:"color"`
	Headless               bool    `json:"headless"`
	HeadlessSource         string  `json:"headlessSource"`
	MemoryMB               int     `json:"memoryMb,omitempty"` // of all its processes
	Guard                  struct {
		Mode     string `json:"mode"`
		Refusals uint64 `json:"refusals"`
		Note     string `json:"note,omitempty"`
	} `json:"guard"`
}

// Profile is an entry of the list of profiles.
type Profile struct {
	Name              string  `json:"name"`
	Transport         string  `json:"transport"`
	CDPPort           *int    `json:"cdpPort"`
	CDPURL            *string `json:"cdpUrl"`
	Color             string  `json:"color"`
	Running           bool    `json:"running"`
	Listening         bool    `json:"listening,omitempty"` // DevTools accepts connections at that port or address
	TabCount          int     `json:"tabCount"`
	IsDefault         bool    `json:"isDefault"`
	IsRemote          bool    `json:"isRemote"`
	MemoryMB          int     `json:"memoryMb,omitempty"` // of a browser that the server started
	MissingFromConfig bool    `json:"missingFromConfig,omitempty"`
	ReconcileReason   *string `json:"reconcileReason"` // why the running browser differs from the configuration
}

// Report is the result of the doctor's checks.
type Report struct {
	OK        bool    `json:"ok"` // no check failed
	Profile   string  `json:"profile"`
	Transport string  `json:"transport"`
	Checks    []Check `json:"checks"`
}

// Check is an entry of a [Report].
type Check struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Status  string `json:"status"` // pass, warn, fail or info
	Summary string `json:"summary"`
	FixHint string `json:"fixHint,omitempty"`
}

// Dialog is an open or closed alert, confirm, prompt or beforeunload dialog.
type Dialog struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// BrowserState holds the dialogs of a page.
type BrowserState struct {
	Dialogs struct {
		Pending []Dialog `json:"pending"`
	} `json:"dialogs"`
}

// Download is a file that the browser downloaded, on the server's machine.
type Download struct {
	Path              string `json:"path"` // empty while in progress and after an error
	Size              int64  `json:"size"` // in bytes
	SuggestedFilename string `json:"suggestedFilename"`
	InProgress        bool   `json:"inProgress"`
	Error             string `json:"error"`
}

// Result is the result of an action or navigation.
type Result struct {
	URL     string          `json:"url,omitempty"`
	Value   json.RawMessage `json:"result,omitempty"`  // of evaluate
	Results []BatchEntry    `json:"results,omitempty"` // of batch
	Aborted *struct {
		Reason      string `json:"reason"`
		AfterAction int    `json:"afterAction"`
		Skipped     int    `json:"skipped"`
	} `json:"aborted,omitempty"` // why the rest of a batch was not run
	Download        *Download     `json:"download,omitempty"`
	Downloads       []Download    `json:"downloads,omitempty"`
	Notes           []string      `json:"notes,omitempty"`           // side effects, in sentences
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"` // the action was left unfinished; it did not fail
	NotDone         bool          `json:"notDone,omitempty"`         // the dialog was open before: nothing was done
	BrowserState    *BrowserState `json:"browserState,omitempty"`
	Refused         string        `json:"refused,omitempty"` // a part of the page that was refused, such as a frame
}

// BatchEntry is the outcome of one action of a batch.
type BatchEntry struct {
	OK        bool            `json:"ok"`
	Error     string          `json:"error,omitempty"`
	Value     json.RawMessage `json:"result,omitempty"` // of evaluate
	Navigated bool            `json:"navigated,omitempty"`
	URL       string          `json:"url,omitempty"`
}

// Node is a node of a snapshot in aria format.
type Node struct {
	Ref   string `json:"ref"`
	Role  string `json:"role"`
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	Depth int    `json:"depth"`
}

// Snapshot is the content of a page: text with refs, or nodes in aria format.
type Snapshot struct {
	URL             string        `json:"url"`
	Text            string        `json:"snapshot"`
	Reason          string        `json:"reason,omitempty"` // why it is empty
	Nodes           []Node        `json:"nodes,omitempty"`
	ImagePath       string        `json:"imagePath,omitempty"` // on the server's machine
	BlockedByDialog bool          `json:"blockedByDialog,omitempty"`
	BrowserState    *BrowserState `json:"browserState,omitempty"`
}

// SavedFile is a file with an image or document of a page, on the server's machine.
type SavedFile struct {
	Path string `json:"path"`
}

// Errors of calls without a valid response.
var (
	// ErrNotListening is returned if no connection could be made because no server is running there.
	ErrNotListening = errors.New("no server listens")
	// ErrTimeout is returned if there was no response in time.
	ErrTimeout = errors.New("no answer")
	// ErrBroken is returned if the connection ended before the response did. The request may have been executed.
	ErrBroken = errors.New("the connection broke before the answer was complete")
	// ErrBadAnswer is returned if the response is not of the control API.
	ErrBadAnswer = errors.New("the answer cannot be read")
)

// Error is an error response of the server.
type Error struct {
	Status  int             // HTTP status
	Code    string          // stable code, such as ACT_INVALID_REQUEST; may be ""
	Reason  string          // stable reason, such as navigation_blocked; may be ""
	Message string          // for a person; never empty
	Details json.RawMessage // a JSON object, or nil
}

func (e *Error) Error() string { return e.Message }

// errorIn returns the error that a response reports, or nil.
func errorIn(status int, data []byte) *Error {
	var answer struct {
		OK      *bool           `json:"ok"`
		Error   string          `json:"error"`
		Code    string          `json:"code"`
		Reason  string          `json:"reason"`
		Details json.RawMessage `json:"details"`
	}
	known := json.Unmarshal(data, &answer) == nil
	failed := status < 200 || status > 299
	if !failed && (!known || answer.OK == nil || *answer.OK || answer.Error == "") {
		return nil
	}
	e := &Error{Status: status, Code: answer.Code, Reason: answer.Reason, Message: answer.Error, Details: answer.Details}
	switch {
	case e.Message != "":
	case status >= 300 && status <= 399:
		e.Message = fmt.Sprintf("the server answered %d and points elsewhere, which is not followed; name the address "+
			"itself with --url", status)
	case len(data) > 0:
		e.Message = excerpt(data)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the server answered %d %s and does not say why", status, http.StatusText(status))
	}
	return e
}

// badAnswer returns the error for an invalid response with a success status.
func badAnswer(status int, data []byte, err error) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: it is empty (%d)", ErrBadAnswer, status)
	}
	return fmt.Errorf("%w (%d, %d bytes): %w: %s", ErrBadAnswer, status, len(data), err, excerpt(data))
}

// excerpt returns the beginning of a text, on one line.
func excerpt(data []byte) string {
	const most = 200
	text := strings.Join(strings.FieldsFunc(string(data[:min(len(data), 4*most)]), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError
	}), " ")
	return untrusted.Shorten(text, most)
}
